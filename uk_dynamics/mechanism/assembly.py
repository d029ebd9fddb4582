"""Closing the loops: from a guess to a configuration on all constraints.

Levenberg–Marquardt steps whose damping falls with the violation (Fan and Yuan, 2005). That keeps
them quadratic where constraints are redundant: while the loops are open a redundant row looks like
an independent one with a singular value of the size of the violation, and following it would carry
an over-constrained mechanism into its singular configurations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from uk_dynamics.mechanism.state import Array
from uk_dynamics.model.coordinates import LimitViolation

if TYPE_CHECKING:
    from uk_dynamics.mechanism.mechanism import Mechanism

_MAX_ITERATIONS = 200
_POLISH = 3  # further steps once closed: quadratic convergence takes the gap to rounding
_SMALLEST_STEP = 1e-13
_FIRST_DAMPING = 0.1  # of the violation; see _Search.run
_LEAST_DAMPING = 0.01
_LARGEST_DAMPING = 1e8
_LEADING_STEPS = 32  # for one turn of a joint: short against what can be closed directly


@dataclass(frozen=True)
class Assembly:
    """Result of closing the loops.

    Attributes:
        q: Configuration where the search ended, (nq,).
        closed: Whether all residuals are within the tolerance.
        reason: Why it is not closed; empty when it is.
        violations: Largest residual of each constraint, in m or rad (π where axes that should
            be parallel are opposed).
        iterations: Steps taken.
        limit_violations: Joints outside their limits (held joints are not moved into them).
    """

    q: Array
    closed: bool
    reason: str
    violations: dict[str, float]
    iterations: int
    limit_violations: tuple[LimitViolation, ...]


def assemble(
    mechanism: Mechanism, guess: Array, hold: tuple[str, ...], tolerance: float, t: float = 0.0
) -> Assembly:
    """Close the loops inside the joint limits; constraints of velocities alone hold no position.

    Where the search from the guess ends in a dead end, the held coordinates are led from a closed
    configuration to where they shall be, the loops being closed again on the way.

    Args:
        mechanism: What to assemble.
        guess: Start, (nq,).
        hold: Names of joints, or of single velocity coordinates, that stay at the guess.
        tolerance: Largest admissible residual, in m or rad.
        t: Time for which constraints that change in time shall hold, in s.

    Raises:
        UnknownNameError: A held joint does not exist.
    """
    free = np.ones(mechanism.model.nv, dtype=bool)
    for name in hold:
        free[_velocities(mechanism, name)] = False
    search = _Search(mechanism, free, t)
    result = search.run(guess, tolerance, within_limits=True)
    if result.closed:
        return result
    led = _lead(mechanism, search, guess, free, tolerance)
    if led is not None:
        return led
    outside = search.run(guess, tolerance, within_limits=False)
    if outside.closed and outside.limit_violations:
        shown = "; ".join(str(v) for v in outside.limit_violations[:3])
        return replace(result, reason=f"from here it closes only outside the joint limits: {shown}")
    return result


def _lead(
    mechanism: Mechanism, search: _Search, guess: Array, free: NDArray[np.bool_], tolerance: float
) -> Assembly | None:
    """Lead the held coordinates to the guess from the initial guess, closed; None: it got lost."""
    if free.all():
        return None
    model = mechanism.model
    everything = _Search(mechanism, np.ones_like(free), search.t)
    reached = everything.run(mechanism.initial_guess, tolerance, within_limits=True)
    for remaining in range(_LEADING_STEPS, 0, -1):
        if not reached.closed:
            return None
        way = model.difference(reached.q, guess)
        way[free] = 0.0
        start = model.integrate(reached.q, way / remaining)
        reached = search.run(start, tolerance, within_limits=True)
    return reached if reached.closed else None


def _velocities(mechanism: Mechanism, name: str) -> list[int]:
    """Velocity coordinates of a joint: one, or all of a floating or planar joint.

    The positions of a floating or planar joint, such as ``root.x``, can only be held together.
    """
    model = mechanism.model
    if name in model.position_names and name not in model.velocity_names:
        name = name.rpartition(".")[0]
    parts = [other for other in model.velocity_names if other.startswith(f"{name}.")]
    return [model.velocity_index(part) for part in parts or [name]]


class _Search:
    """One search; see :func:`assemble`."""

    def __init__(self, mechanism: Mechanism, free: NDArray[np.bool_], t: float) -> None:
        self.t = t
        model = mechanism.model
        self._model = model
        self._constraints = mechanism.constraints
        self._held = np.flatnonzero(
            mechanism.constraints.position_rows & mechanism.hierarchy.acting()
        )
        self._reference = mechanism.references.sample(t)
        self._workspace = model.workspace()
        self._free = np.flatnonzero(free)
        # Joints that may move and must stay within limits: their places in v and in q.
        velocities = model.coordinates.velocity_of_joint
        bounded = np.isfinite(model.lower) | np.isfinite(model.upper)
        chosen = (free & bounded)[velocities]
        self._bounded_v = velocities[chosen]
        self._bounded_q = model.coordinates.position_of_joint[chosen]

    def run(self, guess: Array, tolerance: float, *, within_limits: bool) -> Assembly:
        q = self._clipped(guess) if within_limits else guess
        A, residual = self._rows(q)
        damping = _FIRST_DAMPING
        iterations = 0
        polish = _POLISH
        while iterations < _MAX_ITERATIONS and damping < _LARGEST_DAMPING:
            violation = np.linalg.norm(residual)
            if _largest(residual) <= tolerance:
                if polish == 0 or violation == 0.0:
                    break
                polish -= 1
            # A² is of the size of a length squared and ψ of a length: so is their product.
            reach = np.sqrt(np.max(np.sum(A * A, axis=1), initial=0.0))
            step = self._step(q, A, residual, float(damping * violation * reach), within_limits)
            trial = self._model.integrate(q, step)
            trial_A, trial_residual = self._rows(trial)
            iterations += 1
            if np.linalg.norm(trial_residual) < violation:
                q, A, residual = trial, trial_A, trial_residual
                damping = max(0.3 * damping, _LEAST_DAMPING)
            elif _largest(residual) <= tolerance:
                break
            else:
                damping *= 10.0
            if np.linalg.norm(step) < _SMALLEST_STEP:
                break
        self._workspace.update_positions(q)  # the last trial may have been rejected
        return self._result(q, residual, tolerance, iterations)

    def _rows(self, q: Array) -> tuple[Array, Array]:
        self._workspace.update_positions(q)
        A, residual = self._constraints.position(self._workspace, self.t, q, self._reference)
        return A[self._held], residual[self._held]

    def _clipped(self, guess: Array) -> Array:
        q = guess.copy()
        lower, upper = self._model.lower[self._bounded_v], self._model.upper[self._bounded_v]
        q[self._bounded_q] = np.clip(q[self._bounded_q], lower, upper)
        return q

    def _step(
        self, q: Array, A: Array, residual: Array, damping: float, within_limits: bool
    ) -> Array:
        """The δ of least |A δ + ψ|² + damping |δ|² that stays inside the limits, (nv,)."""
        nv = self._model.nv
        step = np.zeros(nv)
        count = len(self._free)
        if count == 0:
            return step
        matrix = np.vstack((A[:, self._free], np.sqrt(damping) * np.eye(count)))
        target = np.concatenate((-residual, np.zeros(count)))
        if not (within_limits and len(self._bounded_v)):
            step[self._free] = np.linalg.lstsq(matrix, target)[0]
            return step
        room = np.full((2, nv), np.inf) * [[-1.0], [1.0]]
        room[0, self._bounded_v] = self._model.lower[self._bounded_v] - q[self._bounded_q]
        room[1, self._bounded_v] = self._model.upper[self._bounded_v] - q[self._bounded_q]
        # lsq_linear wants room between the bounds; a joint with lower = upper stays put.
        lower, upper = np.minimum(room[0], 0.0) - 1e-15, np.maximum(room[1], 0.0) + 1e-15
        bounds = (lower[self._free], upper[self._free])
        step[self._free] = lsq_linear(matrix, target, bounds, method="bvls", tol=1e-14).x
        return step

    def _result(self, q: Array, residual: Array, tolerance: float, iterations: int) -> Assembly:
        gaps = np.zeros(len(self._constraints))
        gaps[self._held] = residual
        violations = {name: _largest(gaps[rows]) for name, rows in self._constraints.slices.items()}
        closed = _largest(residual) <= tolerance
        reason = ""
        if not closed:
            reason = (
                "no further step brings the loops together; check lengths and offsets, or start "
                f"from another initial_guess{self._or_hold_others()}"
            )
        else:
            reversed_axes = self._constraints.reversed_axes(self._workspace)
            if reversed_axes:
                closed = False
                violations |= dict.fromkeys(reversed_axes, float(np.pi))
                reason = (
                    f"the axes of {', '.join(reversed_axes)} point against each other; "
                    "start from another initial_guess or turn the child frame by rpy"
                )
        return Assembly(
            q, closed, reason, violations, iterations, tuple(self._model.limit_violations(q))
        )

    def _or_hold_others(self) -> str:
        names = self._model.velocity_names
        held = sorted(set(range(len(names))) - set(self._free.tolist()))
        if not held:
            return ""
        shown = ", ".join(names[index] for index in held[:3]) + (", ..." if len(held) > 3 else "")
        return f"; {shown} {'was' if len(held) == 1 else 'were'} held: the loops may not allow that"


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values))) if len(values) else 0.0
