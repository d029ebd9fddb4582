# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Small vector algebra over stacks, for floats and for arrays of symbols alike.

Everything here is matrix products with constant tensors: cheaper than ``numpy.cross`` on the few
vectors of a mechanism, and valid for arrays of dtype object that hold symbols.
"""

import numpy as np

from uk_dynamics.arrays import Array


class Bilinear:
    """Sums of signed products x_i y_j of two vectors, over stacks of both.

    On the few vectors of a mechanism, gathering the factors and one matrix product are faster than
    a matrix for each of them.
    """

    def __init__(self, *blocks: tuple[int, int, int]) -> None:
        places = [
            (result + i, x + j, y + k, sign)
            for result, x, y in blocks
            for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1))
            for j, k, sign in ((j, k, 1.0), (k, j, -1.0))
        ]
        self._x = np.array([x for _, x, _, _ in places])
        self._y = np.array([y for _, _, y, _ in places])
        self._sums = np.zeros((len(places), 3 + max(result for result, _, _ in blocks)))
        for row, (result, _, _, sign) in enumerate(places):
            self._sums[row, result] = sign

    def __call__(self, x: Array, y: Array) -> Array:
        """The sums, (…, i) with (…, j) giving (…, k)."""
        products: Array = x.take(self._x, -1)
        products *= y.take(self._y, -1)
        sums: Array = products.dot(self._sums)
        return sums


def _stacked_matvec(matrices: Array, vectors: Array) -> Array:
    return (matrices @ vectors[:, :, None])[:, :, 0]


def _stacked_vecdot(x: Array, y: Array) -> Array:
    return (x[:, None, :] @ y[:, :, None])[:, 0, 0]


# NumPy has them as single operations since 2.2 and 2.0; ROS distributions carry older ones.
_matvec = getattr(np, "matvec", _stacked_matvec)
_vecdot = getattr(np, "vecdot", _stacked_vecdot)
_CROSS = Bilinear((0, 0, 0))
# angular × linear, linear × angular, angular × angular; linear part first
_MOTION_CROSS = Bilinear((0, 3, 0), (0, 0, 3), (3, 3, 3))


def apply(matrices: Array, vectors: Array) -> Array:
    """Product of each matrix (K, i, j) with its vector (K, j), giving (K, i)."""
    return _matvec(matrices, vectors)


def cross(x: Array, y: Array) -> Array:
    """Cross products, (…, 3) with (…, 3) or (3,)."""
    return _CROSS(x, y)


def dot(x: Array, y: Array) -> Array:
    """Dot products of rows, (K, i) with (K, i), giving (K,)."""
    return _vecdot(x, y)


def motion_cross(x: Array, y: Array) -> Array:
    """Spatial cross products of motion vectors (linear, angular), (K, 6) with (K, 6)."""
    return _MOTION_CROSS(x, y)
