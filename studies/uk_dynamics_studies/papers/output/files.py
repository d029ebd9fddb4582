# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A study as text for a terminal, and as files: pictures, CSV tables, a page in Markdown."""

from __future__ import annotations

import csv
import re
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from uk_dynamics.colours import COLOURS
from uk_dynamics.exceptions import InputError
from uk_dynamics.whole_file import whole_file
from uk_dynamics_studies.papers.output.study import Cell, Figure, Study, Table

_WIDTH = 100

_DPI = 90


def shown(cell: Cell) -> str:
    """A cell as people read it: four digits, a dash where there is nothing to say."""
    if cell is None:
        return "–"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell + 0.0:.4g}"  # + 0.0 turns -0 into 0
    return str(cell)


def file_name(title: str) -> str:
    """A title as the name of a file, without suffix."""
    return re.sub(r"[^a-z0-9]+", "_", title.lower()).strip("_")


def text(study: Study) -> str:
    """A study for a terminal."""
    parts = [study.title, *map(_text_table, study.all_tables)]
    if study.findings:
        wrapped = [
            textwrap.fill(finding, _WIDTH, initial_indent="- ", subsequent_indent="  ")
            for finding in study.findings
        ]
        parts.append("Findings\n" + "\n".join(wrapped))
    return "\n\n".join(parts)


def _text_table(table: Table) -> str:
    cells = [[shown(cell) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(table.columns))]
    lines = [
        "  "
        + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    lines.insert(1, "  " + "  ".join("-" * width for width in widths))
    note = [textwrap.fill(table.note, _WIDTH, initial_indent="  ", subsequent_indent="  ")]
    return "\n".join([table.title, *lines, *(note if table.note else [])])


def markdown(study: Study, pictures: str, command: str) -> str:
    """A study as a page."""
    parts = [f"# {study.title}", f"*Made by `{command}`; numbers as measured.*"]
    if study.findings:
        parts += ["## Findings", "\n".join(f"- {finding}" for finding in study.findings)]
    parts.append("## Numbers")
    for table in study.all_tables:
        parts += [f"### {table.title}", _markdown_table(table)]
        if table.note:
            parts.append(table.note)
    if study.figures:
        parts.append("## Figures")
        parts += [
            f"![{figure.title}]({pictures}/{figure.name}.png)\n\n*{figure.title}*"
            for figure in study.figures
        ]
    return "\n\n".join(parts) + "\n"


def _markdown_table(table: Table) -> str:
    rows = [[_escaped(shown(cell)) for cell in row] for row in (table.columns, *table.rows)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, f"|{'---|' * len(table.columns)}")
    return "\n".join(lines)


def _escaped(cell: str) -> str:
    return cell.replace("|", "\\|").replace("\n", " ")


def write_results(study: Study, directory: Path) -> list[Path]:
    """Write pictures and tables below ``directory/<paper>``.

    Returns:
        The files written.

    Raises:
        InputError: A file cannot be written, or Matplotlib is missing.
    """
    home = _directory(directory / study.paper)
    tables = [_write_table(table, home) for table in study.all_tables]
    return tables + [_draw(figure, home) for figure in study.figures]


def write_page(study: Study, directory: Path, command: str) -> list[Path]:
    """Write ``directory/<paper>.md`` and its pictures below ``directory/<paper>``.

    Returns:
        The files written.

    Raises:
        InputError: As :func:`write_results`.
    """
    home = _directory(directory / study.paper)
    page = directory / f"{study.paper}.md"
    with _written(page) as temporary:
        temporary.write_text(markdown(study, study.paper, command), encoding="utf-8")
    return [page, *(_draw(figure, home) for figure in study.figures)]


def _directory(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", file=str(path)) from None
    return path


@contextmanager
def _written(path: Path) -> Iterator[Path]:
    try:
        with whole_file(path) as temporary:
            yield temporary
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from None


def _write_table(table: Table, home: Path) -> Path:
    """Numbers in full precision, headings in the first line."""
    path = home / f"{file_name(table.title)}.csv"
    with _written(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows((table.columns, *table.rows))
    return path


def _draw(figure: Figure, home: Path) -> Path:
    path = home / f"{figure.name}.png"
    try:
        from matplotlib import rc_context
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure as Canvas
    except ImportError:
        raise InputError(
            "pictures need matplotlib; install it (pip install matplotlib, apt install "
            "python3-matplotlib)",
            file=str(path),
        ) from None
    canvas = Canvas(layout="constrained")
    FigureCanvasAgg(canvas)
    with rc_context({"axes.prop_cycle": f"cycler('color', {list(COLOURS)})"}):
        figure.draw(canvas)
    with _written(path) as temporary:
        canvas.savefig(temporary, dpi=_DPI, bbox_inches="tight", pil_kwargs={"optimize": True})
    return path
