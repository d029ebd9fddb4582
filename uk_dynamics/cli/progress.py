"""Progress of long work: a bar on a terminal, nothing in a pipe or a log."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol


class Bar(Protocol):
    """What a command does with its bar."""

    def update(self, n: float = 1) -> object:
        """So much more is done."""

    def set_description_str(self, desc: str) -> None:
        """Say what is being done."""

    def set_postfix_str(self, s: str) -> None:
        """Say what there is to know besides."""


@contextmanager
def progress_bar(total: float, unit: str) -> Iterator[Bar]:
    """Show how much of the work is done, while it lasts.

    Args:
        total: All of it.
        unit: What is counted.
    """
    from tqdm import tqdm

    with tqdm(total=total, unit=unit, file=sys.stderr, disable=None, leave=False) as bar:
        yield bar
