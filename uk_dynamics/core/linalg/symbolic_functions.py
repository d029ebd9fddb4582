# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Elementary functions of arrays of floats and of arrays of symbols (dtype object) alike.

NumPy's own call the methods of symbols, but floats have none, and where something is constant
floats stand among the symbols.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.linalg.symbolic_where import is_symbolic

Array = NDArray[np.float64]


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


def square_root(x: Array) -> Array:
    """Square roots of floats or symbols, elementwise."""
    found: Array = _roots(x) if is_symbolic(x) else np.sqrt(x)
    return found


def sine(x: Array) -> Array:
    """Sines of floats or symbols, elementwise."""
    found: Array = _sines(x) if is_symbolic(x) else np.sin(x)
    return found


def cosine(x: Array) -> Array:
    """Cosines of floats or symbols, elementwise."""
    found: Array = _cosines(x) if is_symbolic(x) else np.cos(x)
    return found


def polar_angle(y: Array, x: Array) -> Array:
    """Angles of the points (x, y), between −π and π, of floats or symbols, elementwise."""
    found: Array = _angles(y, x) if is_symbolic(y) or is_symbolic(x) else np.arctan2(y, x)
    return found
