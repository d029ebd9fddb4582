"""Sums of signed products of numbers that stand somewhere in two arrays.

Cross and dot products of many vectors at once, wherever those vectors stand: one gather for each
factor, one product, one matrix of signs. That is four calls whatever the number of vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.vectors import Array

Place = int
Vector = tuple[Place, Place, Place]
#: First factor, second factor, the sum it belongs to, its sign (or any other constant factor).
Product = tuple[Place, Place, int, float]

_CYCLES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


def cross_products(x: Vector, y: Vector, result: int, factor: float = 1.0) -> list[Product]:
    """Products of x × y, in the sums ``result`` to ``result + 2``."""
    plus = [(x[j], y[k], result + i, factor) for i, j, k in _CYCLES]
    minus = [(x[k], y[j], result + i, -factor) for i, j, k in _CYCLES]
    return plus + minus


def scaled(x: Vector, factor: Place, result: int, sign: float = 1.0) -> list[Product]:
    """Products of a vector with a number, in the sums ``result`` to ``result + 2``."""
    return [(place, factor, result + i, sign) for i, place in enumerate(x)]


def dot_product(x: Vector, y: Vector, result: int, sign: float = 1.0) -> list[Product]:
    """Products of xᵀy, in one sum."""
    return [(a, b, result, sign) for a, b in zip(x, y, strict=True)]


class Products:
    """The same sums of several items, whose factors stand elsewhere."""

    def __init__(self, items: Iterable[Sequence[Product]], sums: int) -> None:
        """Collect the places.

        Args:
            items: Products of each item; sums and signs are those of the first.
            sums: How many sums there are; those without products are zero.
        """
        found = list(items)
        self._first: NDArray[np.intp] = np.array([[p[0] for p in item] for item in found])
        self._second: NDArray[np.intp] = np.array([[p[1] for p in item] for item in found])
        self._signs = np.zeros((len(found[0]), sums))
        for slot, (_, _, result, sign) in enumerate(found[0]):
            self._signs[slot, result] = sign

    def __call__(self, x: Array, y: Array) -> Array:
        """The sums of all items, (items, sums), from numbers in x and y."""
        products: Array = x.take(self._first)
        products *= y.take(self._second)
        sums: Array = products.dot(self._signs)
        return sums
