# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Sparse vectors of symbols: what is zero by the structure of a mechanism is never computed.

A vector has no entry where it is zero by structure; a scalar is a symbol or a constant float.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from uk_dynamics.compilation.trace.symbols import Symbol
from uk_dynamics.core.linalg import choose

Scalar = Any  # a Symbol or a float
Sparse = dict[int, Scalar]


def is_zero(x: Scalar) -> bool:
    """Whether a value is zero by structure."""
    return isinstance(x, float | int) and x == 0


def sparse(values: Iterable[Scalar]) -> Sparse:
    """The entries of an array that are not zero by structure."""
    return {i: x for i, x in enumerate(values) if not is_zero(x)}


def add_multiple(x: Sparse, factor: Scalar, y: Sparse) -> None:
    """Add a multiple of y to x, in place."""
    for i, value in y.items():
        part = factor * value
        if not is_zero(part):
            x[i] = x[i] + part if i in x else part


def subtract_multiple(x: Sparse, factor: Scalar, y: Sparse) -> None:
    """Subtract a multiple of y from x, in place."""
    for i, value in y.items():
        part = factor * value
        if not is_zero(part):
            x[i] = x[i] - part if i in x else -part


def weighted(weights: Sequence[Scalar] | Sparse, x: Sparse) -> Sparse:
    """Each entry times its weight."""
    return {i: weights[i] * value for i, value in x.items()}


def absolute(x: Sparse) -> Sparse:
    """Sizes of the entries."""
    return {i: abs(value) for i, value in x.items()}


def dot(x: Sparse, y: Sparse) -> Scalar:
    """Scalar product."""
    total: Scalar = 0.0
    for i, value in x.items():
        if i in y:
            total = total + value * y[i]
    return total


def smaller(x: Scalar, y: Scalar) -> Scalar:
    """The smaller of both."""
    return choose(x < y, x, y)


def larger(x: Scalar, y: Scalar) -> Scalar:
    """The larger of both."""
    return choose(x > y, x, y)


def root(x: Scalar) -> Scalar:
    """Square root."""
    return x.sqrt() if isinstance(x, Symbol) else math.sqrt(x)
