# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Elementary functions and choices, for arrays of floats and of symbols (dtype object) alike.

NumPy's own call the methods of symbols, but floats have none, and where something is constant
floats stand among the symbols. A symbol has no truth value: a comparison of two gives a condition,
and both answers are kept.
"""

import hashlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.arrays import Array


class Table:
    """Numbers that are looked up by their index, (k,), of which C has an array of their own."""

    def __init__(self, values: Array) -> None:
        self.values = values
        #: By what it holds: caches of what is made of it go by its name.
        self.name = f"uk_table_{hashlib.sha256(values.tobytes()).hexdigest()[:16]}"

    def __repr__(self) -> str:
        return self.name

    def __len__(self) -> int:
        return len(self.values)

    def __call__(self, index: Any) -> Any:
        """The number at an index, which is whole: a float, or a symbol."""
        return index.lookup(self) if hasattr(index, "lookup") else float(self.values[int(index)])


def choose(condition: Any, yes: Any, no: Any) -> Any:
    """``yes`` where a condition, perhaps of a symbol, holds, else ``no``; numbers or symbols."""
    if hasattr(condition, "choose") and not isinstance(condition, np.generic):  # NumPy's is another
        return condition.choose(yes, no)
    return yes if condition else no


_choose_each = np.frompyfunc(choose, 3, 1)


def is_symbolic(x: NDArray[Any]) -> bool:
    """Whether an array holds symbols."""
    return x.dtype == object


def below(x: Array, y: Array | float) -> NDArray[Any]:
    """Where x < y: flags, or conditions of symbols."""
    return np.less(x, y, dtype=object) if is_symbolic(x) else np.less(x, y)


def above(x: Array, y: Array | float) -> NDArray[Any]:
    """Where x > y."""
    return np.greater(x, y, dtype=object) if is_symbolic(x) else np.greater(x, y)


def where(condition: NDArray[Any], yes: Array | float, no: Array | float) -> Array:
    """``yes`` where the condition of a comparison holds, else ``no``."""
    if is_symbolic(condition):
        chosen: Array = _choose_each(condition, yes, no)
        return chosen
    return np.where(condition, yes, no)


def at_least(x: Array, least: Array | float) -> Array:
    """The larger of both."""
    return where(below(x, least), least, x) if is_symbolic(x) else np.maximum(x, least)


def _of_each(name: str, of_float: Callable[[float], float]) -> Callable[[Array], Any]:
    def one(x: Any) -> Any:
        return getattr(x, name)() if hasattr(x, name) else of_float(x)

    each: Callable[[Array], Any] = np.frompyfunc(one, 1, 1)
    return each


def _angle(y: Any, x: Any) -> Any:
    if hasattr(y, "arctan2"):
        return y.arctan2(x)
    return x.functions["atan2"](y, x) if hasattr(x, "functions") else math.atan2(y, x)


_roots = _of_each("sqrt", math.sqrt)
_sines, _cosines = _of_each("sin", math.sin), _of_each("cos", math.cos)
_angles = np.frompyfunc(_angle, 2, 1)
_whole = _of_each("rint", lambda x: float(round(x)))


def square_root(x: Array) -> Array:
    """Square roots of floats or symbols, elementwise."""
    return _roots(x) if is_symbolic(x) else np.sqrt(x)


def sine(x: Array) -> Array:
    """Sines of floats or symbols, elementwise."""
    return _sines(x) if is_symbolic(x) else np.sin(x)


def cosine(x: Array) -> Array:
    """Cosines of floats or symbols, elementwise."""
    return _cosines(x) if is_symbolic(x) else np.cos(x)


def polar_angle(y: Array, x: Array) -> Array:
    """Angles of the points (x, y), between −π and π, of floats or symbols, elementwise."""
    return _angles(y, x) if is_symbolic(y) or is_symbolic(x) else np.arctan2(y, x)


def nearest_integer(x: Array) -> Array:
    """Nearest integers of floats or symbols, halves to even ones, elementwise."""
    return _whole(x) if is_symbolic(x) else np.rint(x)


def looked_up(table: Table, index: Array) -> Array:
    """Numbers of a table at whole indices, floats or symbols, elementwise."""
    if not is_symbolic(index):
        return table.values[index.astype(np.intp)]
    each: Callable[[Array], Array] = np.frompyfunc(table, 1, 1)
    return each(index)
