# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Time stepping on configuration manifolds: q lives on the manifold, v in its tangent space.

A step works in a chart around its start, q = q₀ ⊕ ξ, where ξ̇ depends on the chart and v; on a
vector space ξ̇ = v.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Acceleration = Callable[[float, Array, Array], Array]

PART_OF_A_STEP = 1e-9  # a remainder of an interval below this part of a step is rounding


class ConfigurationSpace(Protocol):
    """Where configurations live."""

    @property
    def nv(self) -> int:
        """Dimension of the tangent space."""

    def integrate(self, q: Array, w: Array) -> Array:
        """Move q (nq,) along the tangent vector w (nv,)."""

    def tangent_rate(self, q: Array, xi: Array, v: Array) -> Array:
        """Rate ξ̇ of the chart coordinates around q at ξ when the velocity is v, (nv,)."""


def semi_implicit_euler_step(
    space: ConfigurationSpace,  # where q lives
    acceleration: Acceleration,  # (t, q, v) → v̇, (nv,)
    t: float,  # start, in s
    q: Array,  # configuration, (nq,)
    v: Array,  # velocity, (nv,)
    h: float,  # step, in s
) -> tuple[Array, Array]:
    """One step of first order: new velocity first, then positions with it."""
    v_next = v + h * acceleration(t, q, v)
    return space.integrate(q, h * v_next), v_next


def rk4_step(
    space: ConfigurationSpace, acceleration: Acceleration, t: float, q: Array, v: Array, h: float
) -> tuple[Array, Array]:
    """One classical Runge–Kutta step of fourth order in the chart around q; arguments as above."""

    def rates(offset: float, xi: Array, velocity: Array) -> tuple[Array, Array]:
        a = acceleration(t + offset, space.integrate(q, xi), velocity)
        return space.tangent_rate(q, xi, velocity), a

    x1, a1 = v, acceleration(t, q, v)
    x2, a2 = rates(0.5 * h, 0.5 * h * x1, v + 0.5 * h * a1)
    x3, a3 = rates(0.5 * h, 0.5 * h * x2, v + 0.5 * h * a2)
    x4, a4 = rates(h, h * x3, v + h * a3)
    xi = (h / 6.0) * (x1 + 2.0 * (x2 + x3) + x4)
    return space.integrate(q, xi), v + (h / 6.0) * (a1 + 2.0 * (a2 + a3) + a4)
