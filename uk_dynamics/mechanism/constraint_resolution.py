"""Constraints and tasks of a file, their frames and joints looked up in a robot by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from uk_dynamics.constraints.constraint import Constraint, JointTerm
from uk_dynamics.constraints.kinds import KindArguments, rows_of
from uk_dynamics.constraints.reference_set import ReferenceSet
from uk_dynamics.constraints.row_types import Row
from uk_dynamics.mechanism.constraint_specification import ConstraintSpec, StabilizationSpec
from uk_dynamics.mechanism.expression_resolution import resolve_expressions
from uk_dynamics.mechanism.moving_links import check_moves, mass_points
from uk_dynamics.mechanism.reference_resolution import resolve_reference
from uk_dynamics.mechanism.robot_resolution import frame_name, frame_roles
from uk_dynamics.mechanism.specification import MechanismSpec
from uk_dynamics.mechanism.weighted_joints import joint_terms
from uk_dynamics.mechanism.wording import located
from uk_dynamics.model.robot_model import RobotModel


def resolve_constraint(
    spec: ConstraintSpec, model: RobotModel, file: str, section: str
) -> Constraint:
    """Look up the frames and joints of one declared constraint.

    Raises:
        UnknownNameError: A joint or a link does not exist.
        InputError: Links without mass, or a relative_frame on a link that cannot move.
        ExpressionError: An expression cannot be a constraint.
    """
    arguments = KindArguments(
        axis=spec.axis,
        axes=spec.axes,
        distance=spec.distance,
        joints=spec.joints,
        offset=spec.offset,
        in_child=spec.expressed_in == "child",
    )
    if spec.rolling is not None:
        arguments = replace(
            arguments,
            normal=spec.rolling.normal,
            radius=spec.rolling.radius,
            directions=spec.rolling.directions,
        )
    frames: dict[str, Any] = {
        role: model.frame_index(frame_name(spec.name, role)) for role, _ in frame_roles(spec)
    }
    masses: dict[str, Any] = {}
    if spec.type == "center_of_mass":
        with located(file, f"{section}.{spec.name}.links"):
            masses["masses"] = mass_points(spec.links, model)
        if spec.parent is not None:
            masses["parent_moved"] = model.ancestor_mask[frames["parent"]]
    if spec.type == "relative_frame":
        for role, frame in frame_roles(spec):
            with located(file, f"{section}.{spec.name}.{role}.link"):
                check_moves(frame.link, frames[role], model)
    rows: tuple[Row, ...]
    if spec.expression is not None:
        place = f"{section}.{spec.name}"
        rows = resolve_expressions(spec.expression, model.coordinates, file=file, place=place)
    else:
        rows = rows_of(spec.type, arguments)
    return Constraint(
        name=spec.name,
        kind=spec.type,
        rows=rows,
        joints=joint_terms(spec.joints, model, file=file, place=f"{section}.{spec.name}.joints"),
        frequency=spec.stabilization.frequency,
        damping_ratio=spec.stabilization.damping_ratio,
        level=spec.level,
        compliance=spec.compliance,
        **frames,
        **masses,
    )


def structural_constraints(spec: MechanismSpec, model: RobotModel) -> tuple[Constraint, ...]:
    """Declared constraints, then a coupling per URDF mimic joint.

    Raises:
        UnknownNameError: A joint does not exist.
    """
    declared = [resolve_constraint(c, model, spec.file, "constraints") for c in spec.constraints]
    return (*declared, *_mimic_constraints(model, spec.stabilization))


def _mimic_constraints(model: RobotModel, stabilization: StabilizationSpec) -> list[Constraint]:
    """Q − multiplier · q_source = offset for every mimic joint."""
    couplings = []
    for mimic in model.mimic:
        terms = ((mimic.joint, 1.0), (mimic.source, -mimic.multiplier))
        arguments = KindArguments(joints=terms, offset=mimic.offset)
        couplings.append(
            Constraint(
                name=f"mimic_{mimic.joint}",
                kind="joint_coupling",
                rows=rows_of("joint_coupling", arguments),
                joints=tuple(
                    JointTerm(model.position_index(joint), model.velocity_index(joint), factor)
                    for joint, factor in terms
                ),
                frequency=stabilization.frequency,
                damping_ratio=stabilization.damping_ratio,
            )
        )
    return couplings


def resolve_references(
    specs: Sequence[ConstraintSpec], constraints: Sequence[Constraint], role: str
) -> ReferenceSet:
    """The references of constraints or tasks.

    Args:
        specs: What the file declares.
        constraints: Every constraint of the set, also those that no file declares.
        role: ``constraint`` or ``task``.
    """
    return ReferenceSet(
        role,
        {constraint.name: len(constraint.rows) for constraint in constraints},
        {s.name: resolve_reference(s.reference) for s in specs if s.reference is not None},
    )
