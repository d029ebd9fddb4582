# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Loops that the robot description closes itself, as constraints of the mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from uk_dynamics.constraints.kinds import kind_called, words_of
from uk_dynamics.exceptions import InputError, UrdfError
from uk_dynamics.mechanism.files.constraint_specification import ConstraintSpec
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.model.urdf import LoopJoint, Pose, RobotDescription


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
    if not found:
        return spec
    return replace(spec, constraints=(*found, *spec.constraints))


def _entries(description: RobotDescription) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Name, place in the description, and entry as a mechanism file would have it."""
    for joint in description.loops.joints:
        place = f"loop {joint.name}"
        yield joint.name, place, _data(joint, description.source, place)
    for coupling in description.loops.couplings:
        data = {"type": "joint_coupling", "joints": dict(coupling.joints)}
        yield coupling.name, f"coupling {coupling.name}", data


def _data(joint: LoopJoint, source: str, place: str) -> dict[str, Any]:
    kind = kind_called(joint.type, "URDF")
    if kind is None:
        shown = ", ".join(word for word in words_of("URDF") if word != "mimic")
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
    from scipy.spatial.transform import Rotation  # takes long to import

    return {
        "link": link,
        "xyz": pose.translation.tolist(),
        "quaternion": Rotation.from_matrix(pose.rotation).as_quat().tolist(),
    }
