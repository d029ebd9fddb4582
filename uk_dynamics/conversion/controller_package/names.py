# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Names and numbers of a mechanism in generated text."""

from __future__ import annotations

import re
from collections.abc import Iterable


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
