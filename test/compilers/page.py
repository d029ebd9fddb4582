# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The table of ``docs/compiled.md``, as it was measured."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from compilers import cells
from compilers.verdict import Verdict

PAGE = Path(__file__).parents[2] / "docs" / "compiled.md"
_BEGIN, _END = "<!-- compilers -->\n", "<!-- /compilers -->"


def write(found: Sequence[Verdict], others: Mapping[str, str]) -> None:
    """Put the table where the page has it."""
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(_BEGIN)
    after = rest.partition(_END)[2]
    PAGE.write_text(f"{before}{_BEGIN}\n{block(found, others)}\n\n{_END}{after}", encoding="utf-8")


def block(found: Sequence[Verdict], others: Mapping[str, str]) -> str:
    """A row for each compiler, a column for each processor."""
    columns = list(cells.processors())
    lines = ["| | " + " | ".join(f"`{name}`" for name in columns) + " |"]
    lines.append("|---" * (len(columns) + 1) + "|")
    for compiler in dict.fromkeys(one.cc.split()[0] for one in found):
        row = [f"{compiler} ({cells.version(compiler)})"]
        for column in columns:
            pattern = rf"{re.escape(compiler)} .*-march={re.escape(column)}( |$)"
            row.append(_cell([one for one in found if re.match(pattern, one.cc)]))
        lines.append("| " + " | ".join(row) + " |")
    day = dt.date.today().isoformat()
    ran = sum(one.ran for one in found)
    lines += [
        "",
        f"Measured on {day}, {cells.processor_name()}: {len(found)} calls of compilers, of which"
        f" {ran} ran, at {', '.join(f'`{level}`' for level in cells.LEVELS)}, tuned for the"
        " processor and with `-mtune=generic`. "
        + " ".join(_other(*pair) for pair in others.items()),
    ]
    return "\n".join(lines)


def _cell(found: Sequence[Verdict]) -> str:
    if not found:
        return "–"
    if wrong := sum(bool(one.wrong) for one in found):
        return f"**{wrong} of {len(found)} wrong**"
    if not all(one.ran for one in found):
        return "compiles"
    return f"{max(one.worst for one in found):.0e}"


def _other(name: str, problem: str) -> str:
    title = {
        "sanitizers": "`-fsanitize=address,undefined` over all that runs",
        "aarch64": "Exported C on aarch64 (GCC, emulated)",
    }[name]
    return f"{title}: {'**wrong**' if problem else 'right'}."
