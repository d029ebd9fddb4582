# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Constraints, tasks and forces of a file, their frames and joints looked up by name."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.constraints.expressions import compile_expressions
from uk_dynamics.constraints.kinds import Setting
from uk_dynamics.constraints.kinds.joints import JointCoupling
from uk_dynamics.constraints.references import Constant, Live, ReferenceSet
from uk_dynamics.constraints.rows import Constraint, ConstraintSet, JointTerm, joint_terms
from uk_dynamics.exceptions import MechanismFileError, inside, located
from uk_dynamics.forces import (
    ConstantEffort,
    ConstantWrench,
    ExpressionEffort,
    ForceElement,
    ForceElements,
    FrictionalJoint,
    JointFriction,
    JointSpring,
    LineSpring,
    SlidingFriction,
    SlidingPair,
)
from uk_dynamics.mechanism.files.constraint_specification import (
    ConstraintSpec,
    FrictionSpec,
    StabilizationSpec,
)
from uk_dynamics.mechanism.files.force_specification import ForceSpec
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.resolution.one_sided import OneSided, contact_constraints
from uk_dynamics.mechanism.resolution.robot_resolution import frame_name
from uk_dynamics.model import RobotModel

STANDING = (Constant, Live)  # references that do not move by themselves


def resolve_constraint(
    spec: ConstraintSpec, model: RobotModel, file: str, section: str
) -> Constraint:
    """Look up the frames and joints of one declared constraint."""
    frames = {role: model.frame_index(frame_name(spec, role)) for role, _ in spec.frames}
    links = {role: frame.link for role, frame in spec.frames}
    with inside(file, f"{section}.{spec.name}"):
        rows = spec.kind.rows(Setting(model, frames, links))
        if spec.one_sided is not None and rows[0].order == "acceleration":
            problem = "an acceleration is no gap or speed that could be bounded"
            raise MechanismFileError(problem, place="one_sided")
    return Constraint(
        name=spec.name,
        kind=spec.type,
        rows=rows,
        parent=frames.get("parent"),
        child=frames.get("child"),
        frequency=spec.stabilization.frequency,
        damping_ratio=spec.stabilization.damping_ratio,
        level=spec.level,
        compliance=spec.compliance,
    )


def structural_constraints(spec: MechanismSpec, model: RobotModel) -> tuple[Constraint, ...]:
    """Declared constraints, a coupling per URDF mimic joint, then contacts and hard stops."""
    declared = [resolve_constraint(c, model, spec.file, "constraints") for c in spec.constraints]
    mimic = _mimic_constraints(model, spec.stabilization)
    return (*declared, *mimic, *contact_constraints(spec, model, declared))


def _mimic_constraints(model: RobotModel, stabilization: StabilizationSpec) -> list[Constraint]:
    """Q − multiplier · q_source = offset for every mimic joint."""
    couplings = []
    for mimic in model.mimic:
        kind = JointCoupling(((mimic.joint, 1.0), (mimic.source, -mimic.multiplier)), mimic.offset)
        couplings.append(
            Constraint(
                name=f"mimic_{mimic.joint}",
                kind=kind.name,
                rows=kind.rows(Setting(model, {}, {})),
                frequency=stabilization.frequency,
                damping_ratio=stabilization.damping_ratio,
            )
        )
    return couplings


def resolve_references(
    specs: Sequence[ConstraintSpec], constraints: Sequence[Constraint], role: str
) -> ReferenceSet:
    """The references of constraints or tasks."""
    return ReferenceSet(
        role,
        {constraint.name: len(constraint.rows) for constraint in constraints},
        {spec.name: spec.reference for spec in specs if spec.reference is not None},
    )


def resolve_forces(specs: Sequence[ForceSpec], model: RobotModel, file: str) -> ForceElements:
    """Look up the joints and frames of the declared forces."""
    return ForceElements([_element(spec, model, file) for spec in specs], model.ancestry, model.nq)


