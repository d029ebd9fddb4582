# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What motors can do for tasks at one configuration, and why not more."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from uk_dynamics.core.equation import Factorization
from uk_dynamics.core.servo import servo_efforts
from uk_dynamics.exceptions import UndeterminedMotionError
from uk_dynamics.mechanism.dynamics.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array, State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.model.kinematics import Workspace

_STEP = 1e-5  # rad or m, of the fastest coordinate
_NOTICEABLE = 1e-6  # of the accelerations per rad or m: what is below is rounding of differences


@dataclass(frozen=True)
class TaskReport:
    """What the motors can do for the tasks at one configuration."""

    names: tuple[str, ...]  # task names
    rows: int  # number of task rows
    independent_rows: int  # rank of the rows within the motions the structure leaves
    reachable_rows: int  # rank of A_t N S (servo paper (34)): what the motors move
    unreachable: tuple[str, ...]  # names of the rows that the motors cannot serve whatever is asked
    reason: str = ""  # why they cannot; empty where they can
    actuation: str = ""  # full, under- or redundant actuation of the tasks
    # what each task that the motors cannot serve does not get of what its file asks at t = 0, by
    # name: norm of b_t − A_t q̈ in m/s², limits aside
    missing: dict[str, float] = field(default_factory=dict)
    # how far each row is from its reference at t = 0, value − reference, in m or rad
    errors: dict[str, float] = field(default_factory=dict)


def task_report(
    mechanism: ResolvedMechanism,
    tasks: Tasks,
    factorization: Factorization,
    workspace: Workspace,
    q: Array,
    v: Array,
) -> TaskReport:
    """Examine tasks."""
    rows, constraints = tasks.evaluate(workspace, q, v, 0.0), tasks.constraints
    A, S = rows.A, mechanism.actuators.matrix
    desired = rows.right_hand_side(constraints.damping, constraints.stiffness)
    try:
        free = InterpretedDynamics(mechanism).evaluate(State(0.0, q, v)).qdd
    except UndeterminedMotionError:  # what is missing is not determined either
        free, desired = np.zeros(mechanism.model.nv), np.zeros(len(A))
    servo = servo_efforts(
        factorization,
        free,
        S,
        A,
        desired,
        rank_tolerance=mechanism.spec.solver.task_rank_tolerance,
    )
    missed = ~servo.controllable
    reason = ""
    if servo.rank < servo.task_rank:
        motion = factorization.admissible(S)
        freedoms = int(np.linalg.matrix_rank(motion)) if motion.size else 0
        if 0 < freedoms <= servo.rank:
            reason = f"they drive {freedoms} freedom{'s' * (freedoms > 1)}, all in use"
        else:
            reason = _reason(mechanism, A[missed], motion, q, v)
    return TaskReport(
        names=tasks.names,
        rows=len(A),
        independent_rows=servo.task_rank,
        reachable_rows=servo.rank,
        unreachable=tuple(tasks.row_names[index] for index in np.flatnonzero(missed).tolist()),
        reason=reason,
        actuation=servo.actuation,
        missing={
            name: float(np.linalg.norm(servo.residual[part]))
            for name, part in constraints.slices.items()
            if not servo.reachable[part].all()
        },
        errors={
            name: float(error)
            for name, error, held in zip(
                tasks.row_names,
                rows.residual / constraints.reference_scale,
                constraints.position_rows,
                strict=True,
            )
            if held
        },
    )


def _reason(mechanism: ResolvedMechanism, A: Array, motion: Array, q: Array, v: Array) -> str:
    """Whether what motors move acts on the tasks later, through forces that depend on it."""
    if not len(mechanism.actuators):
        return "there are no motors"
    dynamics = InterpretedDynamics(mechanism)
    sizes = np.abs(motion).max(axis=0)
    if not sizes.any():
        return "the motors move nothing: the structure holds all that they act on"

    def answer(position: Array, velocity: Array) -> Array:
        state = State(0.0, mechanism.model.integrate(q, position), v + velocity)
        acceleration: Array = A @ dynamics.evaluate(state).qdd
        return acceleration

    still = np.zeros(mechanism.model.nv)
    means = []
    for word, by_position in (("positions", True), ("velocities", False)):
        largest = 0.0
        for direction in (motion[:, sizes > 0.0] / sizes[sizes > 0.0]).T:
            step = _STEP * direction
            if by_position:
                change = answer(step, still) - answer(-step, still)
            else:
                change = answer(still, step) - answer(still, -step)
            largest = max(largest, float(np.abs(change).max(initial=0.0)) / (2.0 * _STEP))
        if largest > _NOTICEABLE * max(1.0, float(np.abs(answer(still, still)).max(initial=0.0))):
            means.append(word)
    at_once = "an effort accelerates none of it at once"
    if not means:
        return f"{at_once}, and no force couples it with what the motors move"
    if means == ["velocities"]:
        return f"{at_once}; it is coupled with the motors by dampers only, once they turn"
    return f"{at_once}; it is coupled with the motors by springs or weights, once they have moved"
