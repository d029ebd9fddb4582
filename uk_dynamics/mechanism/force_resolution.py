"""From declared forces to forces on a robot: joints and frames are looked up by name."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uk_dynamics.constraints.constraint import Constraint, JointTerm
from uk_dynamics.constraints.constraint_set import ConstraintSet
from uk_dynamics.constraints.expressions.compiled import compile_expressions
from uk_dynamics.constraints.row_types import (
    AlignmentRow,
    AngularRow,
    LinearRow,
    RotationVectorRow,
)
from uk_dynamics.exceptions import UnknownNameError
from uk_dynamics.forces.constant_forces import ConstantEffort, ConstantWrench
from uk_dynamics.forces.expression_efforts import ExpressionEffort
from uk_dynamics.forces.force_elements import ForceElement, ForceElements
from uk_dynamics.forces.joint_friction import FrictionLaw, JointFriction, RubbingJoint
from uk_dynamics.forces.joint_springs import JointSpring
from uk_dynamics.forces.line_springs import LineSpring
from uk_dynamics.mechanism.constraint_specification import ConstraintSpec
from uk_dynamics.mechanism.force_specification import ForceSpec
from uk_dynamics.mechanism.friction_specification import FrictionSpec
from uk_dynamics.mechanism.state import Array
from uk_dynamics.mechanism.weighted_joints import joint_terms
from uk_dynamics.mechanism.wording import located
from uk_dynamics.model.description import WORLD, AttachedFrame
from uk_dynamics.model.robot_model import RobotModel


def force_frames(
    forces: Sequence[ForceSpec], links: Sequence[str], file: str
) -> list[AttachedFrame]:
    """Frames on which the forces act.

    Raises:
        UnknownNameError: A link does not exist.
    """
    frames = []
    for force in forces:
        for role, frame in force.frames:
            if frame.link not in links and frame.link != WORLD:
                place = f"forces.{force.name}.{role}.link"
                raise UnknownNameError("link", frame.link, links, file=file, place=place)
            name = _frame_name(force, role)
            frames.append(AttachedFrame(name, frame.link, frame.xyz, frame.quaternion))
    return frames


def resolve_forces(specs: Sequence[ForceSpec], model: RobotModel, file: str) -> ForceElements:
    """Look up the joints and frames of the declared forces.

    Raises:
        UnknownNameError: A joint does not exist.
        ExpressionError: A text is no expression of the state and of time.
    """
    elements = [_element(spec, model, file) for spec in specs]
    return ForceElements(elements, model.ancestry, model.nq)


def resolve_friction(
    specs: Sequence[ConstraintSpec], constraints: ConstraintSet, model: RobotModel
) -> JointFriction:
    """Friction of the loop joints that have it.

    Args:
        specs: The declared constraints.
        constraints: The same, resolved, among others.
        model: The robot.
    """
    resolved = {constraint.name: constraint for constraint in constraints.constraints}
    joints = [
        _rubbing(spec, spec.friction, resolved[spec.name], constraints)
        for spec in specs
        if spec.friction is not None
    ]
    return JointFriction(joints, model.ancestry)


def _element(spec: ForceSpec, model: RobotModel, file: str) -> ForceElement:
    terms = joint_terms(spec.joints, model, file=file, place=f"forces.{spec.name}.joints")
    frame = {role: model.frame_index(_frame_name(spec, role)) for role, _ in spec.frames}
    match spec.type:
        case "joint_spring":
            return JointSpring(terms, spec.stiffness, spec.rest, spec.damping)
        case "line_spring":
            ends = frame["parent"], frame["child"]
            return LineSpring(*ends, spec.stiffness, spec.rest, spec.damping)
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
            model.coordinates,
            owner=f"forces.{spec.name}",
            parameters=dict(spec.parameters),
            aliases=dict(spec.names),
        )
    return ExpressionEffort(terms, effort)


def _rubbing(
    spec: ConstraintSpec, friction: FrictionSpec, constraint: Constraint, rows: ConstraintSet
) -> RubbingJoint:
    if constraint.parent is None or constraint.child is None:
        raise ValueError(f"{spec.name}: friction needs two frames")
    load_map = np.zeros((3, len(rows)))
    held: list[Array] = []
    turns: list[Array] = []
    start = rows.slices[spec.name].start
    for index, row in enumerate(constraint.rows, start):
        if isinstance(row, LinearRow):
            held.append(np.array(row.direction))
            load_map[:, index] = row.direction
        elif isinstance(row, AngularRow | RotationVectorRow):
            turns.append(np.array(row.direction))
        elif isinstance(row, AlignmentRow) and spec.type != "universal":
            # Of a universal joint, the rotation that is held turns with the shafts.
            turns.append(np.cross(row.child, row.parent))
    if spec.type == "hinge" and spec.axis is not None:
        axis = np.array(spec.axis)
        load_map -= np.outer(axis, axis @ load_map)  # thrust runs in a bearing of its own
    return RubbingJoint(
        name=spec.name,
        law=FrictionLaw(friction.coulomb, friction.viscous, friction.velocity, friction.radius),
        parent=constraint.parent,
        child=constraint.child,
        held=np.array(held).reshape(-1, 3),
        held_turns=np.array(turns).reshape(-1, 3),
        load_map=load_map,
        row=rows.slices[spec.name].start,
    )


def _frame_name(force: ForceSpec, role: str) -> str:
    return f"force:{force.name}/{role}"
