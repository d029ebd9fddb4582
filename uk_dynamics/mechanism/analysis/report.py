# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a mechanism is: its freedoms, its redundant rows, what its motors can do."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from uk_dynamics.arrays import Indices, largest
from uk_dynamics.core import Factorization, SingularMassError, factorize
from uk_dynamics.core.equation import WITH_PSEUDOINVERSE
from uk_dynamics.core.linalg import DenseMass, RowBasis, mass_factor
from uk_dynamics.core.servo import actuation, servo_efforts
from uk_dynamics.exceptions import UndeterminedMotionError
from uk_dynamics.mechanism.analysis.equilibrium import vanishing_rows
from uk_dynamics.mechanism.analysis.integrability import IntegrabilityReport, examine_integrability
from uk_dynamics.mechanism.dynamics.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array, Inputs, State
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
    dynamics, state, inputs = InterpretedDynamics(mechanism), State(0.0, q, v), Inputs()
    if tasks.standing is not None:
        active, asked = tasks.standing.held(0.0)
        A, desired, inputs = A * asked[:, None], desired * asked, Inputs(active=active)
        factorization = dynamics.prepare(state, inputs).factorization
    try:
        free = dynamics.evaluate(state, inputs).qdd
    except UndeterminedMotionError:  # what is missing is not determined either
        free, desired = np.zeros(mechanism.model.nv), np.zeros(len(A))
    servo = servo_efforts(
        factorization,
        free,
        S,
        A,
        desired,
        side=tasks.side,
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
                tasks.lacking(rows.residual) / constraints.reference_scale,
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
        return A @ dynamics.evaluate(state).qdd

    still = np.zeros(mechanism.model.nv)
    means = []
    for word, by_position in (("positions", True), ("velocities", False)):
        strongest = 0.0
        for direction in (motion[:, sizes > 0.0] / sizes[sizes > 0.0]).T:
            step = _STEP * direction
            if by_position:
                change = answer(step, still) - answer(-step, still)
            else:
                change = answer(still, step) - answer(still, -step)
            strongest = max(strongest, largest(change) / (2.0 * _STEP))
        if strongest > _NOTICEABLE * max(1.0, largest(answer(still, still))):
            means.append(word)
    at_once = "an effort accelerates none of it at once"
    if not means:
        return f"{at_once}, and no force couples it with what the motors move"
    if means == ["velocities"]:
        return f"{at_once}; it is coupled with the motors by dampers only, once they turn"
    return f"{at_once}; it is coupled with the motors by springs or weights, once they have moved"


@dataclass(frozen=True)
class MechanismReport:
    """Facts about a mechanism at one assembled configuration."""

    name: str  # name of the mechanism
    links: tuple[str, ...]  # link names
    joints: tuple[str, ...]  # one-dof joint names
    velocities: int  # size of v
    constraints: dict[str, str]  # kind of each constraint by name
    # contacts, hard stops and one-sided constraints with what they do, by name
    one_sided: dict[str, str]
    levels: tuple[tuple[str, ...], ...]  # constraints of each level of the hierarchy, lowest first
    # whether each switchable constraint is on at the start, by name; what is off does not count
    # below
    switchable: dict[str, bool]
    rows: int  # number of constraint rows
    rank: int  # independent rows
    redundant_rows: tuple[str, ...]  # names of the rows that depend on others
    # names of the rows that are zero in this state only, such as rows quadratic in velocities at
    # rest: here they constrain nothing
    vanishing_rows: tuple[str, ...]
    mobility: int  # velocities minus rank
    motors: tuple[str, ...]  # motor names
    actuated_freedoms: int  # rank of the motors within the motions the structure leaves
    # "fully actuated", "underactuated", "redundantly actuated", "not actuated", or both of the
    # middle ones
    actuation: str
    configuration: dict[str, float]  # the assembled positions by name, in m or rad
    units: dict[str, str]  # unit of each position by name; empty for parts of quaternions
    largest_residual: float  # in m or rad
    # form of the equation in use: what the file asks for, or what auto chose; empty where the
    # motion is not determined
    method: str
    requested_method: str  # what the file asks for
    pseudoinverse: str | None  # algorithm of a form with an explicit pseudoinverse; None for others
    limit_violations: tuple[str, ...]  # joints outside their limits
    forces: dict[str, str]  # type of each declared force by name
    friction: tuple[str, ...]  # loop joints with friction
    warnings: tuple[str, ...]  # what is legal but doubtful
    tasks: TaskReport | None = None  # what the motors can do for given tasks
    # which constraints are holonomic, where that was asked for
    integrability: IntegrabilityReport | None = None
    # estimates with their standard deviations by parameter, and where they are from
    identified: dict[str, dict[str, Any]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """All facts as plain values, ready for JSON."""
        return asdict(self)


def report(
    mechanism: ResolvedMechanism,
    q: Array,
    tasks: Tasks | None = None,
    *,
    samples: int = 0,
    progress: Callable[[], object] | None = None,
) -> MechanismReport:
    """Examine a mechanism at an assembled configuration; see :meth:`Mechanism.report`."""
    model, S = mechanism.model, mechanism.actuators.matrix
    workspace = (tasks.model if tasks else model).workspace()
    v = model.to_velocities(dict(mechanism.spec.initial_velocity))
    workspace.update(q, v)
    rows = mechanism.constraints.evaluate(workspace, 0.0, q, v, mechanism.references.sample(0.0))
    acts = mechanism.hierarchy.acting()
    acting = np.flatnonzero(acts)
    A, errors = rows.A[acting], rows.residual / mechanism.constraints.reference_scale
    errors = errors[acts & mechanism.constraints.position_rows]
    factorization, determined = _factorize(
        mechanism, workspace.mass, A, mechanism.natural_scale[acting]
    )
    dependent = tuple(mechanism.row_names[acting[i]] for i in factorization.dependent)
    vanishing = vanishing_rows(mechanism, q, v) if dependent else ()
    solver = mechanism.spec.solver
    tolerance = solver.task_rank_tolerance
    mobility = model.nv - factorization.rank
    motion, unconstrained = factorization.admissible_coordinates(S)
    actuated = RowBasis(motion, unconstrained, tolerance).rank
    examined = None
    if tasks is not None:
        examined = task_report(mechanism, tasks, factorization, workspace, q, v)
    return MechanismReport(
        name=mechanism.name,
        links=model.link_names,
        joints=model.joint_names,
        velocities=model.nv,
        constraints={
            c.name: c.kind
            for c in mechanism.constraints.constraints
            if c.name not in mechanism.hierarchy.one_sided
        },
        one_sided={one.name: str(one) for one in mechanism.one_sided},
        levels=tuple(
            level
            for names in mechanism.hierarchy.names
            if (level := tuple(n for n in names if n not in mechanism.hierarchy.one_sided))
        ),
        switchable={name: s.active for name, s in mechanism.hierarchy.switchable.items()},
        rows=len(A),
        rank=factorization.rank,
        redundant_rows=tuple(row for row in dependent if row not in vanishing),
        vanishing_rows=vanishing,
        mobility=mobility,
        motors=mechanism.actuators.names,
        actuated_freedoms=actuated,
        actuation=actuation(len(mechanism.actuators), actuated, mobility),
        configuration=model.positions_by_name(q),
        units={name: unit.removesuffix("1") for name, unit in model.units.items()},
        largest_residual=largest(errors),
        method=factorization.method if determined else "",
        requested_method=solver.method,
        pseudoinverse=solver.pseudoinverse if solver.method in WITH_PSEUDOINVERSE else None,
        limit_violations=tuple(str(v) for v in model.limit_violations(q)),
        forces={force.name: force.type for force in mechanism.spec.forces},
        friction=mechanism.friction.names,
        warnings=(*mechanism.warnings, *_undetermined_friction(mechanism, factorization, acting)),
        tasks=examined,
        integrability=(
            examine_integrability(mechanism, q, samples, progress=progress) if samples else None
        ),
        identified={
            name: {"value": value, "deviation": x.deviations[k], "by": x.by, "date": x.date}
            for x in mechanism.spec.identified
            for k, (name, value) in enumerate(zip(x.names, x.values, strict=True))
        },
    )


def _factorize(
    mechanism: ResolvedMechanism, M: Array, A: Array, natural_scale: Array
) -> tuple[Factorization, bool]:
    """M and A by the rules of the solver; where the motion is not determined, A alone."""
    solver = mechanism.spec.solver
    try:
        factorization = factorize(
            mass_factor(M),
            A,
            natural_scale=natural_scale,
            rank_tolerance=solver.rank_tolerance,
            method=solver.method,
            pseudoinverse=solver.pseudoinverse,
        )
    except SingularMassError as error:
        raise error.located(file=mechanism.spec.file, place="solver.method") from None
    except UndeterminedMotionError:
        return factorize(DenseMass(np.eye(len(M))), A, rank_tolerance=solver.rank_tolerance), False
    return factorization, True


def _undetermined_friction(
    mechanism: ResolvedMechanism, factorization: Factorization, acting: Indices
) -> Iterator[str]:
    """Joints whose Coulomb friction needs a load that redundant rows share somehow."""
    friction, shared = mechanism.friction, ~factorization.determined
    maps = dict(zip(friction.dry, friction.load_map, strict=True))
    pins = mechanism.contact_friction.pins.items()
    maps |= {name.removesuffix(".sticking"): load_map for name, load_map in pins}
    for name, load_map in maps.items():
        needed = (load_map[:, acting] != 0.0).any(axis=0)
        if (needed & shared).any():
            yield (
                f"friction in {name} depends on the force in the joint, which redundant rows share"
                " in a way that rigid bodies do not determine: it is split by least squares"
            )
