# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Shapes of the links of a robot: the ``<visual>`` and ``<collision>`` elements of its URDF."""

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as ET

from uk_dynamics.exceptions import InputError
from uk_dynamics.model.urdf.description import Pose, RobotDescription
from uk_dynamics.model.urdf.schema import finite_numbers, read_origin
from uk_dynamics.resources import resolve

Numbers = tuple[float, ...]
GREY: Numbers = (0.6, 0.62, 0.65, 1.0)  # of what names no material


@dataclass(frozen=True)
class Box:
    """A box around the origin; ``size`` (3,) in m."""

    size: Numbers


@dataclass(frozen=True)
class Cylinder:
    """A cylinder around the origin along z, in m."""

    radius: float
    length: float


@dataclass(frozen=True)
class Sphere:
    """A sphere around the origin, in m."""

    radius: float


@dataclass(frozen=True)
class MeshFile:
    """A file with triangles; ``scale`` (3,) takes its numbers to m."""

    path: Path
    scale: Numbers


Shape = Box | Cylinder | Sphere | MeshFile


@dataclass(frozen=True)
class Visual:
    """One shape of a link."""

    link: str  # name of the link
    pose: Pose  # of the shape in the link
    shape: Shape  # what it is
    colour: Numbers | None  # red, green, blue and opacity, 0 to 1; None: as the mesh file says


@dataclass(frozen=True)
class Appearance:
    """What the links of a robot look like."""

    visuals: tuple[Visual, ...]  # their shapes
    problems: tuple[str, ...]  # what cannot be shown, one line each


def appearance(
    description: RobotDescription,  # with the URDF text
    directory: Path | None = None,  # where relative paths of meshes start; None: the current one
) -> Appearance:
    """Read the shapes of all links; what cannot be used is named among the problems."""
    robot = ET.fromstring(description.text)
    materials = {
        node.get("name", ""): colour
        for node in robot.iter("material")
        if (colour := _colour(node)) is not None
    }
    found = [
        _visual(link.get("name", ""), node, materials, directory)
        for link in robot.iterfind("link")
        for node in link.iterfind("visual")
    ]
    return Appearance(
        tuple(visual for visual in found if isinstance(visual, Visual)),
        tuple(problem for problem in found if isinstance(problem, str)),
    )


def collision_shapes(description: RobotDescription, link: str) -> tuple[tuple[Pose, Shape], ...]:
    """What a link may touch others with, and where in it; InputError: no shape of URDF."""
    return tuple(
        (read_origin(node.find("origin")), _shape(node.find("geometry"), None))
        for one in ET.fromstring(description.text).iterfind("link")
        if one.get("name") == link
        for node in one.iterfind("collision")
    )


def _visual(
    link: str, node: ET.Element, materials: dict[str, Numbers], directory: Path | None
) -> Visual | str:
    """A shape, or a line that says what is wrong with it."""
    material = node.find("material")
    try:
        shape = _shape(node.find("geometry"), directory)
        pose = read_origin(node.find("origin"))
        colour: Numbers | None = None if isinstance(shape, MeshFile) else GREY
        if material is not None:
            colour = _colour(material) or materials.get(material.get("name", ""), colour)
    except InputError as error:
        return f"link {link}: visual: {error.problem}"
    return Visual(link, pose, shape, colour)


def _shape(geometry: ET.Element | None, directory: Path | None) -> Shape:
    for node in () if geometry is None else geometry:
        if node.tag == "box":
            return Box(_numbers(node, "size", 3))
        if node.tag == "cylinder":
            return Cylinder(_numbers(node, "radius", 1)[0], _numbers(node, "length", 1)[0])
        if node.tag == "sphere":
            return Sphere(_numbers(node, "radius", 1)[0])
        if node.tag == "mesh":
            scale = _numbers(node, "scale", 3) if node.get("scale") else (1.0, 1.0, 1.0)
            return MeshFile(resolve(node.get("filename", ""), relative_to=directory), scale)
    raise InputError("no box, cylinder, sphere or mesh")


def _colour(material: ET.Element) -> Numbers | None:
    node = material.find("color")
    return None if node is None else _numbers(node, "rgba", 4)


def _numbers(node: ET.Element, name: str, count: int) -> Numbers:
    return tuple(finite_numbers(f"{node.tag} {name}", node.get(name, ""), count))
