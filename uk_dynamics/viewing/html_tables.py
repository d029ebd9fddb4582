# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Tables of numbers as HTML; everything in them is escaped."""

from collections.abc import Iterable, Mapping
from html import escape

from uk_dynamics.colours import WARNING

_NUMBER = "text-align:right;white-space:nowrap;padding-left:0.6em"
_NAME = "overflow-wrap:anywhere"


def page(parts: Iterable[str]) -> str:
    """Tables and headings below each other."""
    return f'<div style="font-size:0.8em;padding:0 0.6em 0.4em">{"".join(parts)}</div>'


def table(rows: Iterable[tuple[str, ...]]) -> str:
    """A table of cells."""
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    style = "width:100%;border-spacing:0;font-variant-numeric:tabular-nums"
    return f'<table style="{style}">{body}</table>'


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """A table of names and numbers."""
    return table((name(text), number(value)) for text, value in rows)


def name(text: str) -> str:
    """A cell that may take several lines."""
    return f'<td class="name" style="{_NAME}">{escape(text)}</td>'


def number(text: str) -> str:
    """A cell that is as wide as its number."""
    return f'<td class="number" style="{_NUMBER}">{escape(text)}</td>'


def bar(part: float, colour: str) -> str:
    """A cell with a bar that is filled from 0 to 1."""
    width = f"{100.0 * min(max(part, 0.0), 1.0):.0f}%"
    return (
        '<td style="width:3.5em;padding-left:0.6em"><div style="height:0.7em;background:#ddd">'
        f'<div style="width:{width};height:100%;background:{colour}"></div></div></td>'
    )


def heading(text: str) -> str:
    """A line above a table."""
    return f'<div style="margin-top:0.5em;font-weight:bold">{escape(text)}</div>'


def note(text: str) -> str:
    """A line below a table."""
    return f"<div>{escape(text)}</div>"


def status(time: str, mode: str) -> str:
    """Time and mode."""
    return (
        '<div style="font-size:0.85em;padding:0.2em 0.8em;font-variant-numeric:tabular-nums">'
        f"<b>{escape(time)}</b> · {escape(mode)}</div>"
    )


def warning(text: str) -> str:
    """A line that the user should not overlook."""
    style = "font-size:0.85em;margin:0.2em 0.8em;padding-left:0.5em;overflow-wrap:anywhere"
    return f'<div style="{style};border-left:4px solid {WARNING}">⚠ {escape(text)}</div>'


def legend(colours: Mapping[str, tuple[int, int, int]]) -> str:
    """Names with their colours, in one line."""
    shown = "".join(
        f'<span style="margin-right:1em"><span style="color:rgb{colour}">■</span>'
        f" {escape(text)}</span>"
        for text, colour in colours.items()
    )
    return f'<div style="font-size:0.8em;padding:0.2em 0.8em">{shown}</div>'
