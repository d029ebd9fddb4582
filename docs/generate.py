"""Writes the pages in ``docs/reference`` from schemas, parsers and declared parameters.

Run it in the directory above:  python -m docs.generate    (a test compares pages and code)
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from docs.generators import api_page, command_page, node_page, schema_pages

REFERENCE = Path(__file__).resolve().parent / "reference"
PAGES: dict[str, Callable[[], str]] = {
    "mechanism_file": schema_pages.mechanism_page,
    "tasks_file": schema_pages.tasks_page,
    "sweep_file": schema_pages.sweep_page,
    "commands": command_page.page,
    "nodes": node_page.page,
    "api": api_page.page,
}
_NOTE = "<!-- Written by `python -m docs.generate`: change what it reads, not this page. -->\n\n"


def text(name: str) -> str:
    """A page as it has to be."""
    return _NOTE + PAGES[name]()


def main() -> None:
    """Write all pages."""
    REFERENCE.mkdir(exist_ok=True)
    for name in PAGES:
        (REFERENCE / f"{name}.md").write_text(text(name), encoding="utf-8")


if __name__ == "__main__":
    main()
