# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of the servo law's efforts with respect to the state and to what tasks follow.

The efforts are those of least (u − s)ᵀ W (u − s) with which the structure follows the tasks (servo
paper (32), (35)): with p, r, ν for the two equations of motion and the tasks,

    M q̈ − Aᵀλ − S u = F,   A q̈ = b,   A_t q̈ = b_t,
    M p + Aᵀr + A_tᵀν = 0,   A p = 0,   Sᵀp = W (u − s)   for motors that are not at a limit.

Its derivative is the same linear system with what its terms change by on the right, while the
unknowns are held (implicit differentiation; with limits, Fiacco, Introduction to Sensitivity and
Stability Analysis in Nonlinear Programming, 1983, section 3.2). Products of M, A and A_t with p, r,
ν change as those with q̈ and λ do, so no second derivatives are written.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from uk_dynamics.compilation import (
    CompiledEfforts,
    EffortSettings,
    ManyEfforts,
    TaskSlopes,
    effort_sparsity,
    efforts_in_c,
)
from uk_dynamics.core.servo import (
    HELD_BY,
    HELD_WITHIN,
    SERVED,
    LimitedAllocation,
    ServoSolution,
    servo_efforts,
)
from uk_dynamics.derivatives.differentiator import (
    DerivativeBackend,
    differentiable,
    followed_by,
    many_states,
)
from uk_dynamics.derivatives.effort_derivatives import (
    BatchEffortDerivatives,
    EffortDerivatives,
    EffortPatterns,
    EffortStatus,
)
from uk_dynamics.derivatives.motion_derivatives import MotionDerivatives
from uk_dynamics.exceptions import InputError, UndeterminedMotionError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import (
    FOLLOWS_WITHIN,
    InterpretedDynamics,
    References,
    StructuralRows,
)
from uk_dynamics.mechanism.resolution import Array, Inputs, State

T = TypeVar("T", bound=np.generic)

# of uk_effort_slopes; the others are left to Python
_STATUS = {
    0: EffortStatus.EXIST,
    4: EffortStatus.RANK_CHANGES,
    5: EffortStatus.TASKS_MISSED,
    6: EffortStatus.LIMITS_CHANGE,
}


