"""Sums of signed products of numbers that stand somewhere in one array.

Cross and dot products of many vectors at once, wherever those vectors stand: one gather of all
factors, one multiplication, and a matrix of signs for each kind of sum.
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
    """The same sums of several items, whose factors stand elsewhere.

    Attributes:
        first: Places of the first factors, (items, products).
        second: Those of the second ones.
        signs: What each product counts in each sum, (products, sums).
    """

    def __init__(self, items: Iterable[Sequence[Product]], sums: int) -> None:
        """Collect the places.

        Args:
            items: Products of each item, at least one; sums and signs are those of the first.
            sums: How many sums there are; those without products are zero.
        """
        found = list(items)
        self.first: NDArray[np.intp] = np.array([[p[0] for p in item] for item in found])
        self.second: NDArray[np.intp] = np.array([[p[1] for p in item] for item in found])
        self.signs = np.zeros((len(found[0]), sums))
        for slot, (_, _, result, sign) in enumerate(found[0]):
            self.signs[slot, result] += sign


class Factors:
    """The products themselves, of several collections at once, in memory of their own.

    Attributes:
        products: Of each collection, (items, products); rewritten by every update.
    """

    def __init__(self, numbers: Array, collections: Sequence[Products]) -> None:
        """Allocate.

        Args:
            numbers: Where all factors stand, (n,); read again by every update.
            collections: Which products.
        """
        self._numbers = numbers
        self._places: NDArray[np.intp] = np.array(
            [
                np.concatenate([c.first.reshape(-1) for c in collections]),
                np.concatenate([c.second.reshape(-1) for c in collections]),
            ]
        )
        self._found = np.empty(self._places.shape)
        self._first, self._second = self._found
        ends = np.cumsum([c.first.size for c in collections])
        self.products: list[Array] = [
            self._first[end - c.first.size : end].reshape(c.first.shape)
            for c, end in zip(collections, ends, strict=True)
        ]

    def update(self) -> None:
        """Multiply the numbers as they are now."""
        self._numbers.take(self._places, None, self._found, "clip")  # "raise" would copy
        np.multiply(self._first, self._second, self._first)
