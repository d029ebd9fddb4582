"""A table that grows while a mechanism moves; on a terminal its last line is updated."""

from __future__ import annotations

import sys
from typing import TextIO

from uk_dynamics.ros.demo.motion_observer import Glance

# Title, width, attribute of a glance, format.
_COLUMNS = (
    ("t [s]", 7, "time", ".2f"),
    ("states/s", 9, "state_rate", ".0f"),
    ("commands/s", 11, "command_rate", ".0f"),
    ("solutions/s", 12, "solution_rate", ".0f"),
    ("residual", 10, "residual", ".1e"),
    ("energy [J]", 11, "energy", ".3f"),
    ("tracking error", 15, "tracking_error", ".2e"),
    ("rank", 5, "rank", ""),
    ("status", 14, "status", ""),
)


class LiveTable:
    """Writes a line per second; on a terminal the last line is rewritten meanwhile."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream or sys.stdout
        self._is_terminal = self._stream.isatty()
        self._pending = False

    def start(self) -> None:
        """Write the column titles."""
        head = " ".join(title.rjust(width) for title, width, _, _ in _COLUMNS)
        self._write(f"{head}\n")

    def show(self, glance: Glance, *, keep: bool) -> None:
        """Show a line.

        Args:
            glance: Values of the line.
            keep: Whether it stays; other lines are shown on terminals only.
        """
        if not (keep or self._is_terminal):
            return
        cells = (f"{getattr(glance, name):{form}}".rjust(w) for _, w, name, form in _COLUMNS)
        line = " ".join(cells)
        self._write(f"\r{line}" if self._is_terminal else line)
        self._pending = not keep
        if keep:
            self._write("\n")

    def end(self) -> None:
        """Leave the last line as it is."""
        if self._pending:
            self._write("\n")
            self._pending = False

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()
