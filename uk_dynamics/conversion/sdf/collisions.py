# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts of an SDF model: its collision shapes with those of models that stand still.

A pair has the smaller friction and the smaller restitution of both, as in Gazebo's ODE.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np

from uk_dynamics.conversion.robot.contact_entries import (
    Capsule,
    Ground,
    Plane,
    Touching,
    contact_entry,
)
from uk_dynamics.conversion.robot.imported_robot import Data, ImportedRobot, frame_data
from uk_dynamics.conversion.sdf.elements import link_shapes, read_shape
from uk_dynamics.conversion.sdf.frames import Frames, amount, numbers, unhandled
from uk_dynamics.exceptions import InputError
from uk_dynamics.model.urdf import WORLD, Box, Cylinder, Pose, compose, inverse, turning_to
from uk_dynamics.resources import resolve

_FRICTION, _RESTITUTION = 1.0, 0.0  # where a file says nothing


@dataclass(frozen=True, eq=False)
class Collision:
    """One shape, in the frame of its link, or in the world."""

    name: str
    link: str
    pose: Pose
    shape: Touching
    friction: float = _FRICTION
    restitution: float = _RESTITUTION


def add_contacts(
    model: ET.Element,
    still: Sequence[ET.Element],  # models that do not move
    inside: Mapping[str, Pose],  # of each link: its URDF frame, seen from its frame in the file
    robot: ImportedRobot,
    directory: Path,
) -> None:
    """Add contacts of the links with what stands still, or with level ground; stops, stiction."""
    for joint in robot.joints:
        limited = np.isfinite((joint.lower, joint.upper)).any()
        own: Data = {"stop": {"hard": True}} if limited else {}
        if joint.friction:
            own["stiction"] = joint.friction
        if own:
            robot.joint_data[joint.name] = own | robot.joint_data.get(joint.name, {})
    grounds = [one for other in still for one in _in_the_world(other, robot, directory)]
    if not grounds:
        grounds = [Collision("ground", WORLD, Pose(), Plane(), np.inf, np.inf)]
        robot.changed("contacts", "with level ground at z = 0: no model stands still in the file")
    found = [one for link in model.iterfind("link") for one in _collisions(link, robot, directory)]
    links: dict[Collision, str] = {}  # of those that touch as convex hulls
    for ground in grounds:
        for one in found:
            frames = {ground: ground.pose, one: compose(inverse(inside[one.link]), one.pose)}
            for parent, child in ((ground, one), (one, ground)):
                if keys := contact_entry(parent.shape, child.shape):
                    break
            ends = {parent: (parent.link, frames[parent]), child: (child.link, frames[child])}
            hulls = {x: x.shape for x in ends if isinstance(x.shape, Box | Cylinder)}
            if not keys and len(hulls) == len(ends):
                keys = {"surface": {"type": "collision"}}
                for end, shape in hulls.items():
                    if end not in links:
                        links[end] = robot.add_shape_link(end.name, *ends[end], shape)
                    ends[end] = links[end], Pose()
            if not keys:
                subject = f"contact {ground.name} with {one.link}/{one.name}"
                robot.lost(subject, "no contact of these shapes is known here")
                continue
            for role, end in (("parent", parent), ("child", child)):
                keys[role] = frame_data(*ends[end])
            for key in ("friction", "restitution"):
                if value := min(getattr(ground, key), getattr(one, key)):
                    keys[key] = value
            robot.add("contact", f"{ground.name}_{one.link}_{one.name}", keys)


def _in_the_world(model: ET.Element, robot: ImportedRobot, directory: Path) -> Iterator[Collision]:
    frames = Frames(model)
    for link in model.iterfind("link"):
        place = compose(frames.placed, frames.pose(link.get("name", "")))
        for one in _collisions(link, robot, directory):
            name = f"{model.get('name', 'ground')}_{one.name}"
            pose = compose(place, one.pose)
            yield Collision(name, WORLD, pose, one.shape, one.friction, one.restitution)


def _collisions(link: ET.Element, robot: ImportedRobot, directory: Path) -> Iterator[Collision]:
    for node, place, pose, geometry in link_shapes(link, "collision", robot):
        shape, offset = _shape(geometry, place, robot, directory)
        if shape is None:
            continue
        surface = node.find("surface")
        friction = amount(surface, "friction/ode/mu", _FRICTION)
        if amount(surface, "friction/ode/mu2", friction) != friction:
            robot.changed(place, "friction is alike in all directions: <mu>")
        for tag in unhandled(surface, ("friction", "bounce")):
            robot.lost(place, f"<{tag.tag}> of its surface: contacts are rigid here")
        restitution = min(amount(surface, "bounce/restitution_coefficient", _RESTITUTION), 1.0)
        name, owner = node.get("name", "collision"), link.get("name", "")
        yield Collision(name, owner, compose(pose, offset), shape, friction, restitution)


def _shape(
    geometry: ET.Element, place: str, robot: ImportedRobot, directory: Path
) -> tuple[Touching | None, Pose]:
    """A shape, and its place in the frame of its collision."""
    node = next(iter(geometry), None)
    match "" if node is None else node.tag:
        case "plane":
            normal = geometry.find("plane/normal")
            up = np.array([0.0, 0.0, 1.0]) if normal is None else numbers(normal, 3)
            if not up.any():
                raise InputError("<normal> is zero; give a direction such as 0 0 1")
            return Plane(), Pose(rotation=turning_to(np.eye(3)[2], up / np.linalg.norm(up)))
        case "capsule":
            return Capsule(amount(node, "radius", 0.5), amount(node, "length", 1.0)), Pose()
        case "heightmap":
            size, offset = geometry.find("heightmap/size"), geometry.find("heightmap/pos")
            extent = [1.0, 1.0, 1.0] if size is None else numbers(size, 3).tolist()
            try:
                uri = (geometry.findtext("heightmap/uri") or "").strip()
                path = str(resolve(uri, relative_to=directory))
            except InputError as error:
                robot.lost(place, f"its heights are not there: {error.problem}")
                return None, Pose()
            return Ground(path, extent), Pose(np.zeros(3) if offset is None else numbers(offset, 3))
        case "":
            return None, Pose()
    return read_shape(geometry, place, robot, directory), Pose()
