# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The search for a configuration on constraints, from a guess.

Levenberg–Marquardt steps whose damping falls with the violation (Fan and Yuan, 2005). That keeps
them quadratic where constraints are redundant: while the loops are open a redundant row looks like
an independent one with a singular value of the size of the violation, and following it would carry
an over-constrained mechanism into its singular configurations.
"""

from dataclasses import dataclass

import numpy as np

from uk_dynamics.arrays import Flags, largest
from uk_dynamics.mechanism.files import SolverSpec
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.model import LimitViolation

_MAX_ITERATIONS = 200  # from a start; how many starts there are is in configuration_search.py
_POLISH = 3  # further steps once closed: quadratic convergence reaches rounding
_SMALLEST_STEP = 1e-13
_FIRST_DAMPING = 0.1  # of the violation; see Search.run
_LEAST_DAMPING = 0.01
_LARGEST_DAMPING = 1e8


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
        limit_violations: Joints outside their limits (held joints are not moved into them), joints
            of loops first.
        reversed: Whether all that is wrong are axes that point against each other.
        closes_beyond: Joints that would have to leave their limits for the loops to close.
        has_remedy: Whether the reason says how to close loops that nearly close.
    """

    q: Array
    closed: bool
    reason: str
    violations: dict[str, float]
    iterations: int
    limit_violations: tuple[LimitViolation, ...]
    reversed: bool = False
    closes_beyond: tuple[LimitViolation, ...] = ()
    has_remedy: bool = False


