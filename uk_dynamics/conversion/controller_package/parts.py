# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What generated packages share: templates, names and numbers, and the loops as tables of C."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from uk_dynamics.compilation.build import LoopTables
from uk_dynamics.control.estimation import (
    JUMP,
    LARGEST_MISFIT,
    SINGULAR_TOLERANCE,
    StateCompletion,
)
from uk_dynamics.conversion import output_files
from uk_dynamics.core.servo import NEGLIGIBLE_DELAY, SAME_EFFECT, continuation_rule


def identifier(name: str) -> str:
    """A name as ROS packages, C and CMake have them: lower case, single underscores."""
    text = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return text if text[:1].isalpha() else f"mechanism_{text}".strip("_")


def c_number(value: float) -> str:
    """A double of C++."""
    value = float(value)
    if abs(value) == float("inf"):
        return f"{'-' if value < 0.0 else ''}std::numeric_limits<double>::infinity()"
    return repr(value)


def listed(values: Iterable[object]) -> str:
    """Elements of an array of C++."""
    return ", ".join(map(str, values))


# Defaults of the packages, and numbers that their C++ shares with Python.
_NUMBERS = {
    "blend_time": 0.5,  # s
    "ramp_time": 0.2,  # s
    "state_timeout": 0.01,  # s
    "speed_factor": 1.5,
    "jump": JUMP,
    "misfit": LARGEST_MISFIT,
    "singular_tolerance": SINGULAR_TOLERANCE,
    "same_effect": SAME_EFFECT,
    "negligible": NEGLIGIBLE_DELAY,
    "most_steps": continuation_rule.MOST_STEPS,
}

_TEMPLATES = Path(__file__).resolve().parent / "templates"


def loop_tables(completion: StateCompletion) -> LoopTables:
    """The tables of an estimation."""
    rows, encoders = completion.rows, completion.encoders
    return LoopTables(
        completion.split, rows.held, rows.scale, encoders.turning, completion.home, rows.moving
    )


def filled(template: str, words: Mapping[str, str]) -> str:
    """A template with ``@word@`` replaced; numbers that all packages share are known."""
    known = {key: repr(value) for key, value in _NUMBERS.items()} | dict(words)
    return output_files.filled(_TEMPLATES / f"{template}.in", known)
