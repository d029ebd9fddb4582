"""Time stepping on configuration manifolds: q lives on the manifold, v in its tangent space.

A step works in a chart around its start, q = q₀ ⊕ ξ, where ξ̇ depends on the chart and v; on a
vector space ξ̇ = v. After each step the chart moves along.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import DOP853, RK23, RK45, Radau

from uk_dynamics.exceptions import SimulationError

Array = NDArray[np.float64]
Acceleration = Callable[[float, Array, Array], Array]
Projection = Callable[[float, Array, Array], tuple[Array, Array]]
AdaptiveMethod = Literal["DOP853", "RK45", "RK23", "Radau"]

ADAPTIVE_METHODS: dict[str, Any] = {
    "DOP853": DOP853,
    "RK45": RK45,
    "RK23": RK23,
    "Radau": Radau,
}


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
    space: ConfigurationSpace,
    acceleration: Acceleration,
    t: float,
    q: Array,
    v: Array,
    h: float,
) -> tuple[Array, Array]:
    """One step of first order: new velocity first, then positions with it.

    Args:
        space: Where q lives.
        acceleration: (t, q, v) → v̇, (nv,).
        t: Start, in s.
        q: Configuration, (nq,).
        v: Velocity, (nv,).
        h: Step, in s.
    """
    v_next = v + h * acceleration(t, q, v)
    return space.integrate(q, h * v_next), v_next


def rk4_step(
    space: ConfigurationSpace,
    acceleration: Acceleration,
    t: float,
    q: Array,
    v: Array,
    h: float,
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


@dataclass(frozen=True)
class Tolerances:
    """Error control of an adaptive method.

    Attributes:
        rtol: Relative to each component.
        atol: Absolute, in m, rad and their rates.
        max_step: In s.
    """

    rtol: float = 1e-9
    atol: float = 1e-9
    max_step: float = np.inf


class AdaptiveStepper:
    """SciPy's one-step methods in the tangent space, with projection after each accepted step.

    Attributes:
        t: Time reached, in s.
        q: Configuration there, (nq,).
        v: Velocity there, (nv,).
        evaluations: Evaluations of the acceleration so far.
        steps: Accepted steps so far.
    """

    def __init__(
        self,
        space: ConfigurationSpace,
        acceleration: Acceleration,
        t: float,
        q: Array,
        v: Array,
        t_end: float,
        *,
        method: AdaptiveMethod = "DOP853",
        tolerances: Tolerances | None = None,
        project: Projection | None = None,
        first_step: float | None = None,
    ) -> None:
        """Start at a state.

        Args:
            space: Where q lives.
            acceleration: (t, q, v) → v̇, (nv,).
            t: Start, in s.
            q: Configuration, (nq,).
            v: Velocity, (nv,).
            t_end: End, in s, after the start.
            method: One of SciPy's one-step methods.
            tolerances: Error control.
            project: (t, q, v) → (q, v) on the constraints.
            first_step: In s; None lets SciPy choose.
        """
        limits = tolerances or Tolerances()
        self._space = space
        self._acceleration = acceleration
        self._project = project
        self._base = np.array(q, dtype=float)
        self._nv = space.nv
        self.evaluations = 0
        self.steps = 0
        self._solver: Any = ADAPTIVE_METHODS[method](
            self._rates,
            t,
            np.concatenate((np.zeros(self._nv), v)),
            t_end,
            rtol=limits.rtol,
            atol=limits.atol,
            max_step=limits.max_step,
            first_step=None if first_step is None else min(first_step, t_end - t),
        )
        self.t, self.q, self.v = t, self._base, np.array(v, dtype=float)
        self._interpolant: Any = None
        self._interpolant_base = self._base

    @property
    def finished(self) -> bool:
        """Whether the end is reached."""
        return bool(self._solver.status == "finished")

    @property
    def step_size(self) -> float:
        """Size that the method would try next, in s."""
        return float(self._solver.h_abs)

    def step(self) -> None:
        """Take one accepted step and project its end.

        Raises:
            SimulationError: The step size fell below what numbers can express.
        """
        message = self._solver.step()
        if self._solver.status == "failed":
            raise SimulationError(str(message or "the step size became too small"), self.t)
        self.steps += 1
        solver = self._solver
        self._interpolant = solver.dense_output()
        self._interpolant_base = self._base
        self.t = float(solver.t)
        self.q, self.v = self._state(solver.y, self._base)
        if self._project is not None:
            self.q, self.v = self._project(self.t, self.q, self.v)
        self._base = self.q
        solver.y = np.concatenate((np.zeros(self._nv), self.v))
        if not self.finished:
            solver.f = self._rates(self.t, solver.y)

    def sample(self, t: float) -> tuple[Array, Array]:
        """State at a time within the last step, interpolated, then projected.

        Args:
            t: Between the last two times reached, in s.
        """
        if t >= self.t or self._interpolant is None:
            return self.q, self.v
        q, v = self._state(self._interpolant(t), self._interpolant_base)
        return (q, v) if self._project is None else self._project(t, q, v)

    def _state(self, y: Array, base: Array) -> tuple[Array, Array]:
        return self._space.integrate(base, y[: self._nv]), y[self._nv :].copy()

    def _rates(self, t: float, y: Array) -> Array:
        self.evaluations += 1
        xi, v = y[: self._nv], y[self._nv :]
        a = self._acceleration(t, self._space.integrate(self._base, xi), v)
        return np.concatenate((self._space.tangent_rate(self._base, xi, v), a))
