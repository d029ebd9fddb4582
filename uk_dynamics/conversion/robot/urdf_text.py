# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Writing a URDF; numbers keep all their digits."""

import math
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

import numpy as np

import uk_dynamics.model.urdf as urdf
from uk_dynamics.conversion.robot.imported_robot import ImportedRobot

#: Places of the six numbers of an inertia matrix, by their axes.
MOMENTS = {f"{'xyz'[i]}{'xyz'[j]}": (i, j) for i in range(3) for j in range(i, 3)}


def number(value: float) -> str:
    """All digits, and no minus zero."""
    return repr(float(value) + 0.0)


def numbers(values: urdf.Array | Sequence[float]) -> str:
    """Numbers with blanks between."""
    return " ".join(map(number, np.ravel(values)))


def urdf_text(robot: ImportedRobot) -> str:
    """The tree of a robot as URDF."""
    root = ET.Element("robot", name=robot.name)
    shapes: dict[str, list[tuple[str, urdf.Visual]]] = {}
    for tag, of_robot in (("visual", robot.visuals), ("collision", robot.collisions)):
        for shape in of_robot:
            shapes.setdefault(shape.link, []).append((tag, shape))
    for link in robot.links:
        _link(root, link, shapes.get(link.name, ()))
    for joint in robot.joints:
        _joint(root, joint)
    return xml_text(root)


def xml_text(root: ET.Element) -> str:
    """A document whose elements are indented."""
    ET.indent(root)
    return '<?xml version="1.0"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def inertial(link: urdf.Link) -> ET.Element:
    """Mass, centre and inertia of a link."""
    node = ET.Element("inertial")
    origin(node, urdf.Pose(link.center_of_mass))
    ET.SubElement(node, "mass", value=number(link.mass))
    moments = {f"i{name}": number(link.inertia[place]) for name, place in MOMENTS.items()}
    ET.SubElement(node, "inertia", moments)
    return node


def _link(root: ET.Element, link: urdf.Link, shapes: Iterable[tuple[str, urdf.Visual]]) -> None:
    node = ET.SubElement(root, "link", name=link.name)
    if link.mass or link.inertia.any():
        node.append(inertial(link))
    for tag, visual in shapes:
        shape = ET.SubElement(node, tag)
        origin(shape, visual.pose)
        geometry = ET.SubElement(ET.SubElement(shape, "geometry"), *dimensions(visual.shape))
        if isinstance(visual.shape, urdf.MeshFile):
            geometry.set("filename", str(visual.shape.path))
        if visual.colour is not None:
            material = ET.SubElement(shape, "material", name=f"colour_{numbers(visual.colour)}")
            ET.SubElement(material, "color", rgba=numbers(visual.colour))


def _joint(root: ET.Element, joint: urdf.Joint) -> None:
    endless = joint.type == "revolute" and -joint.lower == joint.upper == math.inf
    node = tie(root, joint.name, "continuous" if endless else joint.type, joint.parent, joint.child)
    origin(node, joint.pose)
    if joint.type in ("revolute", "prismatic", "planar"):
        ET.SubElement(node, "axis", xyz=numbers(joint.axis))
    known = math.isfinite(joint.effort_limit) or math.isfinite(joint.velocity_limit)
    if joint.type in ("revolute", "prismatic") and (known or not endless):
        limits = {} if endless else {"lower": joint.lower, "upper": joint.upper}
        limits |= {"effort": joint.effort_limit, "velocity": joint.velocity_limit}
        bounded = {
            name: number(value if math.isfinite(value) else math.copysign(urdf.FAR, value))
            for name, value in limits.items()
        }
        ET.SubElement(node, "limit", bounded)
    if joint.damping or joint.friction:
        values = {"damping": number(joint.damping), "friction": number(joint.friction)}
        ET.SubElement(node, "dynamics", values)


def dimensions(shape: urdf.Shape) -> tuple[str, dict[str, str]]:
    """Word and sizes of a shape, which URDF and SDF share; of a mesh without its file."""
    if isinstance(shape, urdf.Box):
        return "box", {"size": numbers(shape.size)}
    if isinstance(shape, urdf.Cylinder):
        return "cylinder", {"radius": number(shape.radius), "length": number(shape.length)}
    if isinstance(shape, urdf.Sphere):
        return "sphere", {"radius": number(shape.radius)}
    return "mesh", {"scale": numbers(shape.scale)}


def origin(node: ET.Element, pose: urdf.Pose, tag: str = "origin", *, whole: bool = False) -> None:
    """A pose as ``xyz`` and ``rpy``; what is zero is left out, unless the whole is wanted."""
    turned = whole or not np.array_equal(pose.rotation, np.eye(3))
    if turned or pose.translation.any():
        attributes = {"xyz": numbers(pose.translation)}
        if turned:
            attributes["rpy"] = numbers(urdf.to_rpy(pose.rotation))
        ET.SubElement(node, tag, attributes)


def tie(robot: ET.Element, name: str, kind: str, parent: str, child: str) -> ET.Element:
    """A joint of two links."""
    node = ET.SubElement(robot, "joint", name=name, type=kind)
    ET.SubElement(node, "parent", link=parent)
    ET.SubElement(node, "child", link=child)
    return node
