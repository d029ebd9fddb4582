# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Inverse dynamics: motor efforts and loop forces of a given motion, loops and redundancy included.

For trees, recursive Newton–Euler solves this. With loops, joint torques are not enough: passive
joints transmit none, and redundant motors can share the effort in many ways.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress

import numpy as np
from numpy.typing import ArrayLike, NDArray

from uk_dynamics.constraints.rows import ConstraintTerms
from uk_dynamics.control.command import require_motors
from uk_dynamics.control.friction_compensation import compensate_friction
from uk_dynamics.core.linalg import NEGLIGIBLE_ACCELERATION, coordinate_scale
from uk_dynamics.core.servo import ServoSolution, motion_efforts
from uk_dynamics.exceptions import StateError, expect
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import (
    ActiveConstraints,
    Allocation,
    Array,
    DynamicsTerms,
    Inputs,
    State,
    Weights,
)
from uk_dynamics.mechanism_class import Mechanism

_OPEN = 1e-6  # m or rad (rates per s): about the rounding of hand-written numbers
_AGREES = 1e-6  # of the accelerations that cancel in a row
_REACHED = 1e-6  # of the accelerations; a smaller residual is rounding


@dataclass(frozen=True, eq=False)
class InverseDynamics:
    """Efforts and forces of one motion.

    Attributes:
        mechanism: What moves.
        efforts: Of the motors, in declared order, (motors,), in N or N·m.
        qdd: The acceleration, (nv,), in m/s² or rad/s².
        constraint_force: Generalized force of the loops, (nv,), in N or N·m.
        multipliers: Force of each constraint row, (m,), in N (angular rows: N·m per declared
            length); of least norm where redundant rows share it.
        determined: Whether the multiplier of each row is unique, (m,).
        actuation: "fully actuated", "redundantly actuated" …: by the motors, for any motion here.
        missing: The part of the acceleration that the motors cannot cause, by velocity coordinate,
            in m/s² or rad/s²; empty if they cause all of it.
        beyond_limits: Motors that need more effort than their limit.
    """

    mechanism: Mechanism
    efforts: Array
    qdd: Array
    constraint_force: Array
    multipliers: Array
    determined: NDArray[np.bool_]
    actuation: str
    missing: Mapping[str, float]
    beyond_limits: tuple[str, ...]

    @property
    def unreachable(self) -> tuple[str, ...]:
        """Velocity coordinates whose acceleration the motors cannot cause."""
        return tuple(self.missing)

    def by_motor(self) -> dict[str, float]:
        """Efforts by motor name, in N or N·m."""
        return self.mechanism.actuators.by_name(self.efforts)

    def by_row(self) -> dict[str, float]:
        """Force of each constraint row by name, ``constraint.label``, in N or N·m."""
        forces = self.multipliers * self.mechanism.constraints.reference_scale
        return dict(zip(self.mechanism.row_names, forces.tolist(), strict=True))


def inverse_dynamics(
    mechanism: Mechanism,
    state: State,
    qdd: Mapping[str, float] | ArrayLike,
    *,
    tau: Mapping[str, float] | ArrayLike | None = None,
    weights: Weights = "limits",
    preload: Mapping[str, float] | None = None,
    active: ActiveConstraints | None = None,
) -> InverseDynamics:
    """Motor efforts and loop forces of a motion.

    Args:
        mechanism: What moves; at least one motor.
        state: Positions and velocities that satisfy the constraints, as from ``mechanism.start``.
        qdd: Accelerations: all of them, (nv,), or by joint name as many as determine the others
            through the loops, in m/s² or rad/s².
        tau: Other known forces, by joint name or (nv,), in N or N·m. Of forces on links:
            ``mechanism.wrench_forces({link: force}, state.q)``.
        weights: Redundant motors minimise Σ weight·(effort − preload)²: ``limits`` 1/limit²,
            ``equal`` one each, or by motor name.
        preload: Preferred efforts where several cause the same motion, by motor name.
        active: Switchable constraints that are on; None: as in the mechanism file.

    Returns:
        Efforts and forces; if the motors cannot cause the motion, the closest ones, and the part of
        the acceleration that is missing.

    Raises:
        StateError: State or acceleration contradict a constraint, which is named, or too few
            accelerations are given.
        InputError: The mechanism has no motors, or names do not exist.
        UndeterminedMotionError: Some motion has neither inertia nor constraint.
    """
    expect("mechanism", mechanism, Mechanism, 'Mechanism.from_file("five_bar")')
    expect("state", state, State, "mechanism.start()")
    actuators = mechanism.actuators
    require_motors(mechanism)
    allocation = Allocation.given(actuators, weights, preload)
    inputs = Inputs(tau=mechanism.inputs(tau).tau, active=active, stabilize=False)
    dynamics = InterpretedDynamics(mechanism)
    prepared = dynamics.prepare(state, inputs)
    _check_state(mechanism, prepared.rows, state)
    desired = _consistent_acceleration(mechanism, prepared.terms, qdd)
    M = prepared.terms.M.copy()

    def law(qdd_free: Array) -> ServoSolution:
        return motion_efforts(
            prepared.factorization,
            M,
            qdd_free,
            actuators.matrix,
            desired,
            weights=allocation.weights,
            preload=allocation.preload,
            rank_tolerance=mechanism.spec.solver.task_rank_tolerance,
        )

    servo = law(dynamics.solve(prepared, state, inputs).qdd)
    if mechanism.friction.dry or mechanism.nonideal is not None:
        servo, _ = compensate_friction(
            dynamics, prepared, state, inputs, actuators.matrix, law, servo
        )
    terms = prepared.terms._replace(F=prepared.terms.F + actuators.matrix @ servo.efforts)
    solution = dynamics.solve(prepared._replace(terms=terms), state, inputs)
    lack = desired - solution.qdd
    size = np.abs(desired).max(initial=0.0) + np.abs(solution.qdd).max(initial=0.0) + 1e-3
    return InverseDynamics(
        mechanism=mechanism,
        efforts=servo.efforts,
        qdd=desired,
        constraint_force=solution.constraint_force,
        multipliers=solution.joint_multipliers,
        determined=solution.determined,
        actuation=servo.actuation,
        missing={
            mechanism.model.velocity_names[i]: float(lack[i])
            for i in np.flatnonzero(np.abs(lack) > _REACHED * size).tolist()
        },
        beyond_limits=tuple(
            compress(actuators.names, np.abs(servo.efforts) > actuators.effort_limits)
        ),
    )


