# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Links of an SDF model with their shapes, its joints in the model's frame, Drake's constraints."""

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np

import uk_dynamics.model.urdf as urdf
from uk_dynamics.conversion.graph import Axis, GraphJoint
from uk_dynamics.conversion.robot.imported_robot import Data, ImportedRobot, moved_link, turn
from uk_dynamics.conversion.robot.urdf_text import MOMENTS
from uk_dynamics.conversion.sdf.frames import (
    MODEL,
    Frames,
    amount,
    is_true,
    number,
    numbers,
    read_pose,
    text,
    unhandled,
)
from uk_dynamics.exceptions import InputError, located
from uk_dynamics.model.urdf import Pose, compose, relative
from uk_dynamics.resources import resolve

_OF_LINKS = (
    *("pose", "inertial", "visual", "collision", "gravity", "self_collide", "must_be_base_link"),
)


def read_link(node: ET.Element, robot: ImportedRobot) -> urdf.Link:
    """A body, in the frame of its link; what else the element holds becomes remarks."""
    name = node.get("name", "")
    inertial = node.find("inertial")
    if inertial is None:
        robot.changed(f"link {name}", "no <inertial>: SDF's default of 1 kg and 1 kg m² is written")
    elif is_true(inertial.get("auto")):
        problem = '<inertial auto="true"> takes the inertia from collisions; write mass and inertia'
        raise InputError(problem)
    mass = amount(inertial, "mass", 1.0)
    inertia = np.zeros((3, 3))
    for name_, (i, j) in MOMENTS.items():
        default = 1.0 if i == j else 0.0
        inertia[i, j] = inertia[j, i] = amount(inertial, f"inertia/i{name_}", default)
    for child in unhandled(inertial, ("mass", "inertia", "pose", "density")):
        robot.lost(f"link {name}", f"<{child.tag}> of its inertial: no such force here")
    if not is_true(node.findtext("gravity", "true")):
        robot.lost(f"link {name}", "gravity is off for it; here gravity acts on all links")
    for child in unhandled(node, _OF_LINKS):
        label = child.get("name") or child.get("type") or ""
        robot.lost(f"link {name}", f"<{child.tag}> {label}".strip() + ": no part of the dynamics")
    place = Pose() if inertial is None else read_pose(inertial.find("pose"))
    return moved_link(urdf.Link(name, mass, np.zeros(3), inertia), place)


def read_visuals(node: ET.Element, robot: ImportedRobot, directory: Path) -> list[urdf.Visual]:
    """The shapes of a link that URDF knows, in the frame of the link."""
    link, found = node.get("name", ""), []
    for visual, place, pose, geometry in link_shapes(node, "visual", robot):
        shape = read_shape(geometry, place, robot, directory)
        if shape is not None:
            found.append(urdf.Visual(link, pose, shape, _colour(visual)))
    return found


def link_shapes(
    node: ET.Element, tag: str, robot: ImportedRobot
) -> Iterator[tuple[ET.Element, str, Pose, ET.Element]]:
    """Visuals or collisions of a link, with what remarks call them, their poses and geometries."""
    link = node.get("name", "")
    for one in node.iterfind(tag):
        place = f"{tag} {link}/{one.get('name', '')}"
        pose, geometry = one.find("pose"), one.find("geometry")
        if pose is not None and pose.get("relative_to") not in (None, "", link):
            robot.lost(place, "its pose is given in another frame than its link's")
        elif geometry is not None:
            yield one, place, read_pose(pose), geometry


def read_shape(
    geometry: ET.Element, place: str, robot: ImportedRobot, directory: Path
) -> urdf.Shape | None:
    """A shape that URDF knows; None, with a remark, for others."""
    for node in geometry:
        if node.tag == "box":
            size = node.find("size")
            if size is None:
                raise InputError("<box> has no <size>; add it")
            return urdf.Box(tuple(numbers(size, 3).tolist()))
        if node.tag == "cylinder":
            return urdf.Cylinder(amount(node, "radius", 1.0), amount(node, "length", 1.0))
        if node.tag == "sphere":
            return urdf.Sphere(amount(node, "radius", 1.0))
        if node.tag == "mesh":
            uri = (node.findtext("uri") or "").strip()
            try:
                path = resolve(uri, relative_to=directory)
            except InputError as error:
                robot.lost(f"mesh {uri}", f"not drawn: {error.problem.replace(uri, 'its address')}")
                return None
            scale = node.find("scale")
            factors = (1.0, 1.0, 1.0) if scale is None else tuple(numbers(scale, 3).tolist())
            return urdf.MeshFile(path, factors)
        robot.lost(place, f"URDF has no shape <{node.tag}>")
    return None


