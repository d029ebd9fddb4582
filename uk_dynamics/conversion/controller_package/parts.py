# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What generated packages share: templates, and the loops as tables of C."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from uk_dynamics.compilation.build import LoopTables
from uk_dynamics.control.estimation import StateCompletion

_TEMPLATES = Path(__file__).resolve().parent / "templates"


def loop_tables(completion: StateCompletion) -> LoopTables:
    """The tables of an estimation."""
    rows, encoders = completion.rows, completion.encoders
    return LoopTables(
        completion.split, rows.held, rows.scale, encoders.turning, completion.home, rows.moving
    )


def filled(template: str, words: Mapping[str, str]) -> str:
    """A template with ``@word@`` replaced."""
    text = (_TEMPLATES / f"{template}.in").read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda found: words[found[1]], text)
