# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The parts of the README and of the pages that tests hold against the code."""

from __future__ import annotations

import re

from support.repository import ROOT

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")


def code_blocks(language: str) -> list[str]:
    """All fenced blocks of a language in the README."""
    return re.findall(rf"^```{language}\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)


def table(name: str) -> list[tuple[str, ...]]:
    """Rows between ``<!-- name -->`` and ``<!-- /name -->`` in ``docs/<name>.md``, without head."""
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    section = text.split(f"<!-- {name} -->")[1].split(f"<!-- /{name} -->")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [
        tuple(cell.strip().strip("`") for cell in line.strip("|").split("|")) for line in lines[2:]
    ]
