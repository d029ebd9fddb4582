# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Recordings of ``ros2 bag``: MCAP, SQLite, or a directory of either; MCAP is written as well.

MCAP files are written safely against crashes, and read even if truncated.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import yaml

from uk_dynamics.exceptions import InputError
from uk_dynamics.resources import optional_library
from uk_dynamics.simulation.recording.mcap_contents import schemas
from uk_dynamics.whole_file import require_regular

UNFINISHED = "uk_dynamics.unfinished"  # metadata of a recording that was not finished
# Data reach the file a chunk at a time: a crash loses at most this much, in bytes.
CHUNK = 16384
_MAGIC = 8  # bytes at the start
MISSING = (
    "recordings in MCAP need mcap-ros2-support; install it (pip install mcap-ros2-support, or"
    ' ".[record]" of the sources), or use .npz'
)


@dataclass(frozen=True)
class Message:
    """One recorded message."""

    topic: str
    type: str  # its type, such as ``sensor_msgs/msg/JointState``
    time: int  # when it was logged, in ns
    content: Any  # its fields as attributes; None if it was not decoded
    data: bytes  # serialised (CDR)


class GrowingFile:
    """File object for the MCAP writer; each write is followed by a provisional footer.

    Readers such as ``rosbags`` refuse a file without footer. The next write overwrites the
    provisional footer, in the same system call that appends the next one; pipes have none.
    """

    def __init__(self, path: Path) -> None:
        """Create the file; InputError: it cannot be written."""
        try:
            self._file = path.open("wb", buffering=0)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from None
        self._seekable = self._file.seekable()
        self._footer = _provisional_footer() if self._seekable else b""
        self._size = 0

    def write(self, data: bytes) -> int:
        """Append data, which then survive a crash of the program."""
        rest = memoryview(bytes(data) + self._footer)
        while rest:
            rest = rest[self._file.write(rest) or 0 :]
        self._size += len(data)
        if self._seekable:
            self._file.seek(self._size)
        return len(data)

    def tell(self) -> int:
        """Bytes written, without the provisional footer."""
        return self._size

    def flush(self) -> None:
        """Do nothing: writes are unbuffered."""

    def close(self, *, finished: bool) -> None:
        """Close the file; unless its real footer was written, the provisional one stays."""
        if finished and self._seekable:
            self._file.truncate(self._size)
        self._file.close()


def _provisional_footer() -> bytes:
    """A metadata mark, the end of data and a footer without summary."""
    from mcap.data_stream import RecordBuilder
    from mcap.records import DataEnd, Footer, Metadata
    from mcap.writer import MCAP0_MAGIC

    records: Any = RecordBuilder()
    Metadata(name=UNFINISHED, metadata={}).write(records)
    DataEnd(data_section_crc=0).write(records)
    Footer(summary_start=0, summary_offset_start=0, summary_crc=0).write(records)
    return bytes(records.end()) + MCAP0_MAGIC


class McapWriter:
    """Writes messages given as nested mappings; to be closed, as by ``contextlib.closing``."""

    def __init__(self, path: Path) -> None:
        library = optional_library("mcap_ros2.writer", MISSING, path)
        self._file = GrowingFile(path)
        self._writing = False
        self._writer: Any = library.Writer(self._file, chunk_size=CHUNK)
        self._schemas: dict[str, Any] = {}

    def close(self) -> None:
        """Finish the file; after an interrupted write it is valid up to the last chunk."""
        finished = False
        try:
            if not self._writing:
                self._writer.finish()
                finished = True
        finally:
            self._file.close(finished=finished)

    def note(self, name: str, values: Mapping[str, str]) -> None:
        """Write a metadata record."""
        self._writer.add_metadata(name, dict(values))

    def write(self, topic: str, type_: str, content: Mapping[str, Any], time: int) -> None:
        """Write a message."""
        self._writing = True  # remains set if Ctrl-C or a full disk interrupts the record
        if type_ not in self._schemas:
            self._schemas[type_] = self._writer.register_msgdef(type_, schemas()[type_])
        self._writer.write_message(topic, self._schemas[type_], content, time, time)
        self._writing = False


class McapReader:
    """Reads a recording, even a truncated one."""

    def __init__(self, path: Path) -> None:
        """Check that the file exists and can be decoded; InputError: it does not, or cannot."""
        for name in ("mcap.stream_reader", "mcap_ros2.decoder"):
            optional_library(name, MISSING, path)
        if not path.is_file():
            raise InputError("there is no such file", file=str(path))
        self._path = path
        self.notes: dict[str, dict[str, str]] = {}  # metadata by name, as far as read
        self.cut = False  # whether the file is truncated, as far as read

    def messages(self, *, decode: bool = True) -> Iterator[Message]:
        """All messages, decoded or not, in the order of the file, up to where it is truncated."""
        from mcap.records import Channel, DataEnd, Metadata, Schema
        from mcap.records import Message as Record
        from mcap_ros2.decoder import DecoderFactory

        schemas: dict[int, Any] = {}
        channels: dict[int, Any] = {}
        decoders: dict[int, Any] = {}
        factory = DecoderFactory()
        self.cut = True
        for record in self._records():
            if isinstance(record, Schema):
                schemas[record.id] = record
            elif isinstance(record, Channel):
                channels[record.id] = record
            elif isinstance(record, Metadata):
                self.notes[record.name] = dict(record.metadata)
            elif isinstance(record, DataEnd):
                self.cut = UNFINISHED in self.notes
            elif isinstance(record, Record):
                channel = channels.get(record.channel_id)
                schema = schemas.get(channel.schema_id) if channel else None
                if channel is None or schema is None:
                    problem = "is damaged: a message has no channel or type"
                    raise InputError(problem, file=str(self._path))
                content = None
                if decode:
                    if schema.id not in decoders:
                        try:
                            decoders[schema.id] = factory.decoder_for("cdr", schema)
                        except Exception as error:  # noqa: BLE001 of its parser, of many kinds
                            problem = f"is damaged: {schema.name!a:.80} is no type: {error!a:.80}"
                            raise InputError(problem, file=str(self._path)) from None
                    content = decoders[schema.id](record.data)
                yield Message(channel.topic, schema.name, record.log_time, content, record.data)

    def _records(self) -> Iterator[Any]:
        """Records up to the end, or to where the file is truncated."""
        from mcap.exceptions import InvalidMagic
        from mcap.stream_reader import StreamReader

        with self._path.open("rb") as file:
            try:
                yield from StreamReader(file).records
            except InvalidMagic:
                if file.tell() <= _MAGIC:
                    raise InputError("is not an MCAP recording", file=str(self._path)) from None
            except Exception:  # noqa: BLE001 truncated: errors of mcap, zstandard or struct
                return


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
