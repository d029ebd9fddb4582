# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Bricard's mechanism, reduced to its one freedom.

With a the angle of the first hinge, those of the five are (a, b, a, −b, −a), where
(1 + sin a)(1 − sin b) = 1. Inertia and potential along a follow from the positions of the rods;
nothing here comes from the package.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.polynomial import Chebyshev
from scipy.integrate import solve_ivp

from uk_dynamics_studies.papers.iftomm.pendulum import GRAVITY, Array

_AXES = np.array([[0, 0, 1], [0, 1, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]], dtype=float)
_RODS = np.array([[1, 0, 0], [0, 0, -1], [0, -1, 0], [-1, 0, 0], [0, 0, 1]], dtype=float)  # m
_THICKNESS = 0.1  # m, of a square section
_AXIAL, _ACROSS = _THICKNESS**2 / 6.0, (1.0 + _THICKNESS**2) / 12.0  # kg m², of 1 kg
_DOMAIN = (-0.1, np.pi + 0.1)  # rad; it swings from 0 to π
_DEGREE = 80


def motion(t: Array) -> dict[str, Array]:
    """Angles of the hinges, released from a = 0, to some 1e-11 rad.

    Args:
        t: Times from 0 on, in s, (K,).

    Returns:
        Angle in rad by joint, (K,) each.
    """
    inertia = Chebyshev.interpolate(_each(lambda a: _along(a)[0]), _DEGREE, _DOMAIN)
    potential = Chebyshev.interpolate(_each(lambda a: _along(a)[1]), _DEGREE, _DOMAIN)
    inertia_slope, potential_slope = inertia.deriv(), potential.deriv()

    def rates(_: float, y: Array) -> tuple[float, float]:
        a, rate = y
        return rate, -(potential_slope(a) + 0.5 * inertia_slope(a) * rate**2) / inertia(a)

    found = solve_ivp(
        rates, (0.0, t[-1] or 1e-9), (0.0, 0.0), "DOP853", t_eval=t, rtol=2.5e-14, atol=1e-14
    )
    a = found.y[0]
    b = np.arcsin(np.sin(a) / (1.0 + np.sin(a)))
    return {f"hinge_{i}": angle for i, angle in enumerate((a, b, a, -b, -a), start=1)}


def _each(function: Callable[[float], float]) -> Callable[[Array], Array]:
    return lambda angles: np.array([function(float(a)) for a in np.atleast_1d(angles)])


def _along(a: float) -> tuple[float, float]:
    """Inertia in kg m² and potential in J where the first angle is a."""
    sine = np.sin(a) / (1.0 + np.sin(a))
    b = np.arcsin(sine)
    db = np.cos(a) * (1.0 - sine) / ((1.0 + np.sin(a)) * np.cos(b))
    inertia = potential = 0.0
    turned, end = np.eye(3), np.zeros(3)
    spin, speed = np.zeros(3), np.zeros(3)  # of a rod and of its beginning, for ȧ = 1
    angles, slopes = (a, b, a, -b, -a), (1.0, db, 1.0, -db, -1.0)
    for axis, rod, angle, slope in zip(_AXES, _RODS, angles, slopes, strict=True):
        spin = spin + slope * (turned @ axis)
        turned = turned @ _rotation(axis, angle)
        along = turned @ rod
        centre_speed = speed + np.cross(spin, 0.5 * along)
        axial = float(spin @ along)
        across = float(spin @ spin) - axial**2
        inertia += float(centre_speed @ centre_speed) + _AXIAL * axial**2 + _ACROSS * across
        potential += GRAVITY * float(end[2] + 0.5 * along[2])
        speed, end = speed + np.cross(spin, along), end + along
    return inertia, potential


def _rotation(axis: Array, angle: float) -> Array:
    cross = np.cross(np.eye(3), axis)
    turned: Array = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
    return turned
