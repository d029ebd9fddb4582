"""Plain text tables of labels and values."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

_WIDTH = 100


def table(rows: Iterable[tuple[str, str]], indent: int = 2) -> str:
    """Aligned pairs of label and value; long values are wrapped."""
    pairs = list(rows)
    left = max((len(label) for label, _ in pairs), default=0)
    lines = []
    for label, value in pairs:
        start = f"{'':{indent}}{label:{left}}  "
        wrapped = textwrap.wrap(value, _WIDTH - len(start), break_on_hyphens=False) or [""]
        lines.append((start + wrapped[0]).rstrip())
        lines += [f"{'':{len(start)}}{line}" for line in wrapped[1:]]
    return "\n".join(lines)
