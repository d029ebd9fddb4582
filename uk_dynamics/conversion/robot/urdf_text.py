# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Writing a URDF; numbers keep all their digits."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

import numpy as np

import uk_dynamics.model.urdf as urdf
from uk_dynamics.conversion.robot.imported_robot import ImportedRobot


def urdf_text(robot: ImportedRobot) -> str:
    """The tree of a robot as URDF."""
    root = ET.Element("robot", name=robot.name)
    shapes: dict[str, list[urdf.Visual]] = {}
    for visual in robot.visuals:
        shapes.setdefault(visual.link, []).append(visual)
    for link in robot.links:
        _link(root, link, shapes.get(link.name, ()))
    for joint in robot.joints:
        _joint(root, joint)
    ET.indent(root)
    return '<?xml version="1.0"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _link(root: ET.Element, link: urdf.Link, visuals: Iterable[urdf.Visual]) -> None:
    node = ET.SubElement(root, "link", name=link.name)
    if link.mass or link.inertia.any():
        inertial = ET.SubElement(node, "inertial")
        if link.center_of_mass.any():
            ET.SubElement(inertial, "origin", xyz=_text(link.center_of_mass))
        ET.SubElement(inertial, "mass", value=_number(link.mass))
        names = {f"i{a}{b}": (i, j) for i, a in enumerate("xyz") for j, b in enumerate("xyz")}
        wanted = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
        values = {name: _number(link.inertia[names[name]]) for name in wanted}
        ET.SubElement(inertial, "inertia", values)
    for visual in visuals:
        shape = ET.SubElement(node, "visual")
        _origin(shape, visual.pose)
        _shape(ET.SubElement(shape, "geometry"), visual.shape)
        if visual.colour is not None:
            material = ET.SubElement(shape, "material", name=f"colour_{_text(visual.colour)}")
            ET.SubElement(material, "color", rgba=_text(visual.colour))


def _joint(root: ET.Element, joint: urdf.Joint) -> None:
    endless = joint.type == "revolute" and -joint.lower == joint.upper == math.inf
    node = ET.SubElement(
        root, "joint", name=joint.name, type="continuous" if endless else joint.type
    )
    ET.SubElement(node, "parent", link=joint.parent)
    ET.SubElement(node, "child", link=joint.child)
    _origin(node, joint.pose)
    if joint.type in ("revolute", "prismatic", "planar"):
        ET.SubElement(node, "axis", xyz=_text(joint.axis))
    known = math.isfinite(joint.effort_limit) or math.isfinite(joint.velocity_limit)
    if joint.type in ("revolute", "prismatic") and (known or not endless):
        limits = {} if endless else {"lower": joint.lower, "upper": joint.upper}
        limits |= {"effort": joint.effort_limit, "velocity": joint.velocity_limit}
        bounded = {
            name: (value if math.isfinite(value) else math.copysign(urdf.FAR, value))
            for name, value in limits.items()
        }
        ET.SubElement(node, "limit", {name: _number(value) for name, value in bounded.items()})
    if joint.damping or joint.friction:
        ET.SubElement(
            node, "dynamics", damping=_number(joint.damping), friction=_number(joint.friction)
        )


def _shape(geometry: ET.Element, shape: urdf.Shape) -> None:
    if isinstance(shape, urdf.Box):
        ET.SubElement(geometry, "box", size=_text(shape.size))
    elif isinstance(shape, urdf.Cylinder):
        ET.SubElement(
            geometry, "cylinder", radius=_number(shape.radius), length=_number(shape.length)
        )
    elif isinstance(shape, urdf.Sphere):
        ET.SubElement(geometry, "sphere", radius=_number(shape.radius))
    elif isinstance(shape, urdf.MeshFile):
        ET.SubElement(geometry, "mesh", filename=str(shape.path), scale=_text(shape.scale))


def _origin(node: ET.Element, pose: urdf.Pose) -> None:
    turned = not np.array_equal(pose.rotation, np.eye(3))
    if turned or pose.translation.any():
        attributes = {"xyz": _text(pose.translation)}
        if turned:
            attributes["rpy"] = _text(urdf.to_rpy(pose.rotation))
        ET.SubElement(node, "origin", attributes)


def _text(values: urdf.Array | Sequence[float]) -> str:
    return " ".join(_number(value) for value in values)


def _number(value: float) -> str:
    return repr(float(value) + 0.0)  # no minus zero
