"""Small vector algebra over stacks, for floats and for arrays of symbols alike.

Everything here is matrix products with constant tensors: cheaper than ``numpy.cross`` on the few
vectors of a mechanism, and valid for arrays of dtype object that hold symbols.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def _skew_tensor() -> Array:
    tensor = np.zeros((3, 9))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        tensor[i, 3 * k + j] = 1.0
        tensor[i, 3 * j + k] = -1.0
    return tensor


def _motion_cross_tensor() -> Array:
    """Tensor of the spatial cross product of motions (linear part first)."""
    skew = _skew_tensor().reshape(3, 3, 3)
    tensor = np.zeros((6, 6, 6))
    tensor[3:, :3, :3] = skew  # angular x linear
    tensor[3:, 3:, 3:] = skew  # angular x angular
    tensor[:3, :3, 3:] = skew  # linear x angular
    return tensor.reshape(6, 36)


def _stacked_matvec(matrices: Array, vectors: Array) -> Array:
    product: Array = (matrices @ vectors[:, :, None])[:, :, 0]
    return product


def _stacked_vecdot(x: Array, y: Array) -> Array:
    product: Array = (x[:, None, :] @ y[:, :, None])[:, 0, 0]
    return product


# NumPy has them as single operations since 2.2 and 2.0; ROS distributions carry older ones.
_matvec = getattr(np, "matvec", _stacked_matvec)
_vecdot = getattr(np, "vecdot", _stacked_vecdot)
_SKEW = _skew_tensor()
_MOTION_CROSS = _motion_cross_tensor()


def skew(x: Array) -> Array:
    """Cross-product matrices, (K, 3) to (K, 3, 3), so that ``skew(x) @ y`` is x × y."""
    matrices: Array = x.dot(_SKEW).reshape(-1, 3, 3)
    return matrices


def apply(matrices: Array, vectors: Array) -> Array:
    """Product of each matrix (K, i, j) with its vector (K, j), giving (K, i)."""
    product: Array = _matvec(matrices, vectors)
    return product


def cross(x: Array, y: Array) -> Array:
    """Cross products of rows, (K, 3) with (K, 3)."""
    return apply(skew(x), y)


def dot(x: Array, y: Array) -> Array:
    """Dot products of rows, (K, i) with (K, i), giving (K,)."""
    product: Array = _vecdot(x, y)
    return product


def motion_cross(x: Array, y: Array) -> Array:
    """Spatial cross products of motion vectors (linear, angular), (K, 6) with (K, 6)."""
    return apply(x.dot(_MOTION_CROSS).reshape(-1, 6, 6), y)
