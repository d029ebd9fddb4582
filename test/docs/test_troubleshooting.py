# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Errors quoted in the documentation are what the code says."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest
from support.repository import ROOT

pytestmark = pytest.mark.together("texts of the code")

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
# First cells of the tables whose first heading is "message".
TABLES = re.findall(r"^\| message .*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, flags=re.MULTILINE)
QUOTED = [text for table in TABLES for text in re.findall(r"^\| `(.+?)` \|", table, re.MULTILINE)]


def texts() -> Iterator[str]:
    """All texts in the code, with … for what is put into them."""
    for file in (ROOT / "uk_dynamics").rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.BinOp | ast.JoinedStr | ast.Constant):
                yield _text(node)


def _text(node: ast.AST) -> str:
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else "…"
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(value) for value in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return _text(node.left) + _text(node.right)
    return "…"


@pytest.fixture(scope="module")
def said() -> set[str]:
    """Fixed parts of each text, joined by a single …."""
    return {re.sub("…+", "…", text) for text in texts()}


def fits(quoted: str, text: str) -> bool:
    """Whether a text of the code is the quoted one, or a part of it that is no mere filling."""
    words = [part for part in text.split("…") if part]
    if sum(map(len, words)) < 0.5 * len(quoted.replace("…", "")):
        return False
    if quoted in text:
        return True
    if not all(part in quoted for part in words):  # the pattern in quick
        return False
    return re.fullmatch(".*".join(map(re.escape, text.split("…"))), quoted) is not None


def test_there_are_errors_to_look_at() -> None:
    assert len(QUOTED) > 20


@pytest.mark.slow
@pytest.mark.parametrize("quoted", QUOTED)
def test_the_code_says_it(quoted: str, said: set[str]) -> None:
    assert any(fits(quoted, text) for text in said)
