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

from uk_dynamics.control.consistent_acceleration import check_state, consistent_acceleration
from uk_dynamics.control.friction_compensation import compensate_friction
from uk_dynamics.core.servo.motion_efforts import motion_efforts
from uk_dynamics.core.servo.servo_law import ServoSolution
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.dynamics.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.resolution.allocation import Allocation, Weights
from uk_dynamics.mechanism.resolution.state import ActiveConstraints, Array, Inputs, State

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
        tau: Other known forces, by joint name or (nv,), in N or N·m.
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
    actuators = mechanism.actuators
    if not len(actuators):
        problem = "the mechanism has no motors; add actuators"
        raise InputError(problem, file=mechanism.spec.file, place="actuators")
    allocation = Allocation.given(actuators, weights, preload)
    inputs = Inputs(tau=mechanism.inputs(tau).tau, active=active, stabilize=False)
    dynamics = InterpretedDynamics(mechanism)
    prepared = dynamics.prepare(state, inputs)
    check_state(mechanism, prepared.rows, state)
    desired = consistent_acceleration(mechanism, prepared.terms, qdd)
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
