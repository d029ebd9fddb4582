# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Gauss collocation: symplectic steps of order eight, which keep the energy of long free motion.

Source: Hairer, Lubich, Wanner: Geometric Numerical Integration (2006), II.1.3 and VIII.6.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.integration.fixed_step import Acceleration, ConfigurationSpace
from uk_dynamics.exceptions import SimulationError

Array = NDArray[np.float64]

STAGES = 4
_ROUNDS = 30  # of fixed-point iteration; a resolved motion takes five to eight
_HALVINGS = 12
_DIVERGED = 1e3  # times what was left before
_SETTLED = 4.0 * float(np.finfo(float).eps)  # of the accelerations: rounding
_STALLED = 1e-9  # of the accelerations: what rounding of an ill-conditioned machine leaves


def _coefficients() -> tuple[Array, Array, Array]:
    """Nodes, weights, and integrals of the Lagrange polynomials up to each node."""
    roots, weights = np.polynomial.legendre.leggauss(STAGES)
    nodes = 0.5 * (roots + 1.0)
    powers = np.arange(STAGES)
    lagrange = np.linalg.inv(nodes[:, None] ** powers)  # coefficients of each, by column
    up_to = nodes[:, None] ** (powers + 1) / (powers + 1) @ lagrange
    return nodes, 0.5 * weights, up_to


_NODES, _WEIGHTS, _UP_TO = _coefficients()


def gauss_step(
    space: ConfigurationSpace, acceleration: Acceleration, t: float, q: Array, v: Array, h: float
) -> tuple[Array, Array]:
    """One step of Gauss collocation with four stages; arguments as of the other fixed steps.

    Its equations are solved by fixed-point iteration down to rounding, since what is left of them
    in every step is a drift of the energy. Where that does not converge, as close to a singular
    configuration, the step is taken in halves.

    Raises:
        SimulationError: However short the step, the iteration does not converge.
    """
    return _in_parts(space, acceleration, t, q, v, h, _HALVINGS)


def _in_parts(
    space: ConfigurationSpace,
    acceleration: Acceleration,
    t: float,
    q: Array,
    v: Array,
    h: float,
    halvings: int,
) -> tuple[Array, Array]:
    found = _solved(space, acceleration, t, q, v, h)
    if found is not None:
        return found
    if not halvings:
        raise SimulationError("steps of gauss cannot be solved, however short", t)
    for start in (t, t + 0.5 * h):
        q, v = _in_parts(space, acceleration, start, q, v, 0.5 * h, halvings - 1)
    return q, v


def _solved(
    space: ConfigurationSpace, acceleration: Acceleration, t: float, q: Array, v: Array, h: float
) -> tuple[Array, Array] | None:
    """The end of a step; None where the iteration does not converge."""
    a = np.repeat(acceleration(t, q, v)[None], STAGES, axis=0)
    rates = np.repeat(v[None], STAGES, axis=0)
    before = np.inf
    for _ in range(_ROUNDS):
        velocities = v + h * (_UP_TO @ a)
        xi = h * (_UP_TO @ rates)
        rates = np.array([space.tangent_rate(q, *x) for x in zip(xi, velocities, strict=True)])
        found = np.array(
            [
                acceleration(t + h * c, space.integrate(q, h * (row @ rates)), velocity)
                for c, row, velocity in zip(_NODES, _UP_TO, velocities, strict=True)
            ]
        )
        size = float(np.abs(found).max(initial=0.0))
        left = float(np.abs(found - a).max(initial=0.0))
        a = found
        if not left < np.inf or left > _DIVERGED * before:
            break
        if left <= _SETTLED * size or (left >= before and left <= _STALLED * size):
            return space.integrate(q, h * (_WEIGHTS @ rates)), v + h * (_WEIGHTS @ a)
        before = left
    return None
