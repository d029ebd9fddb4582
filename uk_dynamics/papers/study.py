"""What the study of a paper consists of: tables, figures and findings."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

Cell = str | int | float | None

_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True)
class Table:
    """Numbers side by side, published ones beside measured ones.

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
class Study:
    """A paper's study, redone.

    Attributes:
        paper: Name in the registry, such as ``servo``.
        title: Authors, title and year of the paper.
        tables: Published beside measured.
        figures: Pictures, with names of their own.
        findings: Where we agree with the paper, where not, and why; a sentence or a few each.
    """

    paper: str
    title: str
    tables: tuple[Table, ...]
    figures: tuple[Figure, ...]
    findings: tuple[str, ...]

    def __post_init__(self) -> None:
        names = [figure.name for figure in self.figures]
        if len(set(names)) != len(names):
            raise ValueError(f"{self.paper}: two figures of one name among {names}")
