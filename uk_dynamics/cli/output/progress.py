"""Progress of long computations: a bar on a terminal, nothing in a pipe or a log."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Bar(Protocol):
    """A progress bar."""

    n: float

    def update(self, n: float = 1) -> object:
        """Add finished work."""

    def set_description_str(self, desc: str) -> None:
        """Set the text before the bar."""

    def set_postfix_str(self, s: str) -> None:
        """Set the text after the bar."""


@contextmanager
def progress_bar(total: float, unit: str, shape: str | None = None) -> Iterator[Bar]:
    """Show a progress bar."""
    from tqdm import tqdm

    with tqdm(
        total=total, unit=unit, file=sys.stderr, disable=None, leave=False, bar_format=shape
    ) as bar:
        yield bar
