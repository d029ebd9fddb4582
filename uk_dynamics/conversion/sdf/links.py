# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Links of an SDF model: bodies and their shapes."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np

import uk_dynamics.model.urdf as urdf
from uk_dynamics.conversion.robot.imported_robot import ImportedRobot, moved_link
from uk_dynamics.conversion.robot.urdf_text import MOMENTS
from uk_dynamics.conversion.sdf.frames import amount, is_true, numbers, read_pose, unhandled
from uk_dynamics.exceptions import InputError
from uk_dynamics.resources import resolve

_HANDLED = (
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
    for child in unhandled(node, _HANDLED):
        label = child.get("name") or child.get("type") or ""
        robot.lost(f"link {name}", f"<{child.tag}> {label}".strip() + ": no part of the dynamics")
    place = urdf.Pose() if inertial is None else read_pose(inertial.find("pose"))
    return moved_link(urdf.Link(name, mass, np.zeros(3), inertia), place)


def read_visuals(node: ET.Element, robot: ImportedRobot, directory: Path) -> list[urdf.Visual]:
    """The shapes of a link that URDF knows, in the frame of the link."""
    found = []
    link = node.get("name", "")
    for visual in node.iterfind("visual"):
        place = f"visual {link}/{visual.get('name', '')}"
        pose = visual.find("pose")
        if pose is not None and pose.get("relative_to") not in (None, "", link):
            robot.lost(place, "its pose is given in another frame than its link's")
            continue
        geometry = visual.find("geometry")
        shape = None if geometry is None else _shape(geometry, place, robot, directory)
        if shape is not None:
            found.append(urdf.Visual(link, read_pose(pose), shape, _colour(visual)))
    return found


def _shape(
    geometry: ET.Element, place: str, robot: ImportedRobot, directory: Path
) -> urdf.Shape | None:
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
