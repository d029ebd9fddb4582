# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The servo paper's own equations of its two coordinated robots, (A2)-(A4), (60)-(70).

Both robots and the load are one chain of five links from the left pedestal, whose end is hinged to
the right one; the angles are absolute, against the horizontal. Nothing of the package is used here:
what the mechanism ``coordinated_robots`` gives is compared with these formulas.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

LENGTH = 1.0  # m, every link
MASS = 1.0  # kg
MOMENT = 1.0  # kg m², about the centre of mass
DISTANCE = 3.0  # m, between the pedestals
GRAVITY = 9.8  # m/s²
LINKS = 5
PERIOD = 2.0 * np.pi  # s

# (70): what each torque does to each link.
B: Array = np.array(
    [
        [1.0, -1.0, 0.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, -1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, -1.0, 1.0, 0.0],
        [0.0, 0.0, 0.0, 0.0, -1.0, 1.0],
    ]
)

# How much of link k the chain carries beyond joint i: all of the links behind, half of the last.
_BEHIND: Array = np.arange(LINKS - 1, -1, -1.0)  # links after this one
_HALF_COUPLING = MASS * LENGTH**2 * (0.5 + _BEHIND)  # of an earlier link with this one
_PULL: Array = MASS * LENGTH * (0.5 + _BEHIND) * GRAVITY
_LOAD_ARM: Array = LENGTH * np.array([1.0, 1.0, 0.5, 0.0, 0.0])  # to the middle of the load


class Motion(NamedTuple):
    """Where the links are, (5,) each: angles, rates, accelerations, in rad, rad/s, rad/s²."""

    angles: Array
    rates: Array
    accelerations: Array


def exact_motion(t: float) -> Motion:
    """The motion that the task (64) asks for, in closed form.

    The left wrist rises along x = 1 m; links 1 and 2 are an isosceles triangle over its distance
    from the pedestal, and the right robot is the mirror image of the left one.
    """
    y, dy, ddy = 0.5 * (1.0 - np.cos(t)), 0.5 * np.sin(t), 0.5 * np.cos(t)
    square = 1.0 + y**2
    r = np.sqrt(square)
    dr = y * dy / r
    ddr = (dy**2 + y * ddy) / r - dr**2 / r
    leg = np.sqrt(4.0 - square)
    pitch = np.array(
        [np.arctan(y), dy / square, ddy / square - 2.0 * y * dy**2 / square**2]
    )  # of the line from pedestal to wrist
    half = np.array([np.arccos(r / 2.0), -dr / leg, -ddr / leg - dr**2 * r / leg**3])
    first, second = pitch + half, pitch - half
    return Motion(*np.column_stack((first, second, np.zeros(3), -second, -first)))


def load_position(angles: Array) -> Array:
    """x₃, y₃, θ₃ of (65), (3,), in m and rad."""
    return np.array([_LOAD_ARM @ np.cos(angles), _LOAD_ARM @ np.sin(angles), angles[2]])


def closure_error(angles: Array) -> Array:
    """How far the end of the chain is from its hinge, (60), (2,), in m."""
    return LENGTH * np.array([np.cos(angles).sum(), np.sin(angles).sum()]) - [DISTANCE, 0.0]


def terms(angles: Array, rates: Array) -> tuple[Array, Array]:
    """M of (A2), (5, 5), and C θ̇ + G of (A3) and (A4), (5,)."""
    later = np.maximum.outer(np.arange(LINKS), np.arange(LINKS))
    coupling = _HALF_COUPLING[later]
    # A link turns about its middle, so a quarter of its mass counts where half does elsewhere.
    np.fill_diagonal(coupling, _HALF_COUPLING - 0.25 * MASS * LENGTH**2)
    between = np.subtract.outer(angles, angles)
    M = coupling * np.cos(between) + MOMENT * np.eye(LINKS)
    bias = (coupling * np.sin(between)) @ rates**2 + _PULL * np.cos(angles)
    return M, bias


def loop_rows(angles: Array, rates: Array) -> tuple[Array, Array]:
    """Â and b̂ of (63), (2, 5) and (2,)."""
    return _point_rows(np.full(LINKS, LENGTH), angles, rates)


def task_rows(angles: Array, rates: Array, t: float) -> tuple[Array, Array]:
    """A and b of (68), (3, 5) and (3,)."""
    A, b = _point_rows(_LOAD_ARM, angles, rates)
    lifted = 0.5 * LENGTH * np.cos(t)
    return np.vstack((A, np.eye(LINKS)[2])), np.array([b[0], b[1] + lifted, 0.0])


def _point_rows(arm: Array, angles: Array, rates: Array) -> tuple[Array, Array]:
    c, s = np.cos(angles), np.sin(angles)
    return np.vstack((-arm * s, arm * c)), np.array([(arm * c) @ rates**2, (arm * s) @ rates**2])


def consistent_torques(motion: Motion) -> Array:
    """Torques of least norm that make a motion of the closed chain, (6,), in N·m.

    Motions that keep the chain closed are Z w; virtual work then asks for
    (ZᵀB) u = Zᵀ(M θ̈ + C θ̇ + G), whatever force acts in the hinge.
    """
    M, bias = terms(motion.angles, motion.rates)
    Z = np.linalg.svd(loop_rows(motion.angles, motion.rates)[0])[2][2:].T
    return np.linalg.pinv(Z.T @ B) @ (Z.T @ (M @ motion.accelerations + bias))
