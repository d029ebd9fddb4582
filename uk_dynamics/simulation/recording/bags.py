# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Recordings of ``ros2 bag``: MCAP, SQLite, or a directory of either."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from uk_dynamics.exceptions import InputError
from uk_dynamics.resources import optional_library
from uk_dynamics.simulation.recording.mcap_contents import schemas
from uk_dynamics.simulation.recording.mcap_writer import MISSING, McapReader, Message
from uk_dynamics.whole_file import require_regular

_ABOUT = "metadata.yaml"  # of a directory
_LARGEST = 10_000_000  # bytes of it
_SUFFIXES = (".mcap", ".db3")


def is_bag(path: Path) -> bool:
    """Whether a path names such a recording."""
    return path.suffix.lower() in _SUFFIXES or path.is_dir()


class BagReader:
    """Reads a recording, even a truncated one."""

    def __init__(self, path: Path) -> None:
        """Find the files; InputError: they are not there, or the library is not."""
        files = _files(path) if path.is_dir() else [path]
        for file in files:
            require_regular(file)
        self._readers = [
            (McapReader if file.suffix.lower() == ".mcap" else _SqliteReader)(file)
            for file in files
        ]
        self.notes: dict[str, dict[str, str]] = {}  # metadata by name, as far as read
        self.cut = False  # whether a file is truncated, as far as read

    def messages(self, *, decode: bool = True) -> Iterator[Message]:
        """All messages, in the order of the files, up to where they are truncated.

        Fields are decoded where asked for, of types that are known. Damaged files are refused.
        """
        for reader in self._readers:
            yield from reader.messages(decode=decode)
            self.notes |= reader.notes
            self.cut |= reader.cut


def _files(directory: Path) -> list[Path]:
    """The files of a directory, in the order of its description where it has one."""
    found = sorted(x for x in directory.iterdir() if x.suffix.lower() in _SUFFIXES)
    about = directory / _ABOUT
    if about.is_file() and about.stat().st_size < _LARGEST:
        try:
            data = yaml.safe_load(about.read_text(encoding="utf-8"))
            names = [str(x) for x in data["rosbag2_bagfile_information"]["relative_file_paths"]]
        except (yaml.YAMLError, UnicodeDecodeError, KeyError, TypeError):
            raise InputError("does not describe a bag", file=str(about)) from None
        listed = [directory / name for name in names]
        if any(x.suffix.lower() not in _SUFFIXES for x in listed):
            problem = "names compressed files; decompress them first: ros2 bag convert"
            raise InputError(problem, file=str(about))
        return listed
    if not found:
        raise InputError("is a directory without .mcap and .db3 files", file=str(directory))
    return found


class _SqliteReader:
    """Reads the file of a bag in SQLite, which Humble and older systems write."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise InputError("there is no such file", file=str(path))
        self._path = path
        self.notes: dict[str, dict[str, str]] = {}  # there are none
        self.cut = False

    def messages(self, *, decode: bool) -> Iterator[Message]:
        """See :meth:`BagReader.messages`."""
        address = f"file:{quote(str(self._path.absolute()))}?mode=ro"
        try:
            with closing(sqlite3.connect(address, uri=True)) as file:
                decoders = _decoders(file) if decode else {}
                for topic, type_, time, data in file.execute(
                    "SELECT topics.name, topics.type, messages.timestamp, messages.data FROM"
                    " messages JOIN topics ON messages.topic_id = topics.id"
                    " WHERE topics.serialization_format = 'cdr'"
                    " ORDER BY messages.timestamp, messages.id"
                ):
                    decoder = decoders.get(type_)
                    content = None if decoder is None else decoder(data)
                    yield Message(str(topic), str(type_), int(time), content, data)
        except sqlite3.Error as error:
            problem = f"is no whole recording of ros2 bag in SQLite: {error}"
            raise InputError(problem, file=str(self._path)) from None


def _decoders(file: sqlite3.Connection) -> dict[str, Callable[[bytes], Any]]:
    """Decoders by type: of the definitions in the file, and of the types that are known."""
    Schema = optional_library("mcap.records", MISSING).Schema
    DecoderFactory = optional_library("mcap_ros2.decoder", MISSING).DecoderFactory
    texts = dict(schemas())
    tables = {name for (name,) in file.execute("SELECT name FROM sqlite_master")}
    if "message_definitions" in tables:  # since Iron
        texts |= dict(
            file.execute(
                "SELECT topic_type, encoded_message_definition FROM message_definitions"
                " WHERE encoding = 'ros2msg'"
            )
        )
    factory = DecoderFactory()
    found = {}
    for number, (name, text) in enumerate(texts.items(), start=1):
        schema = Schema(id=number, name=name, encoding="ros2msg", data=str(text).encode())
        decoder = factory.decoder_for("cdr", schema)
        if decoder is not None:
            found[name] = decoder
    return found
