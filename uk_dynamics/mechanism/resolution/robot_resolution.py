# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The robot of a mechanism: its URDF with the loops it closes itself, attached frames, encoders."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.constraints.kinds import foreign_words, kind_by_foreign_name
from uk_dynamics.core.linalg import to_quaternion
from uk_dynamics.exceptions import InputError, UnknownNameError, UrdfError, expect_names, located
from uk_dynamics.forces import JointForces
from uk_dynamics.mechanism.files.constraint_specification import ConstraintSpec
from uk_dynamics.mechanism.files.force_specification import ContactSpec, ForceSpec
from uk_dynamics.mechanism.files.specification import JointSpec, MechanismSpec
from uk_dynamics.mechanism.resolution.actuators import Actuators
from uk_dynamics.model import RobotModel
from uk_dynamics.model.urdf import (
    WORLD,
    AttachedFrame,
    LoopJoint,
    Pose,
    RobotDescription,
    read_urdf,
    read_urdf_text,
)


def read_description(spec: MechanismSpec, text: str | None) -> RobotDescription:
    """The robot of a mechanism, from the URDF it names or a text to use instead."""
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
    """The robot in its surroundings, with rotor inertias and attached frames."""
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


def frame_name(owner: ConstraintSpec | ContactSpec | ForceSpec, role: str) -> str:
    """Name of the frame that a constraint or a force attaches to a link."""
    return f"{'force:' if isinstance(owner, ForceSpec) else ''}{owner.name}/{role}"


def attached_frames(
    owners: Iterable[ConstraintSpec | ContactSpec | ForceSpec],
    links: Sequence[str],
    file: str,
    section: str,
) -> list[AttachedFrame]:
    """Frames of constraints or forces, whose links are looked up."""
    frames = []
    for owner in owners:
        for role, frame in owner.frames:
            if frame.link != WORLD:
                place = f"{section}.{owner.name}.{role}.link"
                expect_names("link", [frame.link], links, file=file, place=place)
            name = frame_name(owner, role)
            frames.append(AttachedFrame(name, frame.link, frame.xyz, frame.quaternion))
    return frames


# inertia, one-sided constraints, and friction that sticks
_NO_FORCES = ("armature", "stiction", "stop_hard", "stop_restitution")


def joint_forces(specs: Iterable[tuple[str, JointSpec]]) -> dict[str, JointForces]:
    """Passive forces by joint name; the armature is the model's."""
    return {
        name: JointForces(**{key: x for key, x in vars(smooth).items() if key not in _NO_FORCES})
        for name, smooth in (
            (name, replace(spec, friction=0.0) if spec.stiction else spec) for name, spec in specs
        )
    }


@dataclass(frozen=True)
class Measurements:
    """The measured joints of a mechanism."""

    names: tuple[str, ...]  # In declared order; those of motors in the order of the motors
    # Standard deviation of each measurement, (d,), in rad or m; 1 where none is declared, so that
    # all count alike
    deviations: Array

    def __len__(self) -> int:
        """Number of measured joints."""
        return len(self.names)

    @classmethod
    def of(cls, spec: MechanismSpec, model: RobotModel, actuators: Actuators) -> "Measurements":
        """Look up the joints; without ``measured`` they are those that motors drive."""
        if not spec.measured:
            driven = [
                joint
                for motor in actuators.matrix.T
                for joint in (model.velocity_names[i] for i in np.flatnonzero(motor))
                if joint in model.joint_names
            ]
            names = tuple(dict.fromkeys(driven))
            return cls(names, np.ones(len(names)))
        names = tuple(name for name, _ in spec.measured)
        expect_names("joint", names, model.joint_names, file=spec.file, place="measured")
        return cls(names, np.array([1.0 if s is None else s for _, s in spec.measured]))


def with_loops(spec: MechanismSpec, description: RobotDescription) -> MechanismSpec:
    """The specification with the loops of a description before its own constraints.

    Raises:
        UrdfError: A loop is of no known type, or its axes make no such joint.
        InputError: The mechanism file has a constraint of the same name.
    """
    found = []
    declared = {constraint.name: constraint for constraint in spec.constraints}
    for name, place, data in _entries(description):
        try:
            loop = ConstraintSpec.from_data(name, data, spec.stabilization, "constraints")
        except InputError as error:
            raise UrdfError(error.problem, file=description.source, place=place) from None
        if name not in declared:
            found.append(loop)
        elif loop != declared[name]:  # the specification of a mechanism may be resolved again
            raise InputError(
                f"{description.source} closes a loop of this name; remove it here, or rename it",
                file=spec.file,
                place=f"constraints.{name}",
            )
    return replace(spec, constraints=(*found, *spec.constraints)) if found else spec


def _entries(description: RobotDescription) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Name, place in the description, and entry as a mechanism file would have it."""
    for joint in description.loops.joints:
        place = f"loop {joint.name}"
        yield joint.name, place, _data(joint, description.source, place)
    for coupling in description.loops.couplings:
        data = {"type": "joint_coupling", "joints": dict(coupling.joints)}
        yield coupling.name, f"coupling {coupling.name}", data


def _data(joint: LoopJoint, source: str, place: str) -> dict[str, Any]:
    kind = kind_by_foreign_name(joint.type, "URDF")
    if kind is None:
        shown = ", ".join(word for word in foreign_words("URDF") if word != "mimic")
        problem = f'type "{joint.type}" closes no loop; expected one of {shown}'
        raise UrdfError(problem, file=source, place=place)
    axes = [(x, y, z) for x, y, z in (axis.tolist() for axis in joint.axes)]
    keys: dict[str, Any] | None
    if "parent_axis" in kind.keys and len(axes) < 2:
        problem = f"a {joint.type} needs two axes, and this element has one"
        raise UrdfError(problem, file=source, place=place)
    if "parent_axis" in kind.keys:
        keys = dict(zip(("parent_axis", "child_axis"), map(list, axes), strict=False))
    else:
        keys = kind.of_axes(axes, joint.pitch)
    if keys is None:
        raise UrdfError(f"a {joint.type} needs a pitch", file=source, place=place)
    return {
        "type": kind.name,
        **keys,
        "parent": _frame(joint.parent, joint.parent_pose),
        "child": _frame(joint.child, joint.child_pose),
    }


def _frame(link: str, pose: Pose) -> dict[str, Any]:
    return {
        "link": link,
        "xyz": pose.translation.tolist(),
        "quaternion": to_quaternion(pose.rotation).tolist(),
    }
