"""A study as text: tables for a terminal, a page in Markdown, values for a file."""

from __future__ import annotations

import re
import textwrap

from uk_dynamics.papers.output.study import Cell, Study, Table

_WIDTH = 100


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