class ServoDerivatives:
    """Differentiates the law of some tasks at many states; not to be shared between threads."""

    def __init__(self, tasks: Tasks, backend: DerivativeBackend = "cached") -> None:
        """Trace the tasks.

        Args:
            tasks: What the motors are to do.
            backend: As of :class:`~uk_dynamics.MotionDerivatives`. Compiled, all is computed in C
                but what has no solution there; the library is made when it is first asked for.

        Raises:
            InputError: Efforts are distributed otherwise than by least uᵀ W u; or the motion has no
                derivatives, see :class:`~uk_dynamics.MotionDerivatives`.
        """
        if not has_effort_derivatives(tasks):
            raise InputError(
                "derivatives of the servo law need distribution: effort and feedback without"
                f" generalized_inverse; found distribution: {tasks.spec.distribution}",
                file=tasks.spec.file,
            )
        self._tasks, self._mechanism = tasks, tasks.mechanism
        self._backend = backend
        self._fixed = differentiable(tasks.mechanism)  # parameters are constants here
        self._dynamics = InterpretedDynamics(tasks.mechanism, tasks.model)
        self._rows = StructuralRows(tasks.mechanism)

    @cached_property
    def patterns(self) -> EffortPatterns:
        """Which derivatives of the efforts do not vanish by structure."""
        return EffortPatterns(*self._split(effort_sparsity(self._tasks)))

    def at(
        self,
        state: State,
        *,
        references: References | None = None,
        lower: Array | None = None,
        upper: Array | None = None,
        preload: Array | None = None,
    ) -> EffortDerivatives:
        """At a state: efforts of the law itself, without prediction and bumpless start.

        Args:
            state: Where the mechanism is.
            references: Samples, or functions of time, that replace those of the tasks file.
            lower: Smallest efforts, (motors,); None: no limits.
            upper: Largest efforts, (motors,).
            preload: s, the efforts to come close to, (motors,); None: zero.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            UnknownNameError, StateError: Of the references.
        """
        if self._compiled is not None:
            q, v, times = (np.array([x], dtype=float) for x in (state.q, state.v, state.t))
            settings = self._settings(lower, upper, preload)
            found = self._in_c(q, v, times, references, settings, None)
            status = _STATUS.get(int(found.status[0]))
            if status is not None:
                limited, motions = found.held[0] > 0.0, np.array(found.motions.T)
                slopes = self._split(found.slopes[0])
                return EffortDerivatives(found.efforts[0], *slopes, limited, motions, status)
        return self._in_python(state, references, lower, upper, preload)

    def batch(
        self,
        q: Array,
        v: Array,
        t: Array | float = 0.0,
        *,
        references: References | None = None,
        lower: Array | None = None,
        upper: Array | None = None,
        preload: Array | None = None,
        threads: int | None = None,
    ) -> BatchEffortDerivatives:
        """At many states in one call.

        Args:
            q: Configurations, (K, nq).
            v: Velocities, (K, nv).
            t: In s, (K,) or one for all.
            references: As of :meth:`at`, and so are limits and preload: the same for all states.
            lower: (motors,).
            upper: (motors,).
            preload: (motors,).
            threads: At most so many; None: as many as there are processors.

        Raises:
            InputError: The shapes do not fit.
            CompilationError: It cannot be compiled.
            UnknownNameError, StateError: Of the references.
        """
        q, v, _, times = many_states(self._mechanism, q, v, None, t)
        if self._compiled is None:
            nv, mt = self._mechanism.model.nv, len(self._tasks.constraints)
            motors = len(self._mechanism.actuators)
            found = ManyEfforts.none(len(v), motors, 2 * nv + 1 + 3 * mt)
        else:
            settings = self._settings(lower, upper, preload)
            found = self._in_c(q, v, times, references, settings, threads)
        status = np.array([_STATUS.get(int(x)) for x in found.status], dtype=object)
        parts = self._split(found.slopes)
        for k in [k for k, known in enumerate(status) if known is None]:
            found.efforts[k] = found.held[k] = found.slopes[k] = np.nan
            state = State(float(times[k % len(times)]), q[k], v[k])
            if not all(np.isfinite(x).all() for x in (state.t, state.q, state.v)):
                status[k] = EffortStatus.NOT_FINITE
                continue
            try:
                one = self._in_python(state, references, lower, upper, preload)
            except UndeterminedMotionError:
                status[k] = EffortStatus.UNDETERMINED
                continue
            found.efforts[k], found.held[k], status[k] = one.efforts, one.limited, one.status
            for whole, part in zip(parts, one[1:7], strict=True):
                whole[k] = part
        return BatchEffortDerivatives(found.efforts, *parts, found.held > 0.0, status)

    @cached_property
    def _compiled(self) -> CompiledEfforts | None:
        if self._backend == "interpreted":
            return None
        tasks = self._tasks
        if self._fixed is not tasks.mechanism:
            tasks = Tasks(tasks.spec, self._fixed)
        return efforts_in_c(tasks, make=self._backend == "compiled")

    def _settings(
        self, lower: Array | None, upper: Array | None, preload: Array | None
    ) -> EffortSettings:
        weights, rows = self._tasks.allocation.weights, self._tasks.constraints
        return EffortSettings(weights, preload, lower, upper, rows.damping, rows.stiffness)

    def _in_c(
        self,
        q: Array,
        v: Array,
        times: Array,
        references: References | None,
        settings: EffortSettings,
        threads: int | None,
    ) -> ManyEfforts:
        assert self._compiled is not None
        nothing = np.zeros(3 * len(self._tasks.constraints))
        samples = [self._tasks.sample(float(t), references) for t in times]
        asked = np.array([nothing if x is None else np.concatenate(x) for x in samples])
        followed = followed_by(self._rows, times)
        return self._compiled.differentiate(q, v, times, followed, asked, settings, threads)

    def _split(
        self, slopes: NDArray[T]
    ) -> tuple[NDArray[T], NDArray[T], NDArray[T], NDArray[T], NDArray[T], NDArray[T]]:
        """By q, v, t, values, rates, accelerations."""
        nv, mt = self._mechanism.model.nv, len(self._tasks.constraints)
        edges = (nv, 2 * nv, 2 * nv + 1, *(2 * nv + 1 + k * mt for k in (1, 2)))
        q, v, t, values, rates, accelerations = np.split(slopes, edges, axis=-1)
        return q, v, t[..., 0], values, rates, accelerations

    def _in_python(
        self,
        state: State,
        references: References | None,
        lower: Array | None,
        upper: Array | None,
        preload: Array | None,
    ) -> EffortDerivatives:
        tasks = self._tasks
        weights = tasks.allocation.weights
        servo = self._law(state, references, preload)
        efforts, count = servo.efforts, len(weights)
        limited = np.zeros(count, dtype=bool)
        if lower is not None or upper is not None:
            lower = np.full(count, -np.inf) if lower is None else lower
            upper = np.full(count, np.inf) if upper is None else upper
            tolerance = self._mechanism.spec.solver.task_rank_tolerance
            allocation = LimitedAllocation(tasks.priorities, weights, tolerance)
            efforts = allocation.solve(servo.map, servo.wanted, lower, upper, servo.efforts)
            near = HELD_WITHIN * (1.0 + np.abs(efforts).max(initial=0.0))
            limited = (efforts <= lower + near) | (efforts >= upper - near)
            upper_held = efforts >= upper - near
        status = EffortStatus.EXIST
        if servo.missed(efforts)[1].any():
            status = EffortStatus.TASKS_MISSED
        system = self._system(state, efforts, limited, references, weights, preload)
        motions = self._motion.at(state, Inputs(self._mechanism.actuators.matrix @ efforts))
        found, pulls = system
        if found is None or not motions.exist:
            status = EffortStatus.RANK_CHANGES if status is EffortStatus.EXIST else status
        elif limited.any():
            outward = np.where(upper_held, 1.0, -1.0) * pulls
            if (outward[limited] <= HELD_BY * (1.0 + np.abs(pulls).max())).any():
                status = EffortStatus.LIMITS_CHANGE if status is EffortStatus.EXIST else status
        nv, mt = self._mechanism.model.nv, len(tasks.constraints)
        whole = np.full((count, 2 * nv + 1 + 3 * mt), np.nan)
        if found is not None and status is EffortStatus.EXIST:
            changes = np.eye(2 * nv + 1 + 3 * mt)
            changes = np.column_stack(
                [changes[:, 2 * nv :], np.pad(motions.motions, ((0, 1 + 3 * mt), (0, 0)))]
            )
            left = np.abs(found.left @ changes)
            if (left > FOLLOWS_WITHIN * (1.0 + found.size @ np.abs(changes))).any():
                status = EffortStatus.RANK_CHANGES
            else:
                whole = found.efforts
        slopes = self._split(whole)
        return EffortDerivatives(efforts, *slopes, limited, motions.motions, status)

    def _law(
        self, state: State, references: References | None, preload: Array | None
    ) -> ServoSolution:
        """Efforts of the law without limits."""
        tasks, mechanism = self._tasks, self._mechanism
        prepared = self._dynamics.prepare(state, Inputs())
        rows = tasks.evaluate(prepared.workspace, state.q, state.v, state.t, references)
        constraints = tasks.constraints
        return servo_efforts(
            prepared.factorization,
            self._dynamics.solve(prepared, state, Inputs()).qdd,
            mechanism.actuators.matrix,
            rows.A,
            -rows.bias - constraints.damping * rows.rate - constraints.stiffness * rows.residual,
            weights=tasks.allocation.weights,
            preload=preload,
            rank_tolerance=mechanism.spec.solver.task_rank_tolerance,
        )

    @cached_property
    def _motion(self) -> MotionDerivatives:
        backend: DerivativeBackend = "interpreted" if self._backend == "interpreted" else "cached"
        return MotionDerivatives(self._fixed, backend)

    @cached_property
    def _slopes(self) -> TaskSlopes:
        return TaskSlopes(self._tasks)

    def _system(
        self,
        state: State,
        efforts: Array,
        limited: NDArray[np.bool_],
        references: References | None,
        weights: Array,
        preload: Array | None,
    ) -> tuple[_Solved | None, Array]:
        """Derivatives of the efforts, and how hard the optimum pushes each motor up."""
        S, tasks = self._mechanism.actuators.matrix, self._tasks
        given = Inputs(S @ efforts)
        prepared = self._dynamics.prepare(state, given)
        solution = self._dynamics.solve(prepared, state, given)
        terms, rows = prepared.terms, np.sort(prepared.factorization.independent)
        A, M, nv, nu = terms.A[rows], np.asarray(terms.M), len(state.v), len(efforts)
        reference = tasks.sample(state.t, references)
        A_t = tasks.evaluate(prepared.workspace, state.q, state.v, state.t, references).A
        open_motors = np.flatnonzero(~limited)
        served = _independent_tasks(prepared.factorization.admissible(S[:, open_motors]), A_t)
        B, r, mt = A_t[served], len(rows), len(served)
        wish = efforts - (0.0 if preload is None else preload)
        # p, r, ν of the least efforts
        adjoint = np.block(
            [
                [M, A.T, B.T],
                [A, np.zeros((r, r + mt))],
                [S[:, open_motors].T, np.zeros((len(open_motors), r + mt))],
            ]
        )
        right = np.concatenate([np.zeros(nv + r), (weights * wish)[open_motors]])
        held = np.linalg.lstsq(adjoint, right, rcond=None)[0]
        p, push, nu_t = held[:nv], held[nv : nv + r], held[nv + r :]
        pulls = S.T @ p - weights * wish
        everywhere = np.zeros(len(terms.A))
        everywhere[rows] = push
        carrying = np.zeros(len(terms.A))
        if r:
            carrying[rows] = np.linalg.lstsq(A.T, solution.ideal_force, rcond=None)[0]
        task_multipliers = np.zeros(len(A_t))
        task_multipliers[served] = nu_t

        slopes, none = self._motion.equation_slopes, np.zeros(len(terms.A))
        motion = slopes(state, solution.qdd, carrying)
        still = slopes(state, np.zeros(nv), none)
        adjoined = slopes(state, p, -everywhere)
        asked, pushed = self._slopes.at(
            state,
            solution.qdd,
            task_multipliers,
            reference,
            tasks.constraints.damping,
            tasks.constraints.stiffness,
        )
        width = asked.shape[1]

        def wide(part: Array) -> Array:
            return np.pad(part, ((0, 0), (0, width - part.shape[1])))

        n = 2 * (nv + r) + mt + nu
        K, change = np.zeros((n, n)), np.zeros((n, width))
        x, lam, u, y, z, w = np.split(
            np.arange(n), np.cumsum([nv, r, nu, nv, r])
        )  # q̈, λ, u, p, r, ν
        at = iter(np.split(np.arange(n), np.cumsum([nv, r, mt, nv, r])))
        line = next(at)
        K[np.ix_(line, x)], K[np.ix_(line, lam)], K[np.ix_(line, u)] = M, -A.T, -S
        change[line] = wide(motion.motion)
        line = next(at)
        K[np.ix_(line, x)], change[line] = A, wide(motion.rows[rows])
        line = next(at)
        K[np.ix_(line, x)], change[line] = B, -asked[served]
        line = next(at)
        K[np.ix_(line, y)], K[np.ix_(line, z)], K[np.ix_(line, w)] = M, A.T, B.T
        change[line] = wide(adjoined.motion - still.motion) - pushed
        line = next(at)
        K[np.ix_(line, y)] = A
        change[line] = wide((adjoined.rows - still.rows)[rows])
        line = next(at)
        for row, motor in zip(line, range(nu), strict=True):
            if limited[motor]:
                K[row, u[motor]] = 1.0
            else:
                K[row, u[motor]] = weights[motor]
                K[row, y] = -S[:, motor]
        try:
            answer = scipy.linalg.solve(K, change)
        except np.linalg.LinAlgError:
            return None, pulls
        others = np.setdiff1d(np.arange(len(A_t)), served)
        left = A_t[others] @ answer[x] + asked[others]
        size = np.abs(A_t[others]) @ np.abs(answer[x]) + np.abs(asked[others])
        return _Solved(answer[u], left, size), pulls


def has_effort_derivatives(tasks: Tasks) -> bool:
    """Whether the law distributes efforts by least uᵀ W u."""
    return tasks.spec.distribution == "effort" and not tasks.by_generalized_inverse.any()


class _Solved(NamedTuple):
    efforts: Array  # (motors, columns)
    left: Array  # what dependent task rows are off by, (k, columns)
    size: Array  # and what they are made of


def _independent_tasks(response: Array, A_t: Array) -> NDArray[np.intp]:
    """Task rows that motors serve one by one, response being N S, (nv, motors)."""
    C = A_t @ response
    if not C.size:
        return np.zeros(0, dtype=np.intp)
    norms = np.linalg.norm(C, axis=1)
    scaled = C / np.where(norms > 0.0, norms, 1.0)[:, None]
    _, R, order = scipy.linalg.qr(scaled.T, mode="economic", pivoting=True)
    rank = int((np.abs(np.diag(R)) > SERVED).sum())
    return np.sort(order[:rank])
