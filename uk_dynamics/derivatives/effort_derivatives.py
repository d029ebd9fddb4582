# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of the servo law's efforts with respect to the state and to what tasks follow.

The efforts are those of least (u − s)ᵀ W (u − s) with which the structure follows the tasks (servo
paper (32), (35)): with p, r, ν for the two equations of motion and the tasks,

    M q̈ − Aᵀλ − S u = F,   A q̈ = b,   A_t q̈ = b_t,
    M p + Aᵀr + A_tᵀν = 0,   A p = 0,   Sᵀp = W (u − s)   for motors that are not at a limit.

Its derivative is the same linear system with what its terms change by on the right, while the
unknowns are held (implicit differentiation; with limits, Fiacco, Introduction to Sensitivity and
Stability Analysis in Nonlinear Programming, 1983, section 3.2). Products of M, A and A_t with p, r,
ν change as those with q̈ and λ do, so no second derivatives are written. N and C of the motion
answer the two equations with M and A, for motion and adjoint alike; with B the independent tasks

    G du = g,    W du + Gᵀdν = Sᵀ dp − d[W (u − s)],    G = B N S,

is left, for motors that are not at a limit: du is the least one in the metric of W, and what dp
asks for where the tasks leave freedom.
"""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from uk_dynamics.compilation import Library, States
from uk_dynamics.compilation.derivatives import TaskValues, effort_pattern
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
    answer,
    differentiable,
    empty,
    independent_multipliers,
)
from uk_dynamics.derivatives.motion_derivatives import MotionDerivatives
from uk_dynamics.derivatives.state_by_state import Arrays, Given, StateByState
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import (
    FOLLOWS_WITHIN,
    Derivative,
    Derivatives,
    DerivativeStatus,
    InterpretedDynamics,
    Quantities,
    References,
    effort_columns,
)
from uk_dynamics.mechanism.resolution import Array, Inputs, State


class ServoDerivatives(StateByState):
    """Differentiates the efforts of the servo law of some tasks; threads may share it.

    Those of the law itself, without prediction and bumpless start. Columns are those of
    ``effort_columns``.
    """

    _library = Library.EFFORTS

    def __init__(self, tasks: Tasks, backend: DerivativeBackend = "cached") -> None:
        """Take the tasks; what they need is traced or compiled when it is first asked for.

        Args:
            tasks: What the motors are to do.
            backend: As of :class:`~uk_dynamics.MotionDerivatives`. Compiled, all is computed in C
                but what has no solution there.

        Raises:
            InputError: Efforts are distributed otherwise than by least uᵀ W u; or the motion has no
                derivatives, see :class:`~uk_dynamics.MotionDerivatives`.
        """
        if not has_effort_derivatives(tasks):
            raise InputError(
                "derivatives of the servo law need distribution: effort and feedback without"
                " generalized_inverse, no task that is relaxed, and no robust; found distribution:"
                f" {tasks.spec.distribution}",
                file=tasks.spec.file,
            )
        super().__init__(differentiable(tasks.mechanism), backend)
        self._tasks, self._motors = tasks, len(tasks.mechanism.actuators)
        self._dynamics = InterpretedDynamics(tasks.mechanism, tasks.model)
        self._groups = effort_columns(
            self._mechanism.model.nv, len(tasks.constraints), self._motors
        )
        self._zero, self._highest = np.zeros(self._motors), np.full(self._motors, np.inf)
        self._lowest, self._nothing = -self._highest, np.zeros(3 * len(tasks.constraints))

    @cached_property
    def patterns(self) -> Quantities:
        """Derivatives that may differ from zero at any state, as booleans."""
        return Quantities({"efforts": Derivative(effort_pattern(self._tasks), self._groups)})

    def at(
        self,
        state: State,
        *,
        references: References | None = None,
        lower: Array | None = None,
        upper: Array | None = None,
        preload: Array | None = None,
    ) -> Derivatives:
        """Differentiate at a state.

        Args:
            state: Where the mechanism is.
            references: Samples, or functions of time, that replace those of the tasks file.
            lower: Smallest efforts, (motors,); None: no limits.
            upper: Largest efforts, (motors,).
            preload: s, the efforts to come close to, (motors,); None: zero.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            UnknownNameError, StateError: Of the references.
            CompilationError: With backend ``compiled``: it cannot be compiled.
        """
        return self._at(state, self._given(references, lower, upper, preload))

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
    ) -> Derivatives:
        """Differentiate at many states in one call.

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
        given = self._given(references, lower, upper, preload)
        return self._batch(self._states(q, v, None, t), given, threads)

    def _subject(self) -> Tasks | None:
        tasks = self._tasks
        if self._mechanism is not tasks.mechanism:
            tasks = Tasks(tasks.spec, self._mechanism)
        return tasks if self._wanted(self._library, tasks) else None

    def _interpreted(self) -> "ServoDerivatives":
        return ServoDerivatives(self._tasks, "interpreted")

    @cached_property
    def _motion(self) -> MotionDerivatives:
        backend: DerivativeBackend = "interpreted" if self._backend == "interpreted" else "cached"
        return MotionDerivatives(self._mechanism, backend)

    def _given(
        self,
        references: References | None = None,
        lower: Array | None = None,
        upper: Array | None = None,
        preload: Array | None = None,
    ) -> Given:
        rows = self._tasks.constraints
        settings = {
            "weights": self._tasks.allocation.weights,
            "preload": self._zero if preload is None else preload,
            "lower": self._lowest if lower is None else lower,
            "upper": self._highest if upper is None else upper,
            "task_damping": rows.damping,
            "task_stiffness": rows.stiffness,
        }
        return Given(settings, references)

    def _asked(self, t: float, given: Given) -> Array:
        sample = self._tasks.sample(t, given.references)
        return self._nothing.copy() if sample is None else np.concatenate(sample)

    def _room(self, states: States, given: Given) -> tuple[Derivatives, Arrays]:
        sizes = {"efforts": self._motors}
        found = empty(len(states.v), sizes, self._groups, sizes)
        found.limited = np.zeros((len(states.v), self._motors), dtype=bool)
        efforts = {"efforts": found.efforts.value, "derivatives": found.efforts.whole}
        return found, efforts | {"held": np.empty(found.limited.shape)}

    def _read(self, found: Derivatives, arrays: Arrays) -> None:
        np.greater(arrays["held"], 0.0, out=found.limited)

    def _in_python(self, state: State, tau: Array | None, given: Given) -> Derivatives:
        tasks, settings = self._tasks, given.settings
        lower, upper = settings["lower"], settings["upper"]
        servo = self._law(state, given)
        efforts = servo.efforts
        if np.isfinite([lower, upper]).any():
            tolerance = self._mechanism.spec.solver.task_rank_tolerance
            allocation = LimitedAllocation(tasks.priorities, settings["weights"], tolerance)
            efforts = allocation.solve(servo.map, servo.wanted, lower, upper, efforts)
        near = HELD_WITHIN * (1.0 + np.abs(efforts).max(initial=0.0))
        above = efforts >= upper - near
        limited = above | (efforts <= lower + near)
        found = self._differentiate(state, efforts, limited, given)
        motion = self._motion.at(state, Inputs(self._mechanism.actuators.matrix @ efforts))
        outward = np.where(above, 1.0, -1.0) * found.pulls
        # along what the constraints allow, and by everything but q and v
        changes = np.eye(found.whole.shape[1])
        state_columns = len(motion.motions)
        motions = np.zeros((len(changes), motion.motions.shape[1]))
        motions[:state_columns] = motion.motions
        changes = np.column_stack([changes[:, state_columns:], motions])
        left, size = np.abs(found.left @ changes), found.size @ np.abs(changes)
        status = DerivativeStatus.EXIST
        if servo.missed(efforts)[1].any():
            status = DerivativeStatus.TASKS_MISSED
        elif not motion.exist:
            status = DerivativeStatus.RANK_CHANGES
        elif (outward[limited] <= HELD_BY * (1.0 + np.abs(found.pulls).max(initial=0.0))).any():
            status = DerivativeStatus.LIMITS_CHANGE
        elif (left > FOLLOWS_WITHIN * (1.0 + size)).any():
            status = DerivativeStatus.RANK_CHANGES
        whole = found.whole
        if status is not DerivativeStatus.EXIST:
            whole = np.full(whole.shape, np.nan)
        one = {"efforts": Derivative(whole, self._groups, efforts)}
        return Derivatives(one, status, limited=limited, motions=motion.motions)

    def _law(self, state: State, given: Given) -> ServoSolution:
        """Evaluate the law without limits."""
        tasks, mechanism, settings = self._tasks, self._mechanism, given.settings
        prepared = self._dynamics.prepare(state, Inputs())
        rows = tasks.evaluate(prepared.workspace, state.q, state.v, state.t, given.references)
        gains = settings["task_damping"], settings["task_stiffness"]
        feedback = gains[0] * rows.rate + gains[1] * rows.residual
        return servo_efforts(
            prepared.factorization,
            self._dynamics.solve(prepared, state, Inputs()).qdd,
            mechanism.actuators.matrix,
            rows.A,
            -rows.bias - feedback,
            weights=settings["weights"],
            preload=settings["preload"],
            rank_tolerance=mechanism.spec.solver.task_rank_tolerance,
        )

    @cached_property
    def _task_values(self) -> TaskValues:
        return TaskValues(self._tasks)

    def _differentiate(
        self, state: State, efforts: Array, limited: NDArray[np.bool_], given: Given
    ) -> "_Solved":
        """Differentiate the conditions of the least efforts, as the C does."""
        S, tasks, nv = self._mechanism.actuators.matrix, self._tasks, len(state.v)
        inputs = Inputs(S @ efforts)
        prepared = self._dynamics.prepare(state, inputs)
        solution = self._dynamics.solve(prepared, state, inputs)
        factors, M = prepared.factorization, np.asarray(prepared.terms.M)
        A_t = tasks.evaluate(prepared.workspace, state.q, state.v, state.t, given.references).A
        response, free = factors.admissible(S), ~limited
        weights = given.settings["weights"]
        root = np.sqrt(weights[free])
        served = _independent_tasks(response[:, free], A_t)
        B, G = A_t[served], A_t[served] @ response[:, free] / root
        inverse = np.linalg.pinv(G)
        # p, r, ν of the least efforts
        wish = efforts - given.settings["preload"]
        multipliers = np.zeros(len(A_t))
        multipliers[served] = -inverse.T @ (root * wish[free])
        force = -A_t.T @ multipliers
        p = factors.admissible(force)
        pulls = S.T @ p - weights * wish
        # what the equations change by while the unknowns are held
        carrying = independent_multipliers(factors, solution.ideal_force)
        pushing = independent_multipliers(factors, force - M @ p)
        equations, none = self._motion.equations, np.zeros(len(factors.A))
        motion = equations(state, solution.qdd, carrying)
        still = equations(state, np.zeros(nv), none)
        adjoint = equations(state, p, -pushing)
        asked, pushed, wished = self._task_values.at(
            state,
            tasks.sample(state.t, given.references),
            given.settings,
            qdd=solution.qdd,
            multipliers=multipliers,
            efforts=efforts,
        )
        width = ((0, 0), (0, asked.shape[1] - motion.motion.shape[1]))
        forces = np.pad(adjoint.motion - still.motion, width) - pushed
        dp = answer(factors, forces, np.pad(adjoint.rows - still.rows, width))
        dqdd = answer(factors, np.pad(motion.motion, width), np.pad(motion.rows, width))
        g = -asked[served] - B @ dqdd
        h = (S[:, free].T @ dp - wished[free]) / root[:, None]
        whole = np.zeros((len(efforts), asked.shape[1]))
        whole[free] = (inverse @ (g - G @ h) + h) / root[:, None]
        dqdd += response @ whole
        others = np.setdiff1d(np.arange(len(A_t)), served)
        left = A_t[others] @ dqdd + asked[others]
        size = np.abs(A_t[others]) @ np.abs(dqdd) + np.abs(asked[others])
        return _Solved(whole, pulls, left, size)


def has_effort_derivatives(tasks: Tasks) -> bool:
    """Tell whether the law distributes efforts by least uᵀ W u."""
    if tasks.relaxes or tasks.uncertainty is not None or tasks.side is not None:
        return False
    return tasks.spec.distribution == "effort" and not tasks.by_generalized_inverse.any()


class _Solved(NamedTuple):
    """Derivatives of efforts, and how sure they are."""

    whole: Array  # of the efforts, (motors, n)
    pulls: Array  # how hard the optimum pushes each motor up, (motors,)
    left: Array  # what dependent task rows are off by, (k, n)
    size: Array  # what that is made of


def _independent_tasks(response: Array, A_t: Array) -> NDArray[Any]:
    """Find task rows that motors serve one by one, response being N S, (nv, motors)."""
    C = A_t @ response
    if not C.size:
        return np.zeros(0, dtype=np.intp)
    norms = np.linalg.norm(C, axis=1)
    scaled = C / np.where(norms > 0.0, norms, 1.0)[:, None]
    _, R, order = scipy.linalg.qr(scaled.T, mode="economic", pivoting=True)
    return np.sort(order[: int((np.abs(np.diag(R)) > SERVED).sum())])
