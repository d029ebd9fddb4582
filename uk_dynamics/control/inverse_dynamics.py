# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Inverse dynamics: motor efforts and loop forces of a given motion, loops and redundancy included.

For trees, recursive Newton–Euler solves this. With loops, joint torques are not enough: passive
joints transmit none, and redundant motors can share the effort in many ways.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import compress

import numpy as np

from uk_dynamics.arrays import Values
from uk_dynamics.constraints.rows import ConstraintTerms
from uk_dynamics.control.command import require_motors
from uk_dynamics.control.cone_efforts import ConeProgram, JointCone
from uk_dynamics.control.friction_compensation import compensate_friction
from uk_dynamics.core.equation import Solution
from uk_dynamics.core.linalg import NEGLIGIBLE_ACCELERATION, coordinate_scale
from uk_dynamics.core.servo import ServoSolution, motion_efforts
from uk_dynamics.exceptions import StateError, expect, expect_not_negative
from uk_dynamics.mechanism.contact import Contact, ContactReactions, Reactions
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import (
    ActiveConstraints,
    Allocation,
    Array,
    DynamicsTerms,
    Flags,
    Inputs,
    State,
    Weights,
)
from uk_dynamics.mechanism_class import Mechanism

_OPEN = 1e-6  # m or rad (rates per s): about the rounding of hand-written numbers
_AGREES = 1e-6  # of the accelerations that cancel in a row
_AT_LIMIT = 1.0 + 1e-9  # of a limit, with rounding
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
        contacts: Contacts, stops and ropes with the forces that go with the efforts, by name.
        overtaxed: What contacts would have to do beyond their cones for the missing acceleration,
            by name: "pull", or "hold more than its friction".
    """

    mechanism: Mechanism
    efforts: Array
    qdd: Array
    constraint_force: Array
    multipliers: Array
    determined: Flags
    actuation: str
    missing: Mapping[str, float]
    beyond_limits: tuple[str, ...]
    contacts: Mapping[str, Contact] = field(default_factory=dict)
    overtaxed: Mapping[str, str] = field(default_factory=dict)

    @property
    def possible(self) -> bool:
        """Whether motors within their limits and contacts within their cones cause the motion."""
        return not self.missing and not self.beyond_limits

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
    qdd: Values,
    *,
    tau: Values | None = None,
    weights: Weights = "limits",
    preload: Mapping[str, float] | None = None,
    active: ActiveConstraints | None = None,
    friction_part: float = 1.0,
) -> InverseDynamics:
    """Motor efforts and loop forces of a motion, and forces of contacts that go with it.

    Contacts that the motion leaves closed push and hold within their cones; of all efforts that
    cause the motion with them the least are taken, within limits if that is possible, and of the
    contact forces those of least norm. Joints that stick hold up to their stiction, loop joints up
    to their friction by the force in them.

    Args:
        mechanism: What moves; with motors, or with contacts.
        state: Positions and velocities that satisfy the constraints, as from ``mechanism.start``.
        qdd: Accelerations: all of them, (nv,), or by joint name as many as determine the others
            through the loops, in m/s² or rad/s²; contacts that touch and do not slide stay so
            where that takes it.
        tau: Other known forces, by joint name or (nv,), in N or N·m. Of forces on links:
            ``mechanism.wrench_forces({link: force}, state.q)``.
        weights: Redundant motors minimise Σ weight·(effort − preload)²: ``limits`` 1/limit²,
            ``equal`` one each, or by motor name.
        preload: Preferred efforts where several cause the same motion, by motor name.
        active: Switchable constraints that are on; None: as in the mechanism file.
        friction_part: Part of the friction that contacts may use, 0 or more.

    Returns:
        Efforts and forces; if the motors cannot cause the motion, the closest ones, and the part of
        the acceleration that is missing.

    Raises:
        StateError: State or acceleration contradict a constraint or a contact, which is named, or
            too few accelerations are given.
        InputError: The mechanism has no motors, or names do not exist.
        UkDynamicsError: It has contacts, and Clarabel is not installed.
        UndeterminedMotionError: Some motion has neither inertia nor constraint.
    """
    expect("mechanism", mechanism, Mechanism, 'Mechanism.from_file("five_bar")')
    expect("state", state, State, "mechanism.start()")
    expect_not_negative("friction_part", friction_part)
    actuators = mechanism.actuators
    contacts = ContactReactions(mechanism) if mechanism.one_sided else None
    if contacts is None:
        require_motors(mechanism)
    allocation = Allocation.given(actuators, weights, preload)
    inputs = Inputs(tau=mechanism.inputs(tau).tau, active=active, stabilize=False)
    dynamics = InterpretedDynamics(mechanism)
    prepared = dynamics.prepare(state, inputs)
    _check_state(mechanism, prepared.rows, state)
    desired = _consistent_acceleration(mechanism, prepared.terms, qdd, state, contacts)
    M, S, reactions = np.array(prepared.terms.M), actuators.matrix, None
    if contacts is not None:
        on = active or mechanism.hierarchy.initial
        reactions = contacts.reactions(state, inputs, on, desired)
        inputs = replace(inputs, active=reactions.active)
        S = np.hstack((S, *reactions.held, reactions.force))

    def law(free: Solution) -> ServoSolution:
        servo = motion_efforts(
            prepared.factorization,
            M,
            free.qdd,
            actuators.matrix,
            desired,
            weights=allocation.weights,
            preload=allocation.preload,
            rank_tolerance=mechanism.spec.solver.task_rank_tolerance,
        )
        if reactions is None:
            return servo
        seen = prepared.factorization.admissible_coordinates(S)[0]
        loads = reactions.loads(prepared.factorization, S, free.joint_multipliers)
        x = _within_cones(
            mechanism, reactions, seen, servo.wanted, loads, allocation, friction_part
        )
        return replace(servo, efforts=x)

    servo = law(dynamics.solve(prepared, state, inputs))
    loaded = mechanism.friction.dry or mechanism.contact_friction.pins
    if loaded or mechanism.nonideal is not None:
        servo, _ = compensate_friction(dynamics, prepared, state, inputs, S, law, servo)
    terms = prepared.terms._replace(F=prepared.terms.F + S @ servo.efforts)
    solution = dynamics.solve(prepared._replace(terms=terms), state, inputs)
    lack = desired - solution.qdd
    size = np.abs(desired).max(initial=0.0) + np.abs(solution.qdd).max(initial=0.0) + 1e-3
    efforts = servo.efforts[: len(actuators)]
    found = InverseDynamics(
        mechanism=mechanism,
        efforts=efforts,
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
            compress(actuators.names, np.abs(efforts) > actuators.effort_limits * _AT_LIMIT)
        ),
    )
    if contacts is None or reactions is None:
        return found
    forces = servo.efforts[S.shape[1] - reactions.force.shape[1] :].reshape(-1, 3)
    seen = prepared.factorization.admissible_coordinates(reactions.force)[0]
    lacking = -(reactions.jacobian @ lack).reshape(-1, 3)
    return replace(
        found,
        multipliers=found.multipliers + contacts.multipliers(reactions, forces),
        contacts=contacts.contacts(state, reactions, forces, seen),
        overtaxed=_overtaxed(contacts, reactions, lacking, size) if found.missing else {},
    )


def _within_cones(
    mechanism: Mechanism,
    reactions: Reactions,
    seen: Array,  # motion per unit effort of motors, joints that stick and contacts, (n, nu+d+3k)
    wanted: Array,  # (n,)
    loads: Array,  # of :meth:`Reactions.loads`
    allocation: Allocation,
    friction_part: float,
) -> Array:
    """Efforts of motors, of joints that stick, and forces of contacts, (nu + d + 3k,)."""
    nu, sizes = len(mechanism.actuators), [force.shape[1] for force in reactions.held]
    held, free = nu + sum(sizes), np.zeros(sum(sizes))
    limits = mechanism.actuators.effort_limits
    preload = np.zeros(nu) if allocation.preload is None else allocation.preload
    joints = tuple(map(JointCone, sizes, reactions.most, loads))
    for most in (limits, np.full(nu, np.inf)):  # beyond limits only where it must be
        bounds = np.append(most, free + np.inf)
        program = ConeProgram(
            seen[:, :held],
            seen[:, held:],
            wanted,
            friction_part * reactions.friction,
            -bounds,
            bounds,
        )
        costs = np.append(allocation.weights, free), np.append(preload, free)
        found = program.least_with_joints(joints, *costs)
        if found.possible:
            break
    return np.concatenate((found.efforts, found.forces.ravel()))


def _overtaxed(
    contacts: ContactReactions,
    reactions: Reactions,
    motion: Array,  # of contacts under the forces that come closest, (k, 3)
    size: float,  # of accelerations
) -> dict[str, str]:
    """What contacts would have to do beyond their cones, by name.

    What forces in cones cannot prevent is a motion in the dual cones, on their surface where
    friction is used up, and within them where there is no force.
    """
    found = {}
    for k, (normal, *tangents), mu in zip(
        reactions.closed.tolist(), motion, reactions.friction, strict=True
    ):
        slip = float(mu * np.hypot(*tangents))
        if normal - slip > _REACHED * size:
            found[contacts.names[k]] = "pull"
        elif slip > _REACHED * size:
            found[contacts.names[k]] = "hold more than its friction"
    return found


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
    mechanism: Mechanism,
    terms: DynamicsTerms,
    qdd: Values,
    state: State,
    contacts: ContactReactions | None,
) -> Array:
    """An acceleration that agrees with the constraints, (nv,), in m/s² or rad/s²."""
    model, A, b = mechanism.model, terms.A, terms.b
    given = model.to_velocities(qdd)
    if isinstance(qdd, Mapping):
        free = np.ones(model.nv, dtype=bool)
        for name in qdd:
            free[model.velocity_index(name)] = False
        try:
            given = _solve_free(mechanism, terms, given, free)
        except StateError:
            if contacts is None:
                raise
            rows, bias = contacts.rows(state, mechanism.hierarchy.initial)
            stays = terms._replace(A=np.vstack((A, rows)), b=np.append(b, -bias))
            given = _solve_free(mechanism, stays, given, free)
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
