"""An MCAP file that is valid at any time while it grows, even if the program crashes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from uk_dynamics.exceptions import InputError

UNFINISHED = "uk_dynamics.unfinished"  # metadata of a recording that was not finished


class GrowingFile:
    """File object for the MCAP writer; each write is followed by a provisional footer.

    Readers such as ``rosbags`` refuse a file without footer. The next write overwrites the
    provisional footer, in the same system call that appends the next one; pipes have none.
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
        """Close the file.

        Args:
            finished: Whether the real footer was written; otherwise the provisional one stays.
        """
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
