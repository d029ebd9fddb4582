# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""MCAP files with ROS 2 messages: written safely against crashes, read even if truncated."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from uk_dynamics.exceptions import InputError
from uk_dynamics.resources import optional_library
from uk_dynamics.simulation.recording.mcap_contents import schemas

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