def _colour(visual: ET.Element) -> urdf.Numbers:
    node = visual.find("material/diffuse")
    if node is None:
        return urdf.GREY
    try:
        values = tuple(float(word) for word in (node.text or "").split())
    except ValueError:  # what nothing depends on stops nothing
        return urdf.GREY
    return (*values, 1.0)[:4] if len(values) >= 3 else urdf.GREY


# Drake's joints without coordinates: what names their frames, and the kind in SDF's words
_ENDS_OF_DRAKE = {
    "weld_constraint": (("parent", "child"), "fixed"),
    "ball_constraint": (("ball_constraint_body_A", "ball_constraint_body_B"), "ball"),
    "linear_bushing_rpy": (("bushing_frameA", "bushing_frameC"), ""),  # by its stiffness
}


def local_tag(node: ET.Element) -> str:
    """The tag of an element without its namespace."""
    return node.tag.rpartition("}")[2]


def drake_joints(model: ET.Element, frames: Frames, robot: ImportedRobot) -> Iterator[GraphJoint]:
    """Joints without coordinates of a model; a bushing that is none becomes a remark."""
    for node in model:
        if not is_drake_joint(node):
            continue
        kind = local_tag(node)
        with located(place=f"drake:{kind}"):
            found = _joint(node, kind, frames, robot)
        if found is not None:
            yield found


def is_drake_joint(node: ET.Element) -> bool:
    """Whether an element is one of Drake's joints without coordinates."""
    return "}" in node.tag and local_tag(node) in _ENDS_OF_DRAKE


def _joint(node: ET.Element, kind: str, frames: Frames, robot: ImportedRobot) -> GraphJoint | None:
    parts = {local_tag(part): part for part in node}
    tags, word = _ENDS_OF_DRAKE[kind]
    ends = [(_part(parts, tag).text or "").strip() for tag in tags]
    axes: tuple[Axis, ...] = ()
    if kind == "linear_bushing_rpy":
        torque, force = (
            numbers(_part(parts, f"bushing_{part}_stiffness"), 3) for part in ("torque", "force")
        )
        found, directions = urdf.bushing_joint(torque, force)
        if not found:
            robot.lost(f"bushing {' to '.join(ends)}", "is no joint")
            return None
        word = found.replace("spherical", "ball")
        robot.changed(f"bushing {' to '.join(ends)}", f"is rigid here, a {word} joint")
        axes = tuple(Axis(turn("", direction)) for direction in directions)
    places = [frames.pose(end) for end in ends]
    if kind == "ball_constraint":
        points = [numbers(_part(parts, f"ball_constraint_{p}"), 3) for p in ("p_AP", "p_BQ")]
        places = [compose(place, Pose(point)) for place, point in zip(places, points, strict=True)]
    parent, child = (frames.link(end) for end in ends)
    at_parent = relative(frames.pose(parent), places[0])
    at_child = relative(frames.pose(child), places[1])
    name = f"{ends[0]}_to_{ends[1]}"
    return GraphJoint(name, word, parent, child, places[0], at_parent, at_child, axes)


def _part(parts: dict[str, ET.Element], tag: str) -> ET.Element:
    if tag not in parts:
        raise InputError(f"<drake:{tag}> is missing; add it")
    return parts[tag]


_OF_JOINTS = (
    *("pose", "parent", "child", "axis", "axis2", "thread_pitch", "screw_thread_pitch"),
    *("gearbox_ratio", "gearbox_reference_body"),
)
_AXES = {"revolute": 1, "continuous": 1, "prismatic": 1, "screw": 1}
_AXES |= {"universal": 2, "revolute2": 2, "gearbox": 2}
_ENDLESS = 1e16  # SDF's older word for no limit


