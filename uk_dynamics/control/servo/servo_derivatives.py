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

from enum import Enum
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from uk_dynamics.compilation import TaskSlopes
from uk_dynamics.control.servo.interpreted_servo import InterpretedServo
from uk_dynamics.control.servo.task_gains import TaskGains
from uk_dynamics.derivatives import DerivativeBackend, MotionDerivatives
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import (
    FOLLOWS_WITHIN,
    Demand,
    InterpretedDynamics,
    References,
)
from uk_dynamics.mechanism.resolution import Array, Inputs, State

_AT_A_LIMIT = 1e-9  # of the largest effort
_INDEPENDENT = 1e-8  # part of a task row that others leave
_HELD_BY = 1e-7  # of the largest weighted effort: a limit that holds with less is about to let go


class EffortStatus(Enum):
    """Whether efforts have derivatives at a state."""

    EXIST = "exist"
    RANK_CHANGES = "rank changes"  # of the structure, or of what motors can serve
    TASKS_MISSED = "tasks missed"  # efforts are a compromise between tasks
    LIMITS_CHANGE = "limits change"  # a motor is about to reach a limit, or to leave one


class EffortDerivatives(NamedTuple):
    """Derivatives of motor efforts; columns of q are those of the velocities.

    Attributes:
        efforts: u, (motors,), in N or N·m.
        q: (motors, nv), per m or rad.
        v: (motors, nv), per m/s or rad/s.
        t: While references are held, (motors,), per s.
        values: By the references of the task rows, (motors, mt).
        rates: By their rates, (motors, mt).
        accelerations: By their second derivatives, (motors, mt).
        limited: Whether each motor is at a limit, which is held, (motors,).
        motions: Changes (δq, δv) that keep all loops closed, as columns, (2 nv, f). Where rows of
            the structure are redundant, derivatives mean something along these alone.
        status: Whether they exist; they are NaN where they do not.
    """

    efforts: Array
    q: Array
    v: Array
    t: Array
    values: Array
    rates: Array
    accelerations: Array
    limited: NDArray[np.bool_]
    motions: Array
    status: EffortStatus


class ServoDerivatives:
    """Differentiates the law of some tasks at many states; not to be shared between threads."""

    def __init__(self, tasks: Tasks, backend: DerivativeBackend = "cached") -> None:
        """Trace the tasks.

        Args:
            tasks: What the motors are to do.
            backend: What evaluates the derivatives of the structure, as of
                :class:`~uk_dynamics.MotionDerivatives`.

        Raises:
            InputError: Efforts are distributed otherwise than by least uᵀ W u; or the motion has no
                derivatives, see :class:`~uk_dynamics.MotionDerivatives`.
        """
        if tasks.spec.distribution != "effort" or tasks.by_generalized_inverse.any():
            raise InputError(
                "derivatives of the servo law need distribution: effort and feedback without"
                f" generalized_inverse; found distribution: {tasks.spec.distribution}",
                file=tasks.spec.file,
            )
        self._tasks, self._mechanism = tasks, tasks.mechanism
        self._motion = MotionDerivatives(tasks.mechanism, backend)
        self._dynamics = InterpretedDynamics(tasks.mechanism, tasks.model)
        self._law = InterpretedServo(tasks)
        self._slopes = TaskSlopes(tasks)
        self._gains = TaskGains(tasks.constraints)

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
        law, tasks = self._law, self._tasks
        weights = tasks.allocation.weights
        feedback = self._gains.feedback(law.errors(state, references))
        demand = Demand(feedback, None, weights, preload, Inputs())
        outcome = law.evaluate(state, demand, references)
        efforts, count = outcome.servo.efforts, len(weights)
        limited = np.zeros(count, dtype=bool)
        if lower is not None or upper is not None:
            lower = np.full(count, -np.inf) if lower is None else lower
            upper = np.full(count, np.inf) if upper is None else upper
            law.forget()
            efforts, _ = law.allocate(outcome.servo, demand, lower, upper)
            near = _AT_A_LIMIT * (1.0 + np.abs(efforts).max(initial=0.0))
            limited = (efforts <= lower + near) | (efforts >= upper - near)
            upper_held = efforts >= upper - near
        status = EffortStatus.EXIST
        if outcome.servo.missed(efforts)[1].any():
            status = EffortStatus.TASKS_MISSED
        system = self._system(state, efforts, limited, references, weights, preload)
        motions = self._motion.at(state, Inputs(self._mechanism.actuators.matrix @ efforts))
        found, pulls = system
        if found is None or not motions.exist:
            status = EffortStatus.RANK_CHANGES if status is EffortStatus.EXIST else status
        elif limited.any():
            outward = np.where(upper_held, 1.0, -1.0) * pulls
            if (outward[limited] <= _HELD_BY * (1.0 + np.abs(pulls).max())).any():
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
        edges = (nv, 2 * nv, 2 * nv + 1, *(2 * nv + 1 + k * mt for k in (1, 2)))
        q, v, t, values, rates, accelerations = np.split(whole, edges, axis=1)
        return EffortDerivatives(
            efforts,
            q,
            v,
            t[:, 0],
            values,
            rates,
            accelerations,
            limited,
            motions.motions,
            status,
        )

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
            self._gains.damping,
            self._gains.stiffness,
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
    rank = int((np.abs(np.diag(R)) > _INDEPENDENT).sum())
    return np.sort(order[:rank])