class Search:
    """From guesses to configurations on the rows of a mechanism, and on those of tasks."""

    def __init__(
        self,
        mechanism: ResolvedMechanism,
        free: Flags,
        t: float,
        tasks: Tasks | None = None,
        solver: SolverSpec | None = None,
    ) -> None:
        self.t = t
        solver = solver or mechanism.spec.solver
        # Where rows are dependent but for errors of measurement, they must not be followed.
        self._ignored = solver.rank_tolerance if solver.measured else 0.0
        model = mechanism.model
        self._model = model
        structure = mechanism.constraints
        held = structure.position_rows & mechanism.hierarchy.acting()
        self._sets = [(structure, np.flatnonzero(held), mechanism.references.sample(t))]
        if tasks is not None:
            of_tasks = np.flatnonzero(tasks.constraints.position_rows)
            self._sets.append((tasks.constraints, of_tasks, tasks.sample(t)))
        # A compliant row is closed as far as the others allow.
        rigid = mechanism.hierarchy.rigid[self._sets[0][1]]
        count = sum(len(rows) for _, rows, _ in self._sets)
        self._rigid = np.concatenate([rigid, np.ones(count - len(rigid), bool)])
        self._workspace = (tasks or mechanism).model.workspace()
        self._away: Array = np.zeros(count)
        self._free = np.flatnonzero(free)
        # Joints that may move and must stay within limits: their places in v and in q.
        velocities = model.velocity_of_joint
        chosen = (free & (np.isfinite(model.lower) | np.isfinite(model.upper)))[velocities]
        self._bounded_v = velocities[chosen]
        self._bounded_q = model.position_of_joint[chosen]

    def error(self, q: Array) -> Array:
        """Residuals of all rows, those of tasks last, (m,), in m or rad."""
        self._away = np.zeros_like(self._away)
        return self._rows(q)[1]

    @np.errstate(over="ignore", invalid="ignore")  # what overflows is not closed, and said so
    def run(
        self, guess: Array, tolerance: float, *, within_limits: bool, away: Array | None = None
    ) -> Assembly:
        """Search from a guess, (nq,); ``away``, (m,): residuals to reach instead of zero."""
        self._away = np.zeros_like(self._away) if away is None else away
        q = self._clipped(guess) if within_limits else guess
        A, residual = self._rows(q)
        damping = _FIRST_DAMPING
        iterations = 0
        polish = _POLISH
        while iterations < _MAX_ITERATIONS and damping < _LARGEST_DAMPING:
            violation = np.linalg.norm(residual)
            if self._closed(residual, tolerance):
                if polish == 0 or violation == 0.0:
                    break
                polish -= 1
            # A² is of the size of a length squared and ψ of a length: so is their product.
            reach = np.sqrt(np.max(np.sum(A * A, axis=1), initial=0.0))
            weight = float(max(damping * violation * reach, (self._ignored * reach) ** 2))
            if not np.isfinite(weight):  # rows overflow here
                break
            step = self._step(q, A, residual, weight, within_limits)
            trial = self._model.integrate(q, step)
            trial_A, trial_residual = self._rows(trial)
            iterations += 1
            if np.linalg.norm(trial_residual) < violation:
                q, A, residual = trial, trial_A, trial_residual
                damping = max(0.3 * damping, _LEAST_DAMPING)
            elif self._closed(residual, tolerance):
                break
            else:
                damping *= 10.0
            if np.linalg.norm(step) < _SMALLEST_STEP:
                break
        self._workspace.update_positions(q)  # the last trial may have been rejected
        return self._result(q, A, residual, tolerance, iterations)

    def _closed(self, residual: Array, tolerance: float) -> bool:
        return largest(residual[self._rigid]) <= tolerance

    def _rows(self, q: Array) -> tuple[Array, Array]:
        self._workspace.update_positions(q)
        found = [
            (rows, constraints.position(self._workspace, self.t, q, reference))
            for constraints, rows, reference in self._sets
        ]
        A = np.concatenate([part[0][rows] for rows, part in found])
        return A, np.concatenate([part[1][rows] for rows, part in found]) - self._away

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
        step[self._free] = np.linalg.lstsq(matrix, target)[0]
        if not (within_limits and len(self._bounded_v)):
            return step
        room = np.full((2, nv), np.inf) * [[-1.0], [1.0]]
        room[0, self._bounded_v] = self._model.lower[self._bounded_v] - q[self._bounded_q]
        room[1, self._bounded_v] = self._model.upper[self._bounded_v] - q[self._bounded_q]
        # lsq_linear needs lower < upper; a joint with lower = upper stays.
        lower, upper = np.minimum(room[0], 0.0) - 1e-15, np.maximum(room[1], 0.0) + 1e-15
        if (lower <= step).all() and (step <= upper).all():
            return step
        from scipy.optimize import lsq_linear  # takes long to import

        bounds = (lower[self._free], upper[self._free])
        step[self._free] = lsq_linear(matrix, target, bounds, method="bvls", tol=1e-14).x
        return step

    def _result(
        self, q: Array, A: Array, residual: Array, tolerance: float, iterations: int
    ) -> Assembly:
        violations: dict[str, float] = {}
        left = residual
        for constraints, rows, _ in self._sets:
            errors = np.zeros(len(constraints))
            errors[rows], left = left[: len(rows)], left[len(rows) :]
            errors /= constraints.reference_scale
            violations |= {name: largest(errors[rows]) for name, rows in constraints.slices.items()}
        closed = self._closed(residual, tolerance)
        reason = ""
        reversed_axes: tuple[str, ...] = ()
        worst = max(violations, key=lambda name: violations[name], default="")
        if not closed and self._unmoved(q, A, worst):
            reason = (
                f"no joint that is free moves what {worst} connects{self._or_hold_others()};"
                " correct its frames, or leave it out"
            )
        elif not closed:
            reason = (
                "no further step brings the loops together; check lengths and offsets, or start "
                f"from another initial_guess{self._or_hold_others()}"
            )
        else:
            reversed_axes = self._sets[0][0].reversed_axes(self._workspace)
            if reversed_axes:
                closed = False
                violations |= dict.fromkeys(reversed_axes, float(np.pi))
                reason = (
                    f"the axes of {', '.join(reversed_axes)} point against each other; "
                    "start from another initial_guess or turn the child frame by rpy"
                )
        in_loops = np.any(A != 0.0, axis=0)
        outside = tuple(
            sorted(
                self._model.limit_violations(q),
                key=lambda found: not in_loops[self._model.velocity_index(found.joint)],
            )
        )
        return Assembly(q, closed, reason, violations, iterations, outside, bool(reversed_axes))

    def _unmoved(self, q: Array, A: Array, name: str) -> bool:
        """Whether no free joint changes any row of a constraint, here or in a bent pose."""
        constraints, held, _ = self._sets[0]
        if name not in constraints.slices:  # a task
            return False
        places = constraints.slices[name]
        own = (held >= places.start) & (held < places.stop)
        step = np.zeros(self._model.nv)
        step[self._free] = np.random.default_rng(0).uniform(-0.5, 0.5, len(self._free))
        bent = self._rows(self._model.integrate(q, step))[0]
        self._workspace.update_positions(q)
        return not any(rows[: len(held)][own][:, self._free].any() for rows in (A, bent))

    def _or_hold_others(self) -> str:
        names = self._model.velocity_names
        held = sorted(set(range(len(names))) - set(self._free.tolist()))
        if not held:
            return ""
        shown = ", ".join(names[index] for index in held[:3]) + (", ..." if len(held) > 3 else "")
        return f"; {shown} {'was' if len(held) == 1 else 'were'} held: the loops may not allow that"
