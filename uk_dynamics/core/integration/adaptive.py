# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Time stepping with error control: SciPy's one-step methods in a chart that moves along.

After each accepted step the state is projected, and the chart, q = q₀ ⊕ ξ, moves to it.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from uk_dynamics.arrays import Array, largest
from uk_dynamics.core.integration.fixed_step import Acceleration, ConfigurationSpace
from uk_dynamics.exceptions import ExpressionValueError, SimulationError

#: (t, configurations (K, nq), velocities (K, nv)) → accelerations (K, nv), NaN where none are.
Accelerations = Callable[[float, Array, Array], Array]
Projection = Callable[[float, Array, Array], tuple[Array, Array]]
AdaptiveMethod = Literal["DOP853", "RK45", "RK23", "Radau"]

# One-step methods only: the others remember points in a chart that has moved on.
ADAPTIVE_METHODS: tuple[AdaptiveMethod, ...] = get_args(AdaptiveMethod)

# What they need of the derivative.
_IMPLICIT = ("Radau",)

# Their error estimate takes a trial that is no number for a step that was too long.
_FORGIVING = ("DOP853", "RK45", "RK23")

# Projection corrects a sound interpolant by some ten times the tolerances.
_SOUND_INTERPOLANT = 1e3

# Steps of differences, of a radian, a metre, or their rates: rounding of the accelerations and
# curvature count the same.
_PART = float(np.sqrt(np.finfo(float).eps))
# Where directions of slow motion matter: this part of its speed, and at least so much.
_RESOLVED, _LEAST_PART = 1e-4, 1e-11

SAME_TIME = 1e-12  # s; a sample closer than this to the end of a step is at its end

#: The generated C has these from here, and the coefficients of ``DOP853``.
ADAPTIVE_CONSTANTS = {"SOUND": _SOUND_INTERPOLANT, "SAME_TIME": SAME_TIME}


@dataclass(frozen=True)
class Tolerances:
    """Error control of an adaptive method."""

    # relative to velocities and to the increments of the positions within a step
    rtol: float = 1e-9
    # absolute, in m, rad and their rates. Increments are small, so this is what bounds the error of
    # the positions
    atol: float = 3e-10
    max_step: float = np.inf  # in s


