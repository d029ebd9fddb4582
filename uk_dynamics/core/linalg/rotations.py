# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rotations as rotation vectors: exponential, logarithm, left Jacobian and its rate.

All functions take any number of leading dimensions; ``log`` and the inverse and the rate of the
Jacobian take arrays of symbols (dtype object) as well.

Conventions: exp(φ) turns by |φ| about φ/|φ|; along a motion φ(t) the angular velocity in the fixed
frame is ω = J(φ) φ̇ with the left Jacobian J, and that in the turning frame is J(φ)ᵀ φ̇ = J(−φ) φ̇.
"""

from typing import Any

import numpy as np

import uk_dynamics.core.linalg.rotation_coefficients as coefficients
from uk_dynamics.arrays import Array
from uk_dynamics.core.linalg.symbolic_functions import (
    below,
    is_symbolic,
    polar_angle,
    square_root,
    where,
)

_TINY = 1e-300  # keeps θ/sin θ finite at the identity


def _skew_tensor() -> Array:
    """Takes a vector to the flattened matrix that multiplies by it, (3, 9)."""
    tensor = np.zeros((3, 9))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        tensor[i, 3 * k + j] = 1.0
        tensor[i, 3 * j + k] = -1.0
    return tensor


def of_unit_quaternion(x: Any, y: Any, z: Any, w: Any) -> list[list[Any]]:
    """Rows of the rotation matrix of a unit quaternion of floats or symbols."""
    return [
        [1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y - z * w), 2.0 * (x * z + y * w)],
        [2.0 * (x * y + z * w), 1.0 - 2.0 * (x * x + z * z), 2.0 * (y * z - x * w)],
        [2.0 * (x * z - y * w), 2.0 * (y * z + x * w), 1.0 - 2.0 * (x * x + y * y)],
    ]


def to_quaternion(rotation: Array) -> Array:
    """Quaternions (x, y, z, w) of rotation matrices (..., 3, 3) with w at least zero, (..., 4)."""
    from scipy.spatial.transform import Rotation  # takes long to import

    return Rotation.from_matrix(rotation).as_quat(canonical=True)


_SKEW = _skew_tensor()
# Takes a flattened rotation matrix to sin θ times its axis, and to its trace, (9, 4).
_SINE_AND_TRACE = np.column_stack((0.5 * _SKEW.T, np.eye(3).ravel()))


def skew(vector: Array) -> Array:
    """The matrices, (..., 3, 3), that multiply b to a × b, of vectors a, (..., 3)."""
    vector = _as_numbers(vector)
    matrices: Array = vector.dot(_SKEW).reshape(*vector.shape, 3)
    return matrices


def exp(phi: Array) -> Array:
    """Rotation matrix of a rotation vector (Rodrigues), (..., 3, 3)."""
    square, cross = _square_and_skew(phi)
    angle = square_root(square)
    return np.eye(3) + coefficients.sinc(angle) * cross + coefficients.a(angle) * (cross @ cross)


def log(rotation: Array) -> Array:
    """Rotation vector of a rotation matrix, (..., 3), in rad, of length at most π.

    Up to 120° it takes the antisymmetric part of the matrix, which vanishes towards π; beyond, it
    goes through the unit quaternion. At exactly π both signs are right.
    """
    rotation = _as_numbers(rotation)
    parts = np.dot(rotation.reshape(-1, 9), _SINE_AND_TRACE)
    sine_axis, cosine = parts[:, :3], 0.5 * (parts[:, 3] - 1.0)
    sine = square_root(np.add.reduce(sine_axis * sine_axis, 1)) + _TINY
    near: Array = sine_axis * (polar_angle(sine, cosine) / sine)[:, None]
    if not is_symbolic(rotation) and (cosine > -0.5).all():
        return near.reshape(rotation.shape[:-1])
    outer = _quaternion_products(rotation.reshape(-1, 3, 3))
    row, largest = outer[:, 0], outer[:, 0, 0]
    for index in range(1, 4):
        larger = below(largest, outer[:, index, index])
        row = where(larger[:, None], outer[:, index], row)
        largest = where(larger, outer[:, index, index], largest)
    row = where(below(row[:, :1], 0.0), -row, row)
    w, vector = row[:, 0], row[:, 1:]
    length = square_root(np.add.reduce(vector * vector, 1)) + _TINY
    far = vector * (2.0 * polar_angle(length, w) / length)[:, None]
    return where(below(cosine, -0.5)[:, None], far, near).reshape(rotation.shape[:-1])


def left_jacobian(phi: Array) -> Array:
    """Left Jacobian J with ω = J(φ) φ̇, ω in the fixed frame, (..., 3, 3)."""
    square, cross = _square_and_skew(phi)
    angle = square_root(square)
    return np.eye(3) + coefficients.a(angle) * cross + coefficients.c(square) * (cross @ cross)


def left_jacobian_inverse(phi: Array) -> Array:
    """Inverse of the left Jacobian, φ̇ = J⁻¹(φ) ω; singular at |φ| = 2π, (..., 3, 3)."""
    square, cross = _square_and_skew(phi)
    angle = square_root(square)
    # (1 − h cot h)/θ² with h = θ/2, as (sin h − h cos h)/h³ over 4 sin(h)/h
    factor = coefficients.g(0.25 * square) / (4.0 * coefficients.sinc(0.5 * angle))
    return np.eye(3) - 0.5 * cross + factor * (cross @ cross)


def left_jacobian_rate(phi: Array, phi_rate: Array) -> Array:
    """Rate of the left Jacobian along a motion, (..., 3, 3), 1/s, so that ω̇ = J φ̈ + J̇ φ̇."""
    square, cross = _square_and_skew(phi)
    angle = square_root(square)
    cross_rate = skew(phi_rate)
    inner = np.asarray(np.sum(np.asarray(phi) * phi_rate, axis=-1))[..., None, None]
    a, c = coefficients.a(angle), coefficients.c(square)
    a_rate, c_rate = coefficients.a_rate(square), coefficients.c_rate(square)
    return (
        inner * (a_rate * cross + c_rate * (cross @ cross))
        + a * cross_rate
        + c * (cross @ cross_rate + cross_rate @ cross)
    )


def _square_and_skew(phi: Array) -> tuple[Array, Array]:
    """|φ|² as (..., 1, 1) and skew(φ)."""
    phi = _as_numbers(phi)
    return np.sum(phi * phi, axis=-1, keepdims=True)[..., None], skew(phi)


def _as_numbers(values: Array) -> Array:
    """Floats, or symbols as they are."""
    values = np.asarray(values)
    return values if is_symbolic(values) else np.asarray(values, dtype=float)


def _quaternion_products(rotation: Array) -> Array:
    """4 q qᵀ of the unit quaternion (w, x, y, z), (..., 4, 4)."""
    r = rotation
    diagonal = r[..., (0, 1, 2), (0, 1, 2)]
    outer = np.empty((*r.shape[:-2], 4, 4), dtype=r.dtype)
    outer[..., 0, 0] = 1.0 + diagonal.sum(axis=-1)
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        outer[..., i + 1, i + 1] = 1.0 + r[..., i, i] - r[..., j, j] - r[..., k, k]
        outer[..., 0, i + 1] = outer[..., i + 1, 0] = r[..., k, j] - r[..., j, k]
        outer[..., j + 1, k + 1] = outer[..., k + 1, j + 1] = r[..., j, k] + r[..., k, j]
    return outer
