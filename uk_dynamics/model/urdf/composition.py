# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""One description made of others: ``<include uri="..." prefix="left_"/>`` inside ``<robot>``.

URDF has no way to use a finished robot twice. This element takes the links, joints and loops of
another description into this one, all names prefixed::

    <include uri="package://some_arm/urdf/arm.urdf" prefix="left_">
      <lock joint="finger" position="0.02"/>
    </include>

A locked joint becomes fixed at the given position (default 0, in m or rad). What else the other
file holds (transmissions, controllers, simulator tags) is left out.
"""

import copy
from pathlib import Path
from xml.etree import ElementTree as ET

from uk_dynamics.exceptions import UrdfError, located
from uk_dynamics.model.urdf.closed_loops import LOOP_TAGS, prefixed
from uk_dynamics.model.urdf.description import Array, Pose
from uk_dynamics.model.urdf.rotation import about_axis, compose, to_rpy
from uk_dynamics.model.urdf.schema import finite_numbers, read_origin, unit_vector
from uk_dynamics.model.urdf.source import Source, read_source
from uk_dynamics.model.urdf.xml_text import parse_robot

MOST_INCLUDES = 100  # includes of includes can grow without bound
NAMING_TAGS = ("parent", "child")


def expand_includes(robot: ET.Element, source: Source) -> None:
    """Replace every ``<include>`` of a robot by what it names, in place.

    source: Where it was read; relative addresses start in its directory. Raises UrdfError: The
    address leads nowhere, the other description is malformed or includes itself, or a locked joint
    does not exist or cannot be locked.
    """
    _Composer().expand(robot, source, ())


class _Composer:
    def __init__(self) -> None:
        self._count = 0

    def expand(self, robot: ET.Element, source: Source, within: tuple[Path, ...]) -> None:
        within = (*within, source.directory / source.name)
        for node in robot.findall("include"):
            with located(source.name, "include"):
                parts = self._included(node, source, within)
            known = {material.get("name") for material in robot.iterfind("material")}
            parts = [p for p in parts if p.tag != "material" or p.get("name") not in known]
            position = list(robot).index(node)
            robot[position : position + 1] = parts

    def _included(
        self, node: ET.Element, source: Source, within: tuple[Path, ...]
    ) -> list[ET.Element]:
        uri = node.get("uri", "")
        if not uri:
            raise UrdfError("uri is missing; add uri=...")
        self._count += 1
        if self._count > MOST_INCLUDES:
            raise UrdfError(f"more than {MOST_INCLUDES} includes; use fewer")
        try:
            other_source = read_source(uri, relative_to=source.directory)
        except UrdfError as error:
            raise UrdfError(str(error)) from None  # what is at fault is this file's address
        if other_source.directory / other_source.name in within:
            raise UrdfError(f"{other_source.name} includes itself; remove the <include>")
        other = parse_robot(other_source.text, other_source.name)
        self.expand(other, other_source, within)
        for lock in node.iterfind("lock"):
            _lock(other, lock, other_source.name)
        prefix = node.get("prefix", "")
        kinds = ("link", "joint", "material", *LOOP_TAGS)
        parts = [copy.deepcopy(part) for part in other if part.tag in kinds]
        for part in parts:
            if part.tag in LOOP_TAGS:
                prefixed(part, prefix)
            elif part.tag != "material":
                _rename(part, prefix)
        return parts


def _rename(part: ET.Element, prefix: str) -> None:
    part.set("name", prefix + part.get("name", ""))
    for child in part:
        if child.tag in NAMING_TAGS and "link" in child.attrib:
            child.set("link", prefix + child.attrib["link"])
        if child.tag == "mimic" and "joint" in child.attrib:
            child.set("joint", prefix + child.attrib["joint"])


def _lock(robot: ET.Element, lock: ET.Element, source: str) -> None:
    name = lock.get("joint", "")
    joint = next((node for node in robot.iterfind("joint") if node.get("name") == name), None)
    if joint is None:
        raise UrdfError(f'no joint "{name}" to lock', file=source)
    kind = joint.get("type")
    if kind not in ("revolute", "continuous", "prismatic"):
        raise UrdfError(f"a {kind} joint cannot be locked", file=source, place=f"joint {name}")
    direction = joint.find("axis")
    with located(source, f"joint {name}"):
        pose = read_origin(joint.find("origin"))
        text = "1 0 0" if direction is None else direction.get("xyz", "1 0 0")
        axis = unit_vector("axis xyz", text)
    position = finite_numbers(f"lock {name}: position", lock.get("position", "0"), 1)[0]
    motion = Pose(rotation=about_axis(axis, position))
    if kind == "prismatic":
        motion = Pose(axis * position)
    there = compose(pose, motion)
    for child in list(joint):
        if child.tag not in NAMING_TAGS:
            joint.remove(child)
    joint.set("type", "fixed")
    placed = {"xyz": _text(there.translation), "rpy": _text(to_rpy(there.rotation))}
    ET.SubElement(joint, "origin", placed)


def _text(values: Array) -> str:
    return " ".join(repr(float(value)) for value in values)