def resolve_friction(
    specs: Sequence[ConstraintSpec], constraints: ConstraintSet, model: RobotModel
) -> JointFriction:
    """Friction of the loop joints that have it."""
    resolved = {constraint.name: constraint for constraint in constraints.constraints}
    joints = [
        _frictional(spec, spec.friction, resolved[spec.name], constraints)
        for spec in specs
        if spec.friction is not None
    ]
    return JointFriction(joints, model.ancestry)


def resolve_contact_friction(
    specs: Sequence[ConstraintSpec],
    one_sided: Sequence[OneSided],
    constraints: ConstraintSet,
    model: RobotModel,
) -> SlidingFriction:
    """Friction of the contacts that have it, and of loop joints that stick."""
    resolved = {constraint.name: constraint for constraint in constraints.constraints}
    declared = {spec.name: spec for spec in specs}
    contacts = []
    for one in one_sided:
        if one.sticking is None or (one.dry is not None and one.dry.velocity is not None):
            continue
        constraint, tangents = resolved[one.sticking], constraints.slices[one.sticking]
        assert constraint.parent is not None
        assert constraint.child is not None
        if one.dry is None:
            load_map, friction = np.zeros((3, len(constraints))), one.friction
            load_map[0, constraints.slices[one.name].start] = 1.0
        else:
            pin = resolved[one.name.removesuffix(".sticking")]
            load_map = _load_map(declared[pin.name], pin, constraints)
            friction = one.dry.coulomb
        contacts.append(
            SlidingPair(
                one.name,
                constraint.parent,
                constraint.child,
                friction,
                tangents=tangents,
                load_map=load_map,
                of_pin=one.dry is not None,
            )
        )
    return SlidingFriction(contacts, model.ancestry, len(constraints))


def _load_map(spec: ConstraintSpec, joint: Constraint, constraints: ConstraintSet) -> Array:
    """From the multipliers of all rows to the force across the surfaces of a joint, (3, m)."""
    found = np.zeros((3, len(constraints)))
    found[:, constraints.slices[spec.name]] = np.array(spec.kind.surfaces(joint.rows).loads).T
    return found


def _element(spec: ForceSpec, model: RobotModel, file: str) -> ForceElement:
    with located(file, f"forces.{spec.name}.joints"):
        terms = joint_terms(spec.joints, model)
    frame = {role: model.frame_index(frame_name(spec, role)) for role, _ in spec.frames}
    match spec.type:
        case "joint_spring":
            return JointSpring(terms, spec.stiffness, spec.rest, spec.damping)
        case "line_spring":
            first, *through, last = frame.values()
            numbers = spec.stiffness, spec.rest, spec.damping
            return LineSpring(first, last, *numbers, tuple(through))
        case "effort":
            return ConstantEffort(terms, spec.effort)
        case "expression":
            return _expression(spec, terms, model, file)
    return ConstantWrench(frame["frame"], spec.force, spec.torque, spec.body_axes)


def _expression(
    spec: ForceSpec, terms: tuple[JointTerm, ...], model: RobotModel, file: str
) -> ExpressionEffort:
    with located(file, f"forces.{spec.name}.expression"):
        effort = compile_expressions(
            [spec.expression],
            model,
            owner=f"forces.{spec.name}",
            parameters=dict(spec.parameters),
            aliases=dict(spec.names),
        )
    return ExpressionEffort(terms, effort)


def _frictional(
    spec: ConstraintSpec, friction: FrictionSpec, constraint: Constraint, rows: ConstraintSet
) -> FrictionalJoint:
    if constraint.parent is None or constraint.child is None:
        raise ValueError(f"{spec.name}: friction needs two frames")
    surfaces = spec.kind.surfaces(constraint.rows)
    return FrictionalJoint(
        name=spec.name,
        law=replace(friction, coulomb=0.0) if friction.exact else friction,
        parent=constraint.parent,
        child=constraint.child,
        held=np.array(surfaces.held).reshape(-1, 3),
        held_turns=np.array(surfaces.held_turns).reshape(-1, 3),
        load_map=_load_map(spec, constraint, rows),
        row=rows.slices[spec.name].start,
    )
