"""An MCAP file that is valid at any time while it grows, whatever ends the program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from uk_dynamics.exceptions import InputError

UNFINISHED = "uk_dynamics.unfinished"  # metadata of a recording whose writer never ended it


class GrowingFile:
    """What the writer of MCAP needs of a file, each write followed by a provisional end.

    Readers such as ``rosbags`` refuse a file without footer. The next write takes the place of the
    provisional one, in the same system call that appends the next; pipes go without.
    """

    def __init__(self, path: Path) -> None:
        """Create the file.

        Raises:
            InputError: It cannot be written.
        """
        try:
            self._file = path.open("wb", buffering=0)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from None
        self._seekable = self._file.seekable()
        self._end = _provisional_end() if self._seekable else b""
        self._size = 0

    def write(self, data: bytes) -> int:
        """Append data; when it returns they outlive a crash of the program."""
        rest = memoryview(bytes(data) + self._end)
        while rest:
            rest = rest[self._file.write(rest) or 0 :]
        self._size += len(data)
        if self._seekable:
            self._file.seek(self._size)
        return len(data)

    def tell(self) -> int:
        """Bytes written, without the provisional end."""
        return self._size

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self, *, finished: bool) -> None:
        """Close the file.

        Args:
            finished: Whether its real end was written; otherwise the provisional one stays.
        """
        if finished and self._seekable:
            self._file.truncate(self._size)
        self._file.close()


def _provisional_end() -> bytes:
    """A mark, the end of data and a footer that knows of no summary."""
    from mcap.data_stream import RecordBuilder
    from mcap.records import DataEnd, Footer, Metadata
    from mcap.writer import MCAP0_MAGIC

    records: Any = RecordBuilder()
    Metadata(name=UNFINISHED, metadata={}).write(records)
    DataEnd(data_section_crc=0).write(records)
    Footer(summary_start=0, summary_offset_start=0, summary_crc=0).write(records)
    return bytes(records.end()) + MCAP0_MAGIC
