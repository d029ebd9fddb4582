"""A table that grows while a mechanism moves; on a terminal its last line is updated."""

from __future__ import annotations

import sys
from typing import TextIO

from uk_dynamics.ros.motion_observer import Glance

_COLUMNS = (
    ("t [s]", 7),
    ("states/s", 9),
    ("commands/s", 11),
    ("solutions/s", 12),
    ("residual", 10),
    ("energy [J]", 11),
    ("tracking error", 15),
    ("rank", 5),
    ("status", 14),
)


class LiveTable:
    """Writes a line per second; on a terminal the last line is rewritten meanwhile."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._is_terminal = self._stream.isatty()
        self._pending = False

    def start(self) -> None:
        """Write the column titles."""
        head = " ".join(title.rjust(width) for title, width in _COLUMNS)
        self._write(f"{head}\n")

    def show(self, glance: Glance, *, keep: bool) -> None:
        """Show a line.

        Args:
            glance: Values of the line.
            keep: Whether it stays; other lines are shown on terminals only.
        """
        if not (keep or self._is_terminal):
            return
        line = self._line(glance)
        self._write(f"\r{line}" if self._is_terminal else line)
        self._pending = not keep
        if keep:
            self._write("\n")

    def end(self) -> None:
        """Leave the last line as it is."""
        if self._pending:
            self._write("\n")
            self._pending = False

    def _line(self, glance: Glance) -> str:
        cells = (
            f"{glance.time:.2f}",
            f"{glance.state_rate:.0f}",
            f"{glance.command_rate:.0f}",
            f"{glance.solution_rate:.0f}",
            f"{glance.residual:.1e}",
            f"{glance.energy:.3f}",
            f"{glance.tracking_error:.2e}",
            f"{glance.rank}",
            glance.status,
        )
        return " ".join(c.rjust(width) for c, (_, width) in zip(cells, _COLUMNS, strict=True))

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
