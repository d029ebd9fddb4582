"""Closing the loops: from a guess to a configuration on all constraints."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import lsq_linear

from uk_dynamics.mechanism.state import Array
from uk_dynamics.model.coordinates import LimitViolation

if TYPE_CHECKING:
    from uk_dynamics.mechanism.mechanism import Mechanism

_MAX_ITERATIONS = 200
_POLISH = 3  # further steps once closed: quadratic convergence takes the gap to rounding
_SMALLEST_STEP = 1e-13
_FIRST_DAMPING = 1e-6
_LARGEST_DAMPING = 1e8


@dataclass(frozen=True)
class Assembly:
    """Result of closing the loops.

    Attributes:
        q: Configuration where the search ended, (nq,).
        closed: Whether all residuals are within the tolerance.
        reason: Why it is not closed; empty when it is.
        violations: Largest residual of each constraint, in m or rad.
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
    mechanism: Mechanism, guess: Array, hold: tuple[str, ...], tolerance: float
) -> Assembly:
    """Close the loops by damped Gauss–Newton steps inside the joint limits.

    Args:
        mechanism: What to assemble.
        guess: Start, (nq,).
        hold: Names of velocity coordinates that stay at the guess.
        tolerance: Largest admissible residual, in m or rad.

    Raises:
        UnknownNameError: A held joint does not exist.
    """
    model = mechanism.model
    free = np.ones(model.nv, dtype=bool)
    for name in hold:
        free[model.velocity_index(name)] = False
    search = _Search(mechanism, free)
    result = search.run(guess, tolerance, within_limits=True)
    if result.closed:
        return result
    outside = search.run(guess, tolerance, within_limits=False)
    if outside.closed and outside.limit_violations:
        shown = "; ".join(str(v) for v in outside.limit_violations[:3])
        return replace(result, reason=f"it closes only outside the joint limits: {shown}")
    return result


class _Search:
    def __init__(self, mechanism: Mechanism, free: np.ndarray) -> None:
        self._mechanism = mechanism
        self._model = mechanism.model
        self._constraints = mechanism.constraints
        self._workspace = mechanism.model.workspace()
        self._free = np.flatnonzero(free)
        self._joints = np.flatnonzero(
            free & (np.isfinite(self._model.lower) | np.isfinite(self._model.upper))
        )

    def run(self, guess: Array, tolerance: float, *, within_limits: bool) -> Assembly:
        q = self._clipped(guess) if within_limits else guess
        A, residual = self._rows(q)
        damping = _FIRST_DAMPING
        iterations = 0
        polish = _POLISH
        while iterations < _MAX_ITERATIONS and damping < _LARGEST_DAMPING:
            if _largest(residual) <= tolerance:
                if polish == 0 or _largest(residual) == 0.0:
                    break
                polish -= 1
            step = self._step(q, A, residual, damping, within_limits)
            trial = self._model.integrate(q, step)
            trial_A, trial_residual = self._rows(trial)
            iterations += 1
            if np.linalg.norm(trial_residual) < np.linalg.norm(residual):
                q, A, residual = trial, trial_A, trial_residual
                damping = max(damping * 0.1, 1e-15)
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
        return self._constraints.position(self._workspace, q)

    def _clipped(self, guess: Array) -> Array:
        q = guess.copy()
        names = self._model.velocity_names
        for index in self._joints:
            position = self._model.position_index(names[index])
            q[position] = np.clip(q[position], self._model.lower[index], self._model.upper[index])
        return q

    def _step(
        self, q: Array, A: Array, residual: Array, damping: float, within_limits: bool
    ) -> Array:
        """Least δ with A δ ≈ −ψ, weighted by the damping, that stays inside the limits."""
        nv = self._model.nv
        step = np.zeros(nv)
        count = len(self._free)
        if count == 0:
            return step
        matrix = np.vstack((A[:, self._free], np.sqrt(damping) * np.eye(count)))
        target = np.concatenate((-residual, np.zeros(count)))
        lower, upper = np.full(nv, -np.inf), np.full(nv, np.inf)
        if within_limits:
            for index in self._joints:
                value = q[self._model.position_index(self._model.velocity_names[index])]
                lower[index] = self._model.lower[index] - value
                upper[index] = self._model.upper[index] - value
        # lsq_linear wants room between the bounds; a joint with lower = upper stays put.
        lower, upper = np.minimum(lower, 0.0) - 1e-15, np.maximum(upper, 0.0) + 1e-15
        solution = lsq_linear(
            matrix, target, (lower[self._free], upper[self._free]), method="bvls", tol=1e-14
        )
        step[self._free] = solution.x
        return step

    def _result(self, q: Array, residual: Array, tolerance: float, iterations: int) -> Assembly:
        violations = {
            name: _largest(residual[rows]) for name, rows in self._constraints.slices.items()
        }
        closed = _largest(residual) <= tolerance
        reason = ""
        if not closed:
            reason = (
                "no further step brings the loops together; "
                "check lengths and offsets, or start from another initial_guess"
            )
        else:
            reversed_axes = self._constraints.reversed_axes(self._workspace)
            if reversed_axes:
                closed = False
                reason = (
                    f"the axes of {', '.join(reversed_axes)} point against each other; "
                    "start from another initial_guess or turn the child frame by rpy"
                )
        return Assembly(
            q, closed, reason, violations, iterations, tuple(self._model.limit_violations(q))
        )


def _largest(values: Array) -> float:
    return float(np.max(np.abs(values))) if len(values) else 0.0
