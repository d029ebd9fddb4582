# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The 2-DOF parallel manipulator in plain formulas: three planar arms whose tips meet at O.

Nothing of the package is used here: what the mechanism ``parallel_2dof`` gives is compared with
these formulas. Joints are in the order a1, b1, a2, b2, a3, b3, each passive one relative to its
active one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LENGTH = 0.244  # m, every bar
MASS = 0.25  # kg, uniform rods; the paper's values are missing
BASES: Array = np.array([[0.0, 0.25], [0.433, 0.0], [0.433, 0.5]])  # m
MIDDLE = np.array([0.29, 0.25])  # m, of the line; the paper's is missing
AMPLITUDE = 0.05  # m
FREQUENCY = 0.5  # Hz
PERIOD = 1.0 / FREQUENCY

ACTIVE = [0, 2, 4]
PASSIVE = [1, 3, 5]


class Motion(NamedTuple):
    """Joint angles, rates and accelerations of the arms, (6,) each, and the inverse Jacobian."""

    q: Array  # rad
    v: Array  # rad/s
    a: Array  # rad/s²
    Z: Array  # joint rates per velocity of O, (6, 2): every motion that keeps the tips together


def point(t: float) -> tuple[Array, Array, Array]:
    """O on its line: position, velocity, acceleration, (2,) each, in m, m/s, m/s²."""
    rate = 2.0 * np.pi * FREQUENCY
    along = np.array([AMPLITUDE, 0.0])
    return (
        MIDDLE - along * np.cos(rate * t),
        along * rate * np.sin(rate * t),
        along * rate**2 * np.cos(rate * t),
    )


def exact_motion(t: float) -> Motion:
    """The joints that bring all three tips to O, elbows on the same side, in closed form."""
    position, velocity, acceleration = point(t)
    q: list[float] = []
    v: list[float] = []
    a: list[float] = []
    Z: list[Array] = []
    for base in BASES:
        x, y = position - base
        half = np.arccos(np.hypot(x, y) / (2.0 * LENGTH))  # between a bar and the line to O
        active = np.arctan2(y, x) + half
        first = LENGTH * np.array([np.cos(active), np.sin(active)])
        second = LENGTH * np.array([np.cos(active - 2.0 * half), np.sin(active - 2.0 * half)])
        jacobian = _turned(np.column_stack((first + second, second)))
        inverse = np.asarray(np.linalg.inv(jacobian), dtype=np.float64)
        rates = inverse @ velocity
        centripetal = first * rates[0] ** 2 + second * rates.sum() ** 2  # towards the hinges
        q += [active, -2.0 * half]
        v += rates.tolist()
        a += (inverse @ (acceleration + centripetal)).tolist()
        Z.append(inverse)
    return Motion(np.array(q), np.array(v), np.array(a), np.vstack(Z))


def _turned(vectors: Array) -> Array:
    """Plane vectors in columns, turned by a right angle."""
    return np.array([-vectors[1], vectors[0]])


def terms(q: Array, v: Array) -> tuple[Array, Array]:
    """M, (6, 6), and the velocity terms h, (6,), of three separate arms of two uniform rods."""
    M, h = np.zeros((6, 6)), np.zeros(6)
    scale = MASS * LENGTH**2
    for k in (0, 2, 4):
        c, s = np.cos(q[k + 1]), np.sin(q[k + 1])
        mixed = 1.0 / 3.0 + 0.5 * c
        M[k : k + 2, k : k + 2] = scale * np.array([[5.0 / 3.0 + c, mixed], [mixed, 1.0 / 3.0]])
        turning = [-(2.0 * v[k] + v[k + 1]) * v[k + 1], v[k] ** 2]
        h[k : k + 2] = 0.5 * scale * s * np.array(turning)
    return M, h


def consistent_torques(motion: Motion) -> Array:
    """Motor torques of least norm that make a motion, (3,): (ZᵀS) u = Zᵀ(M q̈ + h), in N·m."""
    M, h = terms(motion.q, motion.v)
    Z = motion.Z
    return np.linalg.pinv(Z[ACTIVE].T) @ (Z.T @ (M @ motion.a + h))


def stacked_force(motion: Motion) -> Array:
    """The constraint force (32) of loops and task stacked, (6,), in N·m: what the paper reads off.

    Loops and task together fix every joint, so whatever the stacking, M q̈ + h is what is left.
    """
    M, h = terms(motion.q, motion.v)
    tips = np.linalg.inv(motion.Z.reshape(3, 2, 2))
    A = np.zeros((6, 6))
    A[0:2, 0:2] = A[2:4, 0:2] = A[4:6, 0:2] = tips[0]
    A[0:2, 2:4], A[2:4, 4:6] = -tips[1], -tips[2]
    values, vectors = np.linalg.eigh(M)
    half = (vectors * np.sqrt(values)) @ vectors.T
    inverse_half = (vectors / np.sqrt(values)) @ vectors.T
    force: Array = (
        half @ np.linalg.pinv(A @ inverse_half) @ (A @ (motion.a + np.linalg.solve(M, h)))
    )
    return force