class AdaptiveStepper:
    """SciPy's one-step methods in the tangent space, with projection after each accepted step."""

    def __init__(
        self,
        space: ConfigurationSpace,  # where q lives
        acceleration: Acceleration,  # (t, q, v) → v̇, (nv,)
        t: float,  # start, in s
        q: Array,  # configuration there, (nq,)
        v: Array,  # velocity there, (nv,)
        t_end: float,  # end, in s, after the start
        *,
        method: AdaptiveMethod = "DOP853",  # one of SciPy's one-step methods
        tolerances: Tolerances | None = None,  # error control
        project: Projection | None = None,  # (t, q, v) → (q, v) on the constraints
        first_step: float | None = None,  # in s; None lets SciPy choose
        # the same at many states, for derivatives; None: one after the other
        accelerations: Accelerations | None = None,
        # (q, v) → least speed whose direction matters, in m/s: differences resolve it
        slowest: Callable[[Array, Array], float] | None = None,
        names: Sequence[str] = (),  # of the velocities, for errors, (nv,)
    ) -> None:
        """Start at a state; SimulationError: the acceleration there is not finite."""
        limits = tolerances or Tolerances()
        self._space, self._acceleration = space, acceleration
        self._accelerations = accelerations or self._one_by_one
        self._names, self._project, self._slowest = names, project, slowest
        self._method: AdaptiveMethod = method
        self._tolerances = limits
        self._base = np.array(q, dtype=float)
        self._nv = space.nv
        self.evaluations = 0  # of the acceleration so far
        self.steps = 0  # accepted so far
        self.rejected = 0  # trials of explicit methods so far whose error was too large
        self.largest_projection = 0.0  # of the end of a step so far, in m, rad or their rates
        self._trying = False  # within a step whose trials may go too far
        self._beyond: ExpressionValueError | None = None
        # what is reached
        self.t, self.q, self.v = float(t), self._base, np.array(v, dtype=float)
        from scipy import integrate  # takes long to import, and C integrates without

        self._solver: Any = getattr(integrate, method)(
            self._rates,
            self.t,
            np.concatenate((np.zeros(self._nv), self.v)),
            t_end,
            rtol=limits.rtol,
            atol=limits.atol,
            max_step=limits.max_step,
            first_step=None if first_step is None else min(first_step, t_end - t),
            **({"jac": self._jacobian} if method in _IMPLICIT else {}),
        )
        self._require_finite(self._solver.f)
        self._interpolant: Any = None
        # time, configuration and velocity at the beginning of the last step
        self.start = self._way_point = (self.t, self.q, self.v)

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

        SimulationError: the acceleration is not finite, or no step is short enough. An expression
        without a value at the end of every step is an ExpressionValueError.
        """
        solver = self._solver
        if self.steps:
            self._move_chart()
        self.start = self._way_point = (self.t, self.q, self.v)
        self._trying, self._beyond = self._method in _FORGIVING, None
        before = solver.nfev
        self._try()
        self._trying = False
        if self._method in _FORGIVING:
            self.rejected += (solver.nfev - before) // solver.n_stages - (solver.status != "failed")
        if solver.status == "failed":
            if self._beyond is not None:
                raise self._beyond
            raise SimulationError(
                "the step size vanished; accelerations jump, grow without bound or are not finite"
                + self._fastest(),
                self.t,
            )
        self.steps += 1
        self.t = float(solver.t)
        self._interpolant = None
        self.q, self.v = self._projected(self.t, solver.y)
        end = self._space.integrate(self._base, solver.y[: self._nv])
        corrected = np.concatenate((self.q - end, self.v - solver.y[self._nv :]))
        self.largest_projection = max(self.largest_projection, largest(corrected))

    def _try(self) -> None:
        """A step of the method; its linear equations refuse numbers that are not finite."""
        solver = self._solver
        while True:
            try:
                with np.errstate(over="ignore", invalid="ignore"):  # trials that are refused
                    solver.step()
                return
            except ValueError as error:
                if self._method not in _IMPLICIT or "infs or NaNs" not in str(error):
                    raise
                if not solver.h_abs > 10.0 * np.spacing(self.t):
                    solver.status = "failed"
                    return
            solver.h_abs /= 4.0
            solver.LU_real = solver.LU_complex = None

    def _fastest(self) -> str:
        """Which velocity changes fastest, or without bound."""
        if not self._names:
            return ""
        a = np.abs(self._acceleration(self.t, self.q, self.v))
        if not np.isfinite(a).all():
            return f": {self._names[int(np.argmin(np.isfinite(a)))]}"
        worst = int(np.argmax(a))
        return f": {self._names[worst]} changes fastest, by {a[worst]:.3g} m/s² or rad/s²"

    def sample(self, t: float) -> tuple[Array, Array]:
        """State at a time within the last step, in s, interpolated, then projected.

        No error control watches the interpolant, and one of its points may fall where the rank
        drops. The projection shows it by a large correction; then the way is integrated.
        """
        if t >= self.t or not self.steps:
            return self.q, self.v
        if self._interpolant is None:  # the solver still stands in the chart of the last step
            self._interpolant = self._solver.dense_output()
        y = self._interpolant(t)
        q, v = self._projected(t, y)
        limits = self._tolerances
        allowed = _SOUND_INTERPOLANT * (
            np.max(limits.atol) + limits.rtol * np.abs(v).max(initial=0.0)
        )
        if np.abs(v - y[self._nv :]).max(initial=0.0) > allowed:
            return self._integrated(t)
        return q, v

    def _integrated(self, t: float) -> tuple[Array, Array]:
        """State at a time within the last step by a shorter step, or several if need be."""
        # the tolerances are those that a sound interpolant keeps
        if t < self._way_point[0]:
            self._way_point = self.start
        start = self._way_point[0]
        if t > start:
            limits = self._tolerances
            way = AdaptiveStepper(
                self._space,
                self._acceleration,
                *self._way_point,
                t,
                method=self._method,
                tolerances=Tolerances(10.0 * limits.rtol, 10.0 * limits.atol),
                project=self._project,
                first_step=t - start,
                accelerations=self._accelerations,
                slowest=self._slowest,
            )
            while not way.finished:
                way.step()
            self.evaluations += way.evaluations
            self._way_point = (t, way.q, way.v)
        return self._way_point[1:]

    def _projected(self, t: float, y: Array) -> tuple[Array, Array]:
        q, v = self._space.integrate(self._base, y[: self._nv]), y[self._nv :].copy()
        return (q, v) if self._project is None else self._project(t, q, v)

    def _move_chart(self) -> None:
        """Let the method go on, with its step size, from the projected state in a chart there."""
        solver = self._solver
        self._base = self.q
        solver.y = np.concatenate((np.zeros(self._nv), self.v))
        solver.f = self._rates(self.t, solver.y)
        self._require_finite(solver.f)
        if hasattr(solver, "sol"):  # Radau would extrapolate its last step, in the old chart
            solver.sol = None

    def _rates(self, t: float, y: Array) -> Array:
        self.evaluations += 1
        if self._beyond is not None and not math.isfinite(y.dot(y)):
            return np.full(len(y), np.nan)
        xi, v = y[: self._nv], y[self._nv :]
        try:
            a = self._acceleration(t, self._space.integrate(self._base, xi), v)
        except ExpressionValueError as error:
            if not self._trying:
                raise
            # A trial too far: NaN makes the method take the step again, shorter.
            self._beyond = error
            return np.full(len(y), np.nan)
        return np.concatenate((self._space.tangent_rate(self._base, xi, v), a))

    def _jacobian(self, t: float, y: Array) -> Array:
        nv = self._nv
        self.evaluations += 1 + 2 * nv
        part = _PART
        if self._slowest is not None:
            q = self._space.integrate(self._base, y[:nv])
            part = min(max(_RESOLVED * self._slowest(q, y[nv:]), _LEAST_PART), _PART)
        where = t, self._base, y[:nv], y[nv:]
        found = motion_jacobian(self._space, self._accelerations, *where, part)
        lost = np.flatnonzero(~np.isfinite(found).all(axis=0))
        if len(lost):
            names = [self._names[i % nv] for i in lost.tolist() if self._names]
            subject = f" where {', '.join(dict.fromkeys(names))} moves" if names else ""
            raise SimulationError(f"the acceleration is not finite{subject}", t)
        return found

    def _one_by_one(self, t: float, q: Array, v: Array) -> Array:
        return np.array([self._acceleration(t, *state) for state in zip(q, v, strict=True)])

    def _require_finite(self, values: Array) -> None:
        if not math.isfinite(values.dot(values)):
            lost = np.flatnonzero(~np.isfinite(values[self._nv :])).tolist()
            names = ", ".join(self._names[i] for i in lost) if self._names else ""
            raise SimulationError(
                "the acceleration is not finite" + (names and f": {names}"), self.t
            )


def motion_jacobian(
    space: ConfigurationSpace,  # where q lives
    accelerations: Accelerations,  # at many states
    t: float,  # in s
    q: Array,  # where the chart begins, (nq,)
    xi: Array,  # coordinates in the chart, (nv,)
    v: Array,  # velocity, (nv,)
    part: float = _PART,  # steps of differences, of a radian, a metre, or their rates
) -> Array:
    """Derivative of (ξ̇, v̇) with respect to (ξ, v), where the configuration is q ⊕ ξ, (2 nv, 2 nv).

    Forward differences, all of them in one call. Their steps are bounded from both sides: a
    coordinate that nothing depends on, such as the angle of a wheel, gets the same as the others.
    Where a step leads to where there is no acceleration, the one to the other side is taken; where
    there is none either, columns are NaN. (An evaluator that knows derivatives has its place here.)
    """
    nv = space.nv
    y = np.concatenate((xi, v))
    steps = part * np.maximum(1.0, np.abs(y))

    def rates(points: Array) -> Array:
        configurations = np.array([space.integrate(q, y[:nv]) for y in points])
        chart = [space.tangent_rate(q, y[:nv], y[nv:]) for y in points]
        found = accelerations(t, configurations, np.ascontiguousarray(points[:, nv:]))
        return np.concatenate((chart, found), axis=1)

    points = np.vstack((y, y + np.diag(steps)))
    found = rates(points)
    ahead = points[1:] - y  # as rounded
    differences = found[1:] - found[0]
    lost = np.flatnonzero(~np.isfinite(differences).all(axis=1))
    if len(lost) and np.isfinite(found[0]).all():
        behind = y - np.diag(steps)[lost]
        differences[lost] = rates(behind) - found[0]
        ahead[lost] = behind - y
    jacobian: Array = (differences / ahead.diagonal()[:, None]).T
    return jacobian