def read_joint(
    node: ET.Element, frames: Frames, robot: ImportedRobot, *, axes_in_model: bool
) -> GraphJoint:
    """A joint; what cannot be carried over becomes remarks."""
    name, kind = node.get("name", ""), node.get("type", "")
    pose = frames.pose(name)
    ends = [text(node, tag) for tag in ("parent", "child")]
    parent, child = _link(frames, ends[0], "parent"), _link(frames, ends[1], "child")
    at_parent, at_child = (relative(frames.pose(link), pose) for link in (parent, child))
    if node.find("pose") is None and frames.drawn_apart(*ends):
        at_parent = relative(frames.pose(parent), frames.pose(ends[0]))
        at_child = relative(frames.pose(child), frames.pose(ends[1]))
        reason = f"joins the frames {ends[0]} and {ends[1]}, which the file draws apart"
        robot.changed(f"joint {name}", reason)
    axes = []
    for tag in ("axis", "axis2")[: _AXES.get(kind, 0)]:
        found = node.find(tag)
        direction = _direction(found, frames, name, axes_in_model=axes_in_model)
        axes.append(_axis(found, name, pose.rotation.T @ direction, robot))
    for extra in unhandled(node, _OF_JOINTS):
        label = extra.get("name") or ""
        robot.lost(f"joint {name}", f"<{extra.tag}> {label}".strip() + ": has no place here")
    reference, ratio = "", 1.0
    if kind == "gearbox":
        reference = _link(frames, text(node, "gearbox_reference_body"), "gearbox_reference_body")
        ratio = amount(node, "gearbox_ratio", 1.0)
    ends_at = (parent, child, pose, at_parent, at_child)
    return GraphJoint(name, kind, *ends_at, tuple(axes), _pitch(node, kind), reference, ratio)


def _link(frames: Frames, name: str, tag: str) -> str:
    if not name:
        raise InputError(f"<{tag}> is missing; add it")
    return frames.link(name)


def _direction(
    axis: ET.Element | None, frames: Frames, joint: str, *, axes_in_model: bool
) -> urdf.Array:
    """The direction of an axis in the model, unit, (3,)."""
    xyz = None if axis is None else axis.find("xyz")
    if axis is None or xyz is None:
        return frames.pose(joint).rotation[:, 2]
    in_model = axes_in_model or is_true(axis.findtext("use_parent_model_frame"))
    return frames.direction(xyz, MODEL if in_model else joint)


def _axis(node: ET.Element | None, joint: str, direction: urdf.Array, robot: ImportedRobot) -> Axis:
    data: Data = {}
    stiffness = amount(node, "dynamics/spring_stiffness", 0.0)
    if stiffness:
        rest = amount(node, "dynamics/spring_reference", 0.0)
        data["spring"] = {"stiffness": stiffness, "rest": rest}
    stop = number(node, "limit/stiffness", 0.0)
    if stop > 0.0:
        data["stop"] = {"stiffness": stop, "damping": number(node, "limit/dissipation", 0.0)}
    mimic = None if node is None else node.find("mimic")
    if mimic is not None:
        source, factor = mimic.get("joint", ""), amount(mimic, "multiplier", 1.0)
        if mimic.get("axis", "axis") != "axis":
            robot.lost(f"joint {joint}", f"mimics the second axis of {source}")
        else:
            offset = amount(mimic, "offset", 0.0) - factor * amount(mimic, "reference", 0.0)
            coupling: Data = {"type": "joint_coupling", "joints": {joint: 1.0, source: -factor}}
            robot.add("constraint", f"{joint}_mimic", coupling | {"offset": offset})
    lower, upper = number(node, "limit/lower", -math.inf), number(node, "limit/upper", math.inf)
    read = replace(
        turn("", direction),
        lower=lower if lower > -_ENDLESS else -math.inf,
        upper=upper if upper < _ENDLESS else math.inf,
        effort_limit=_limit(number(node, "limit/effort", math.inf)),
        velocity_limit=_limit(number(node, "limit/velocity", math.inf)),
        damping=amount(node, "dynamics/damping", 0.0),
        friction=amount(node, "dynamics/friction", 0.0),
    )
    return Axis(read, data)


def _limit(value: float) -> float:
    """SDF writes −1 for none."""
    return value if value > 0.0 else math.inf


def _pitch(node: ET.Element, kind: str) -> float:
    if kind != "screw":
        return 0.0
    if node.find("screw_thread_pitch") is None and node.find("thread_pitch") is not None:
        turns = amount(node, "thread_pitch", 1.0)
        if turns == 0.0:
            raise InputError("thread_pitch: 0 turns for a metre are no screw")
        return -2.0 * math.pi / turns
    return amount(node, "screw_thread_pitch", 1.0)
