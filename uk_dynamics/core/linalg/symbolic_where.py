# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Choices between values, for arrays of floats and for arrays of symbols (dtype object) alike.

A symbol has no truth value: a comparison of two gives a condition, and both answers are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def _choose(condition: Any, yes: Any, no: Any) -> Any:
    if hasattr(condition, "choose"):
        return condition.choose(yes, no)
    return yes if condition else no


_choose_each = np.frompyfunc(_choose, 3, 1)


def is_symbolic(x: NDArray[Any]) -> bool:
    """Whether an array holds symbols."""
    return x.dtype == object


def below(x: Array, y: Array | float) -> NDArray[Any]:
    """Where x < y: flags, or conditions of symbols."""
    if is_symbolic(x):
        flags: NDArray[Any] = np.less(x, y, dtype=object)
        return flags
    return np.less(x, y)


def above(x: Array, y: Array | float) -> NDArray[Any]:
    """Where x > y."""
    if is_symbolic(x):
        flags: NDArray[Any] = np.greater(x, y, dtype=object)
        return flags
    return np.greater(x, y)


def where(condition: NDArray[Any], yes: Array | float, no: Array | float) -> Array:
    """``yes`` where the condition of a comparison holds, else ``no``."""
    if is_symbolic(condition):
        chosen: Array = _choose_each(condition, yes, no)
        return chosen
    return np.where(condition, yes, no)


def at_least(x: Array, least: Array | float) -> Array:
    """The larger of both."""
    if is_symbolic(x):
        return where(below(x, least), least, x)
    return np.maximum(x, least)
