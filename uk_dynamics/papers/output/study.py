"""What the study of a paper consists of: tables, figures, findings, bounds."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Cell = str | int | float | None

_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Table:
    """Published and measured numbers side by side.

    Attributes:
        title: What the table shows.
        columns: Headings, each with the unit of what stands below it.
        rows: Cells, row by row; numbers keep their full precision in files and are shown with
            four digits; None where there is nothing to say.
        note: What a reader must know besides, such as what was chosen.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""

    def __post_init__(self) -> None:
        for row in self.rows:
            if len(row) != len(self.columns):
                raise ValueError(f"{self.title}: {len(self.columns)} columns, but the row {row}")


@dataclass(frozen=True)
class Figure:
    """A picture that is drawn when it is wanted.

    Attributes:
        name: Name of its file, such as ``torques``.
        title: What it shows, as a caption says it.
        draw: Draws into the ``matplotlib.figure.Figure`` it is given; every axis has its unit.
    """

    name: str
    title: str
    draw: Callable[[Any], None]

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.name):
            raise ValueError(f'"{self.name}" is no file name of a figure')


@dataclass(frozen=True)
class Bound:
    """A number that must not exceed another one, such as the distance to a closed form.

    Attributes:
        claim: What is bounded, with its unit.
        measured: The number found.
        limit: The largest that is accepted.
    """

    claim: str
    measured: float
    limit: float

    @property
    def holds(self) -> bool:
        """Whether it does; a number that is none does not."""
        return self.measured <= self.limit


@dataclass(frozen=True)
class Study:
    """A paper's study, redone.

    Attributes:
        paper: Name in the registry, such as ``servo``.
        title: Authors, title and year of the paper.
        tables: Published and measured numbers.
        figures: Pictures, with names of their own.
        findings: Where we agree with the paper, where not, and why; a sentence or a few each.
        bounds: What must hold; ``uk_dynamics reproduce`` fails when one does not.
    """

    paper: str
    title: str
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    findings: tuple[str, ...]
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
