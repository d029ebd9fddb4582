# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Closed loops as a YAML file next to a URDF, in two forms.

``loop_closures.yaml`` of CAD exporters (sw2robot of jsk-ros-pkg): ``closures`` lists hinges between
two links, ``link_a`` and ``link_b``, at a ``point`` and about an ``axis`` in the frame of the root
link, all joints at zero; ``independent`` names the joints that others follow, a good guess of the
motors.

Gepetto's models of parallel robots: ``closed_loop`` lists pairs of frames, ``type`` says 3d or 6d
for each, ``name_mot`` names the motors, and ``joint_name`` with ``joint_type`` turns joints of the
URDF into others: SPHERICAL, UJOINT_XY and so on, FIXED. Frames are links, or joints, which stand
for the frames of their children.
"""

import copy
from collections.abc import Mapping
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from uk_dynamics.constraints.kinds import kind_by_foreign_name
from uk_dynamics.constraints.kinds.pairs import Hinge, Weld
from uk_dynamics.conversion.robot.imported_robot import Data, ImportedRobot, frame_data
from uk_dynamics.conversion.robot.urdf_text import xml_text
from uk_dynamics.exceptions import InputError, expect_names
from uk_dynamics.model.urdf import FAR, Array, Pose, RobotDescription, compose, inverse, turning_to

_X = np.array([1.0, 0.0, 0.0])


def read_loop_closures(data: dict[str, Any], description: RobotDescription) -> ImportedRobot:
    """What goes into the mechanism file, from the hinges of a YAML file and the URDF."""
    at_zero = {description.root: Pose()}
    for joint in description.joints:
        at_zero[joint.child] = compose(at_zero[joint.parent], joint.pose)
    robot = ImportedRobot(description.name)
    for number, closure in enumerate(data["closures"], start=1):
        place = f"closures[{number - 1}]"
        if not isinstance(closure, dict):
            raise InputError("expected link_a, link_b, point, axis", place=place)
        point, axis = (_vector(closure, key, place) for key in ("point", "axis"))
        if not axis.any():
            raise InputError("the axis is zero", place=f"{place}.axis")
        # the frame of the hinge turns about its x axis, and is the same in both links
        pin = Pose(point, turning_to(_X, axis / np.linalg.norm(axis)))
        entry: dict[str, object] = {"type": Hinge.name, "axis": _X.tolist()}
        for role, key in (("parent", "link_a"), ("child", "link_b")):
            link = str(closure.get(key))
            expect_names("link", [link], at_zero, place=f"{place}.{key}")
            entry[role] = frame_data(link, compose(inverse(at_zero[link]), pin))
        robot.add("constraint", f"loop_{number}", entry)
    known = [joint.name for joint in description.joints]
    independent = data.get("independent") or ()
    expect_names("joint", map(str, independent), known, place="independent")
    for joint_name in independent:
        why = "guess: an independent joint of the closed loops"
        robot.add_actuator(joint_name, {"joint": joint_name}, why)
    for key in data.keys() - {"closures", "independent", "dependent"}:
        robot.lost(f"key {key}", "is unknown")
    return robot


def _vector(closure: dict[str, Any], key: str, place: str) -> Array:
    values = closure.get(key)
    numbers = [x for x in values if isinstance(x, int | float)] if isinstance(values, list) else []
    if len(numbers) != 3 or numbers != values:
        raise InputError(f"expected three numbers, found {values!r:.60}", place=f"{place}.{key}")
    return np.array(numbers, dtype=float)


_LISTS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")
_AXES = {"X": "1 0 0", "Y": "0 1 0", "Z": "0 0 1"}


def read_gepetto(
    data: object, description: RobotDescription, folder: str
) -> tuple[ImportedRobot, str]:
    """What goes into the mechanism file, from the pairs of a YAML file, and the URDF as it says."""
    lists = _checked_lists(data)
    robot = ImportedRobot(description.name if description.name != "onshape" else folder)
    tree = ET.fromstring(description.text)
    # the link that each frame name stands for; a link goes before a joint of its name
    frames = {joint.name: joint.child for joint in description.joints}
    frames |= {link.name: link.name for link in description.links}
    _retype(tree, frames, lists, robot)
    _unlimited(tree, robot)
    for key in lists.keys() - set(_LISTS):
        robot.lost(f"key {key}", "is unknown")
    _close(frames, lists, robot)
    joints = [joint.get("name", "") for joint in tree.iterfind("joint")]
    motors = [str(motor) for motor in lists.get("name_mot", [])]
    expect_names("joint", motors, joints, place="name_mot")
    for motor in motors:
        robot.add_actuator(motor, {"joint": motor})
    if any("package:///" in (mesh.get("filename") or "") for mesh in tree.iter("mesh")):
        robot.lost("meshes", "their addresses (package:///...) name no package")
    return robot, xml_text(tree)


def _checked_lists(data: object) -> dict[str, list[object]]:
    if not isinstance(data, dict) or "closed_loop" not in data:
        raise InputError("there is neither closed_loop nor closures: no loops")
    for key in _LISTS:
        if not isinstance(data.get(key, []), list):
            raise InputError("expected a list", place=key)
    lists: dict[str, list[object]] = data
    for one, other in (("closed_loop", "type"), ("joint_name", "joint_type")):
        counts = len(lists.get(one, [])), len(lists.get(other, []))
        if counts[0] != counts[1]:
            problem = f"{counts[0]} in {one} and {counts[1]} in {other}; there is one for each"
            raise InputError(problem)
    return lists


def _close(
    frames: Mapping[str, str], lists: Mapping[str, list[object]], robot: ImportedRobot
) -> None:
    pairs, kinds = lists["closed_loop"], lists.get("type", [])
    for number, (pair, kind) in enumerate(zip(pairs, kinds, strict=True)):
        place = f"closed_loop[{number}]"
        if not isinstance(pair, list) or len(pair) != 2:
            raise InputError("expected a pair of frames", place=place)
        expect_names("frame", map(str, pair), frames, place=place)
        closure = kind_by_foreign_name(str(kind).lower(), "Gepetto")
        if closure is None:
            robot.changed(f"closed_loop {pair[0]}", f'type "{kind}" counts as 6d')
            closure = Weld
        parent, child = ({"link": frames[str(name)]} for name in pair)
        data: Data = {"type": closure.name, "parent": parent, "child": child}
        robot.constraints[f"loop_{number + 1}"] = data


def _retype(
    tree: ET.Element,
    frames: dict[str, str],
    lists: Mapping[str, list[object]],
    robot: ImportedRobot,
) -> None:
    """Turn joints of the URDF into what the YAML says that they are."""
    joints = {joint.get("name", ""): joint for joint in tree.iterfind("joint")}
    names = [str(name) for name in lists.get("joint_name", [])]
    expect_names("joint", names, joints, place="joint_name")
    for name, kind in zip(names, lists.get("joint_type", []), strict=True):
        joint, word = joints[name], str(kind).upper()
        if word == "FIXED":
            _strip(joint, "fixed")
        elif word == "SPHERICAL":
            _series(tree, joint, "XYZ", frames)
            reason = f"spherical, now three in series; they lock where {name}_Y is at ±90°"
            robot.changed(f"joint {name}", reason)
        elif word.startswith("UJOINT_") and set(word[7:]) <= set(_AXES) and len(word) == 9:
            _series(tree, joint, word[7:], frames)
            robot.changed(f"joint {name}", f"universal, now {name}_{word[7]} and {name}_{word[8]}")
        else:
            robot.lost(f"joint_type of {name}", f'"{kind}" is unknown: the joint stays as it is')


def _strip(joint: ET.Element, kind: str) -> None:
    """Leave of a joint what says where it is."""
    joint.set("type", kind)
    for part in list(joint):
        if part.tag not in ("parent", "child", "origin"):
            joint.remove(part)


def _series(tree: ET.Element, joint: ET.Element, axes: str, frames: dict[str, str]) -> None:
    """Joints about axes of the frame of a joint, in its place, massless links between them."""
    name, child = joint.get("name", ""), joint.find("child")
    assert child is not None
    last, place = child.get("link", ""), list(tree).index(joint)
    _strip(joint, "continuous")
    parts: list[ET.Element] = []
    for number, axis in enumerate(axes, start=1):
        step = copy.deepcopy(joint)
        step.set("name", f"{name}_{axis}")
        ET.SubElement(step, "axis", xyz=_AXES[axis])
        parent, end, origin = step.find("parent"), step.find("child"), step.find("origin")
        assert parent is not None
        assert end is not None
        if number > 1:
            parent.set("link", f"{name}_part_{number - 1}")
            if origin is not None:
                step.remove(origin)
        if number < len(axes):
            end.set("link", f"{name}_part_{number}")
            parts.append(ET.Element("link", name=f"{name}_part_{number}"))
        frames[f"{name}_{axis}"] = last if number == len(axes) else f"{name}_part_{number}"
        parts.append(step)
    tree[place : place + 1] = parts


def _unlimited(tree: ET.Element, robot: ImportedRobot) -> None:
    """These files leave limits out and mean none; URDF would mean 0 and 0."""
    names = []
    for joint in tree.iterfind("joint"):
        limit = joint.find("limit")
        if joint.get("type") not in ("revolute", "prismatic") or limit is None:
            continue
        if float(limit.get("lower", "0")) == float(limit.get("upper", "0")) == 0.0:
            names.append(joint.get("name", ""))
            if joint.get("type") == "revolute":
                joint.set("type", "continuous")
            else:
                limit.attrib.update(lower=repr(-FAR), upper=repr(FAR))
    if names:
        robot.changed(f"joints {', '.join(names)}", "without limits in the URDF: not held at 0")
