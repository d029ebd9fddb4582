# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The blocks of the documentation's pages, and what the comments above them say.

A block of code is run, a file is read; what ``ros2`` starts is looked for. A comment right above a
block may say otherwise:

    <!-- not run: REASON -->            nobody can run this here
    <!-- needs: MODULE -->              it is run where this module is installed
    <!-- file: NAME -->                 the block is a file of this name for the blocks after it
    <!-- file: NAME = MECHANISM -->     so is a shipped mechanism, for the block below
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from support.repository import DOCS

PAGES = sorted(page for page in DOCS.rglob("*.md") if page.parent.name != "reference")

_BLOCK = re.compile(
    r"((?:^<!--[^\n]*-->\n+)*)^```(\w*)\n(.*?)^```$", flags=re.MULTILINE | re.DOTALL
)
_COMMENT = re.compile(r"<!-- (not run|needs|file): (.*?) -->")


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        language: What stands behind the fence.
        text: Its lines.
        comments: Pairs of ``not run``, ``needs`` or ``file`` and what is said.
    """

    language: str
    text: str
    comments: tuple[tuple[str, str], ...]

    @property
    def not_run(self) -> str:
        """Why it is not run; empty where it is."""
        return next((said for kind, said in self.comments if kind == "not run"), "")

    @property
    def needs(self) -> list[str]:
        """Modules without which it is not run."""
        return [said for kind, said in self.comments if kind == "needs"]

    @property
    def files(self) -> Iterator[tuple[str, str]]:
        """Names of files, and the shipped mechanisms that they are; empty: this block."""
        for kind, said in self.comments:
            if kind == "file":
                name, _, shipped = said.partition(" = ")
                yield name, shipped

    @property
    def commands(self) -> list[str]:
        """Lines of a shell, joined where they go on, without comments."""
        joined = self.text.replace("\\\n", " ")
        lines = (re.sub(r"(^|\s)#.*", "", line).strip() for line in joined.splitlines())
        return [line for line in lines if line]


def blocks(page: Path) -> list[Block]:
    """All blocks of a page."""
    return [
        Block(language, text, tuple(_COMMENT.findall(above)))
        for above, language, text in _BLOCK.findall(page.read_text(encoding="utf-8"))
    ]


def name(page: Path) -> str:
    """A page's path without suffix, as tests are called."""
    return str(page.relative_to(DOCS).with_suffix(""))
