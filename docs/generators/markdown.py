# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Markdown as GitHub and Sphinx both read it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable


def heading(level: int, text: str) -> str:
    """A heading."""
    return f"{'#' * level} {text}"


def code(value: object) -> str:
    """A name or a value as it is written in a file."""
    text = value if isinstance(value, str) else json.dumps(value)
    return f"`{text}`"


def plain(text: str) -> str:
    """A text in which nothing is taken for HTML or emphasis."""
    return re.sub(r"([<*_])", r"\\\1", text)


def listing(values: Iterable[object]) -> str:
    """Names or values, one after the other."""
    return ", ".join(code(value) for value in values)


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table; a bar within a cell does not end it."""
    names = list(head)
    lines = [names, ["---"] * len(names)]
    lines += [[cell.replace("|", "\\|").replace("\n", " ") for cell in row] for row in rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
