"""A study as files: a picture per figure, a CSV file per table, a page in Markdown."""

from __future__ import annotations

import csv
from pathlib import Path

from uk_dynamics.exceptions import InputError
from uk_dynamics.papers.output.page import file_name, markdown
from uk_dynamics.papers.output.study import Figure, Study, Table
from uk_dynamics.simulation.plots.curves import COLOURS
from uk_dynamics.whole_file import whole_file

_DPI = 90


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

    Args:
        study: What the page shows.
        directory: Where, such as ``docs/papers``.
        command: What makes this page again.

    Returns:
        The files written.

    Raises:
        InputError: As :func:`write_results`.
    """
    home = _directory(directory / study.paper)
    page = directory / f"{study.paper}.md"
    try:
        with whole_file(page) as temporary:
            temporary.write_text(markdown(study, study.paper, command), encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(page)) from None
    return [page, *(_draw(figure, home) for figure in study.figures)]


def _directory(path: Path) -> Path:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", file=str(path)) from None
    return path


def _write_table(table: Table, home: Path) -> Path:
    """Numbers in full precision, headings in the first line."""
    path = home / f"{file_name(table.title)}.csv"
    try:
        with (
            whole_file(path) as temporary,
            temporary.open("w", newline="", encoding="utf-8") as file,
        ):
            writer = csv.writer(file)
            writer.writerow(table.columns)
            writer.writerows(table.rows)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from None
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
    try:
        with whole_file(path) as temporary:
            canvas.savefig(temporary, dpi=_DPI, bbox_inches="tight", pil_kwargs={"optimize": True})
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from None
    return path
