# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Fixed steps on configuration manifolds: q lives on the manifold, v in its tangent space.

A step works in a chart around its start, q = q₀ ⊕ ξ, where ξ̇ depends on the chart and v; on a
vector space ξ̇ = v. Gauss collocation is symplectic and of order eight, and keeps the energy of
long free motion (Hairer, Lubich, Wanner: Geometric Numerical Integration, 2006, II.1.3, VIII.6).
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.arrays import Array, largest
from uk_dynamics.exceptions import SimulationError

Acceleration = Callable[[float, Array, Array], Array]

PART_OF_A_STEP = 1e-9  # a remainder of an interval below this part of a step is rounding


def steps_between(when: Array, longest: float) -> NDArray[np.int64]:
    """How many equal steps, none longer than one in s, lead from each instant to the next."""
    return np.maximum(np.ceil(np.diff(when) / longest - PART_OF_A_STEP), 1.0).astype(np.int64)


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

#: What C needs for the same steps, tables apart.
GAUSS_CONSTANTS = {
    "GAUSS_STAGES": STAGES,
    "GAUSS_ROUNDS": _ROUNDS,
    "GAUSS_HALVINGS": _HALVINGS,
    "GAUSS_DIVERGED": _DIVERGED,
    "GAUSS_SETTLED": _SETTLED,
    "GAUSS_STALLED": _STALLED,
}
GAUSS_TABLES = {
    "uk_gauss_nodes": _NODES,
    "uk_gauss_weights": _WEIGHTS,
    "uk_gauss_up_to": _UP_TO.ravel(),
}


def gauss_step(
    space: ConfigurationSpace, acceleration: Acceleration, t: float, q: Array, v: Array, h: float
) -> tuple[Array, Array]:
    """One step of Gauss collocation with four stages; arguments as of the other fixed steps.

    Its equations are solved by fixed-point iteration down to rounding, since what is left of them
    in every step is a drift of the energy. Where that does not converge, as close to a singular
    configuration, the step is taken in halves, down to a SimulationError.
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
        size = largest(found)
        left = largest(found - a)
        a = found
        if not left < np.inf or left > _DIVERGED * before:
            break
        if left <= _SETTLED * size or (left >= before and left <= _STALLED * size):
            return space.integrate(q, h * (_WEIGHTS @ rates)), v + h * (_WEIGHTS @ a)
        before = left
    return None


class FixedMethod(NamedTuple):
    """A method of fixed steps."""

    step: Callable[..., tuple[Array, Array]]
    evaluations: int  # of the acceleration in a step; of gauss about


#: By the names that users give; their order numbers them in C.
FIXED_METHODS: Mapping[str, FixedMethod] = {
    "rk4": FixedMethod(rk4_step, 4),
    "semi_implicit_euler": FixedMethod(semi_implicit_euler_step, 1),
    "gauss": FixedMethod(gauss_step, 25),
}
METHOD_CODES = {f"STEP_{name.upper()}": code for code, name in enumerate(FIXED_METHODS)}
