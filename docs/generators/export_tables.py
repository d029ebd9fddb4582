# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What ``docs/export.md`` says of each format, from the table that a test tries cell by cell."""

from __future__ import annotations

from collections.abc import Mapping

from docs.generators.export_capabilities import COLUMNS, CONSTRAINTS, OTHERS
from docs.generators.markdown import code, heading, listing, table
from uk_dynamics.constraints.kinds.registry import kinds


def block() -> str:
    """What constraints, and what else, become in each format."""
    without = [name for name in kinds() if name not in (*CONSTRAINTS, "frame")]
    return "\n\n".join(
        [
            heading(3, "Constraints"),
            _table(CONSTRAINTS),
            f"No format has {listing(without)}.",
            heading(3, "Everything else"),
            _table(OTHERS),
        ]
    )


def _table(says: Mapping[str, Mapping[str, str]]) -> str:
    rows = (
        (_row(row), *(code(cells[to]) if to in cells else "–" for to in COLUMNS))
        for row, cells in says.items()
    )
    return table(("", *map(code, COLUMNS)), rows)


def _row(row: str) -> str:
    word, _, rest = row.partition(" ")
    return f"{code(word)} {rest}".strip() if "_" in word or word in kinds() else row
