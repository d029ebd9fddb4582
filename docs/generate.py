# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Writes the pages in ``docs/reference`` from schemas, parsers, docstrings, parameters and kinds.

Run it in the directory above:  python -m docs.generate    (a test compares pages and code)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from docs.generators import (
    api_page,
    command_page,
    export_tables,
    kind_tables,
    node_page,
    schema_pages,
)

REFERENCE = Path(__file__).resolve().parent / "reference"
PAGES: dict[str, Callable[[], str]] = {
    "mechanism_file": schema_pages.mechanism_page,
    "tasks_file": schema_pages.tasks_page,
    "sweep_file": schema_pages.sweep_page,
    "reality_file": schema_pages.reality_page,
    "commands": command_page.page,
    "nodes": node_page.page,
    "api": api_page.page,
}
# Parts of pages that are written by hand, between comments of this name.
BLOCKS: dict[str, tuple[str, Callable[[], str]]] = {
    "kinds": ("constraints", kind_tables.block),
    "formats": ("export", export_tables.block),
}
_NOTE = "<!-- Written by `python -m docs.generate`: change what it reads, not this page. -->\n\n"


def text(name: str) -> str:
    """A page as it has to be."""
    return _NOTE + PAGES[name]()


def with_block(name: str) -> tuple[Path, str]:
    """A page with one of its parts as it has to be."""
    page, write = BLOCKS[name]
    path = REFERENCE.parent / f"{page}.md"
    before, _, rest = path.read_text(encoding="utf-8").partition(f"<!-- {name} -->\n")
    after = rest.partition(f"<!-- /{name} -->")[2]
    return path, f"{before}<!-- {name} -->\n\n{write()}\n\n<!-- /{name} -->{after}"


def main() -> None:
    """Write all pages, and all parts of others."""
    REFERENCE.mkdir(exist_ok=True)
    for name in PAGES:
        (REFERENCE / f"{name}.md").write_text(text(name), encoding="utf-8")
    for name in BLOCKS:
        path, page = with_block(name)
        path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
