# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the study of a paper consists of: tables, figures, findings, bounds; and its progress."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

Cell = str | int | float | None

_NAME = re.compile(r"[a-z][a-z0-9_]*")


_listener: ContextVar[Callable[[], object] | None] = ContextVar("listener", default=None)


@dataclass(frozen=True)
class Table:
    """Published and measured numbers side by side."""

    title: str  # what the table shows
    columns: Sequence[str]  # headings, each with the unit of what stands below it
    # cells, row by row; numbers keep their full precision in files and are shown with four digits;
    # none where there is nothing to say
    rows: Sequence[Sequence[Cell]]
    note: str = ""  # further information, such as parameters that were chosen

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.title}: {len(self.columns)} columns, but the row {row}")


@dataclass(frozen=True)
class Figure:
    """A picture that is drawn on demand."""

    name: str  # name of its file, such as ``torques``
    title: str
    # draws into the ``matplotlib.figure.Figure`` it is given; every axis has its unit
    draw: Callable[[Any], None]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f'"{self.name}" is no file name of a figure')


@dataclass(frozen=True)
class Bound:
    """A number that must not exceed another one, such as the distance to a closed form."""

    claim: str
    measured: float  # the number found
    limit: float  # the largest that is accepted

    @property
    def holds(self) -> bool:
        """Whether it does; a number that is none does not."""
        return self.measured <= self.limit


@dataclass(frozen=True)
class Study:
    """A paper's study, redone."""

    paper: str  # name in the registry, such as ``servo``
    title: str  # authors, title and year of the paper
    tables: tuple[Table, ...]  # published and measured numbers
    figures: tuple[Figure, ...]  # pictures, with names of their own
    # where we agree with the paper, where not, and why; a sentence or a few each
    findings: tuple[str, ...]
    # what must hold; ``uk_dynamics reproduce`` fails when one does not
    bounds: tuple[Bound, ...] = ()

    def __post_init__(self) -> None:
        for names in (
            [figure.name for figure in self.figures],
            [table.title for table in self.tables],
        ):
            if len(set(names)) != len(names):
                raise ValueError(f"{self.paper}: a name occurs twice among {names}")

    @property
    def all_tables(self) -> tuple[Table, ...]:
        """The tables, and the bounds as one more."""
        if not self.bounds:
            return self.tables
        rows = [
            (bound.claim, bound.measured, bound.limit, "yes" if bound.holds else "NO")
            for bound in self.bounds
        ]
        return (
            *self.tables,
            Table("What must hold", ("what", "measured", "at most", "holds"), rows),
        )


def joined(paper: str, title: str, parts: Iterable[Study]) -> Study:
    """One study of several parts, in their order; a paper may have several examples."""
    studies = tuple(parts)
    return Study(
        paper=paper,
        title=title,
        tables=tuple(table for part in studies for table in part.tables),
        figures=tuple(figure for part in studies for figure in part.figures),
        findings=tuple(finding for part in studies for finding in part.findings),
        bounds=tuple(bound for part in studies for bound in part.bounds),
    )


@contextmanager
def heard(listener: Callable[[], object]) -> Iterator[None]:
    """Call a function after every step of the studies redone meanwhile."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def step_done() -> None:
    """Say that one of many steps is done."""
    listener = _listener.get()
    if listener is not None:
        listener()