def _check_state(mechanism: Mechanism, rows: ConstraintTerms, state: State) -> None:
    """Refuse a state that violates the constraints: its forces would be meaningless."""
    constraints = mechanism.constraints
    speed = 1.0 + float(np.abs(state.v).max(initial=0.0))
    for values, chosen, what in (
        (rows.residual, constraints.position_rows, "positions"),
        (rows.rate / speed, constraints.motion_rows, "velocities"),
    ):
        off = np.where(chosen, np.abs(values), 0.0)
        worst = int(np.argmax(off)) if len(off) else -1
        if worst >= 0 and off[worst] > _OPEN:
            raise StateError(
                f"the {what} contradict {constraints.row_names[worst]} by {off[worst]:.3g}; "
                "mechanism.start() and mechanism.dynamics().project() give states that agree"
            )


def _consistent_acceleration(
    mechanism: Mechanism, terms: DynamicsTerms, qdd: Mapping[str, float] | ArrayLike
) -> Array:
    """An acceleration that agrees with the constraints, (nv,), in m/s² or rad/s²."""
    model, A, b = mechanism.model, terms.A, terms.b
    given = model.to_velocities(qdd)
    if isinstance(qdd, Mapping):
        free = np.ones(model.nv, dtype=bool)
        for name in qdd:
            free[model.velocity_index(name)] = False
        given = _solve_free(mechanism, terms, given, free)
    off = np.abs(A @ given - b)
    size = np.abs(b) + np.abs(A) @ np.abs(given) + NEGLIGIBLE_ACCELERATION
    worst = int(np.argmax(off / size)) if len(b) else -1
    if worst >= 0 and off[worst] > _AGREES * size[worst]:
        raise StateError(
            f"the accelerations contradict {mechanism.row_names[worst]} by {off[worst]:.3g} m/s² "
            "or rad/s²; give fewer by name, and the others follow from the loops"
        )
    return given


def _solve_free(mechanism: Mechanism, terms: DynamicsTerms, given: Array, free: Array) -> Array:
    """The given accelerations, and the others as the constraints determine them, (nv,)."""
    names = mechanism.model.velocity_names
    result = np.where(free, 0.0, given)
    if not free.any():
        return result
    scale = coordinate_scale(terms.M.diagonal())[free]
    rows = terms.A[:, free] * scale
    norms = np.linalg.norm(rows, axis=1)
    norms[norms == 0.0] = 1.0
    right = (terms.b - terms.A @ result) / norms
    _, values, directions = np.linalg.svd(rows / norms[:, None], full_matrices=True)
    rank = int(np.count_nonzero(values > mechanism.spec.solver.rank_tolerance))
    if rank < len(scale):
        loose = np.abs(directions[rank:] * scale).max(axis=0)
        undetermined = compress(compress(names, free), loose > 1e-6 * loose.max())
        raise StateError(
            f"the accelerations given do not determine those of {', '.join(undetermined)}; "
            f"give {len(scale) - rank} more"
        )
    result[free] = scale * np.linalg.lstsq(rows / norms[:, None], right, rcond=1e-9)[0]
    return result
