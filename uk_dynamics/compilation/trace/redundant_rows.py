# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Multipliers of rows of which some depend on others, traced."""

from __future__ import annotations

from collections.abc import Sequence

from uk_dynamics.compilation.trace.sparse_vectors import (
    Scalar,
    Sparse,
    choose,
    dot,
    subtract_multiple,
    weighted,
)
from uk_dynamics.core.linalg import KERNEL_ROUNDING


def least(multipliers: Sparse, kernel: Sequence[Sparse], count: int) -> list[Scalar]:
    """The multipliers of least norm that make the same force, (count,)."""
    found = dict(multipliers)
    for vector, square in _orthogonal(kernel, [1.0] * count):
        subtract_multiple(found, dot(vector, found) / square, vector)
    return [found.get(r, 0.0) for r in range(count)]


def determined(kernel: Sequence[Sparse], scales: Sequence[Scalar]) -> list[Scalar]:
    """One for each row whose multiplier is unique, else zero."""
    shares: list[Scalar] = [0.0] * len(scales)
    for vector, square in _orthogonal(kernel, scales):
        for r, factor in vector.items():
            shares[r] = shares[r] + scales[r] * (factor * factor) / square
    return [choose(share <= KERNEL_ROUNDING**2, 1.0, 0.0) for share in shares]


def _orthogonal(kernel: Sequence[Sparse], weights: Sequence[Scalar]) -> list[tuple[Sparse, Scalar]]:
    """Vectors made orthogonal in the metric of the weights, with their squares."""
    found: list[tuple[Sparse, Scalar]] = []
    for vector in kernel:
        rest = dict(vector)
        for other, square in found:
            subtract_multiple(rest, dot(weighted(weights, other), rest) / square, other)
        found.append((rest, dot(weighted(weights, rest), rest)))
    return found
