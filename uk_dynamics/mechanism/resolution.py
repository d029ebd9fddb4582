"""From what a file says to what a robot has: frames, joints and motors are looked up by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from uk_dynamics.constraints.constraint import Constraint, JointTerm
from uk_dynamics.constraints.kinds import KindArguments, rows_of
from uk_dynamics.constraints.reference_set import ReferenceSet
from uk_dynamics.constraints.row_types import Row
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.mechanism.actuators import Actuators
from uk_dynamics.mechanism.expression_resolution import resolve_expressions
from uk_dynamics.mechanism.moving_links import check_moves, mass_points
from uk_dynamics.mechanism.reference_resolution import resolve_reference
from uk_dynamics.mechanism.specification import (
    ActuatorSpec,
    ConstraintSpec,
    FrameSpec,
    JointSpec,
    MechanismSpec,
    StabilizationSpec,
)
from uk_dynamics.model.description import WORLD, AttachedFrame, RobotDescription
from uk_dynamics.model.passive import JointForces
from uk_dynamics.model.robot_model import RobotModel
from uk_dynamics.model.urdf import read_urdf, read_urdf_text


@contextmanager
def located(file: str, place: str) -> Iterator[None]:
    """Say where in which file a mistake stands."""
    try:
        yield
    except InputError as error:
        raise error.located(file=file, place=place) from None


def read_description(spec: MechanismSpec, text: str | None) -> RobotDescription:
    """The robot of a mechanism.

    Args:
        spec: Names the URDF.
        text: URDF to use instead, None for the one that is named.

    Raises:
        InputError: Neither is given, or what is given is no usable robot description.
    """
    if text is not None:
        return read_urdf_text(text, "robot_description")
    if spec.model.urdf is None:
        raise InputError(
            "no URDF is named and no robot_description was given; add model.urdf",
            file=spec.file,
            place="model",
        )
    with located(spec.file, "model.urdf"):
        path = spec.urdf_path()
        try:
            return read_urdf(path, arguments=dict(spec.model.xacro))
        except InputError as error:
            if not spec.model.xacro:
                raise
            raise error.caused_by(spec.file, "model.xacro") from None


def build_model(
    spec: MechanismSpec, description: RobotDescription, frames: Sequence[AttachedFrame]
) -> RobotModel:
    """The robot in its surroundings, with rotor inertias and attached frames.

    Raises:
        UnknownNameError: A joint with armature does not exist.
    """
    armature = {name: joint.armature for name, joint in spec.joints if joint.armature}
    with located(spec.file, "model"):
        try:
            return RobotModel(
                description,
                gravity=spec.model.gravity,
                root=spec.model.root,
                frames=frames,
                armature=armature,
            )
        except UnknownNameError as error:  # the links of the frames have been looked up before
            raise error.located(place="joints") from None


def frame_name(constraint: str, role: str) -> str:
    """Name of the frame that a constraint attaches to its parent or child link."""
    return f"{constraint}/{role}"


def attached_frames(
    constraints: Sequence[ConstraintSpec], links: Sequence[str], file: str, section: str
) -> list[AttachedFrame]:
    """Frames of all constraints that have them.

    Args:
        constraints: Declared constraints.
        links: Existing link names.
        file: File of the declarations.
        section: Key that holds them, ``constraints`` or ``tasks``.

    Raises:
        UnknownNameError: A link does not exist.
    """
    frames = []
    for constraint in constraints:
        for role, frame in _roles(constraint):
            if frame.link not in links and frame.link != WORLD:
                raise UnknownNameError(
                    "link",
                    frame.link,
                    links,
                    file=file,
                    place=f"{section}.{constraint.name}.{role}.link",
                )
            frames.append(
                AttachedFrame(
                    frame_name(constraint.name, role), frame.link, frame.xyz, frame.quaternion
                )
            )
    return frames


def _roles(constraint: ConstraintSpec) -> Iterator[tuple[str, FrameSpec]]:
    for role, frame in (("parent", constraint.parent), ("child", constraint.child)):
        if frame is not None:
            yield role, frame


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
    terms = []
    for joint, coefficient in spec.joints:
        with located(file, f"{section}.{spec.name}.joints"):
            terms.append(
                JointTerm(model.position_index(joint), model.velocity_index(joint), coefficient)
            )
    frames: dict[str, Any] = {
        role: model.frame_index(frame_name(spec.name, role)) for role, _ in _roles(spec)
    }
    masses: dict[str, Any] = {}
    if spec.type == "center_of_mass":
        with located(file, f"{section}.{spec.name}.links"):
            masses["masses"] = mass_points(spec.links, model)
        if spec.parent is not None:
            masses["parent_moved"] = model.ancestor_mask[frames["parent"]]
    if spec.type == "relative_frame":
        for role, frame in _roles(spec):
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
        joints=tuple(terms),
        frequency=spec.stabilization.frequency,
        damping_ratio=spec.stabilization.damping_ratio,
        level=spec.level,
        compliance=spec.compliance,
        **frames,
        **masses,
    )


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


def resolve_actuators(specs: Sequence[ActuatorSpec], model: RobotModel, file: str) -> Actuators:
    """Look up the joints of the motors; a limit not declared is taken from a single joint's URDF.

    Raises:
        UnknownNameError: A joint does not exist.
    """
    matrix = np.zeros((model.nv, len(specs)))
    limits = np.full(len(specs), np.inf)
    for column, spec in enumerate(specs):
        key = "joint" if len(spec.joints) == 1 else "joints"
        for joint, coefficient in spec.joints:
            with located(file, f"actuators.{spec.name}.{key}"):
                index = model.velocity_index(joint)
            matrix[index, column] += coefficient
            if spec.effort_limit is None and len(spec.joints) == 1:
                limits[column] = model.effort_limit[index] / abs(coefficient)
        if spec.effort_limit is not None:
            limits[column] = spec.effort_limit
    powers = [np.inf if spec.power_limit is None else spec.power_limit for spec in specs]
    rates = [np.inf if spec.rate_limit is None else spec.rate_limit for spec in specs]
    names = tuple(spec.name for spec in specs)
    return Actuators(names, matrix, limits, np.array(powers), np.array(rates))


def joint_forces(specs: Iterable[tuple[str, JointSpec]]) -> dict[str, JointForces]:
    """Passive forces by joint name; the armature is the model's."""
    return {
        name: JointForces(
            damping=spec.damping,
            friction=spec.friction,
            spring_stiffness=spec.spring_stiffness,
            spring_rest=spec.spring_rest,
            stop_stiffness=spec.stop_stiffness,
            stop_damping=spec.stop_damping,
        )
        for name, spec in specs
    }
