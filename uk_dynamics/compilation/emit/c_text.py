# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Text of C: files that are not generated, constants and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from uk_dynamics.compilation.emit.c_source import number

_C = Path(__file__).resolve().parent.parent / "c"


def part(name: str) -> str:
    """A file of C that is not generated, without its copyright statement."""
    _, _, text = (_C / name).read_text(encoding="utf-8").partition("\n")
    return text


def defines(values: Mapping[str, float]) -> list[str]:
    """Constants of Python under the same names in C, ``UK_`` before them."""
    return [
        f"#define UK_{name} {value if isinstance(value, int) else number(value)}"
        for name, value in values.items()
    ]


def table(kind: str, name: str, values: Iterable[Any]) -> str:
    """Constant numbers as an array of C; a zero where there are none."""
    texts = [number(x) if kind == "double" else str(int(x)) for x in values] or ["0"]
    return f"static const {kind} {name}[] = {{{', '.join(texts)}}};"


def lists(name: str, values: Sequence[Sequence[int]]) -> list[str]:
    """Lists of numbers one behind the other, and where each of them starts."""
    return [
        table("int", f"{name}_start", accumulate(map(len, values), initial=0)),
        table("int", name, [x for row in values for x in row]),
    ]
