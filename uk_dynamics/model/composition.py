"""One description made of others: ``<include uri="..." prefix="left_"/>`` inside ``<robot>``.

URDF has no way to use a finished robot twice. This element takes the links and joints of another
description into this one, all names prefixed::

    <include uri="package://some_arm/urdf/arm.urdf" prefix="left_">
      <lock joint="finger" position="0.02"/>
    </include>

A locked joint becomes fixed at the given position (default 0, in m or rad). What else the other
file holds (transmissions, controllers, simulator tags) is left out.
"""

from __future__ import annotations

import copy
import math
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np

from uk_dynamics.exceptions import UrdfError
from uk_dynamics.model.description import Array
from uk_dynamics.model.rotation import about_axis, from_rpy, to_rpy
from uk_dynamics.model.source import read_source
from uk_dynamics.model.xml_text import parse_robot

DEEPEST = 8  # includes of includes; a file that includes itself ends here
NAMING_TAGS = ("parent", "child")


def expand_includes(robot: ET.Element, directory: Path, depth: int = 0) -> None:
    """Replace every ``<include>`` of a robot by what it names, in place.

    Args:
        robot: The ``<robot>`` element.
        directory: Where relative addresses start.
        depth: How many includes led here.

    Raises:
        UrdfError: The address leads nowhere, the other description is malformed, or a locked joint
            does not exist or cannot be locked.
    """
    for node in robot.findall("include"):
        uri = node.get("uri", "")
        try:
            parts = _included(node, uri, directory, depth)
        except UrdfError as error:
            raise UrdfError(str(error), place="include") from None
        known = {material.get("name") for material in robot.iterfind("material")}
        parts = [part for part in parts if part.tag != "material" or part.get("name") not in known]
        position = list(robot).index(node)
        robot[position : position + 1] = parts


def _included(node: ET.Element, uri: str, directory: Path, depth: int) -> list[ET.Element]:
    if not uri:
        raise UrdfError("uri is missing; add uri=...")
    if depth >= DEEPEST:
        raise UrdfError(
            f"includes are nested more than {DEEPEST} deep; does a file include itself?"
        )
    source = read_source(uri, relative_to=directory)
    other = parse_robot(source.text, source.name)
    expand_includes(other, source.directory, depth + 1)
    for lock in node.iterfind("lock"):
        _lock(other, lock, source.name)
    prefix = node.get("prefix", "")
    parts = [copy.deepcopy(part) for part in other if part.tag in ("link", "joint", "material")]
    for part in parts:
        if part.tag != "material":
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
    xyz = _triple(joint, "origin", "xyz", "0 0 0", source)
    rotation = from_rpy(_triple(joint, "origin", "rpy", "0 0 0", source).tolist())
    axis = _triple(joint, "axis", "xyz", "1 0 0", source)
    position = _numbers(lock.get("position", "0"), 1, f"lock {name}", source)[0]
    length = float(np.linalg.norm(axis))
    if length == 0.0:
        raise UrdfError("the axis is zero", file=source, place=f"joint {name}")
    if kind == "prismatic":
        xyz = xyz + rotation @ axis * (position / length)
    else:
        rotation = rotation @ about_axis(axis / length, position)
    for child in list(joint):
        if child.tag not in NAMING_TAGS:
            joint.remove(child)
    joint.set("type", "fixed")
    ET.SubElement(joint, "origin", {"xyz": _text(xyz), "rpy": _text(to_rpy(rotation))})


def _triple(joint: ET.Element, tag: str, attribute: str, default: str, source: str) -> Array:
    element = joint.find(tag)
    text = default if element is None else element.get(attribute, default)
    return _numbers(text, 3, f"joint {joint.get('name')}", source)


def _numbers(text: str, count: int, place: str, source: str) -> Array:
    try:
        values = [float(word) for word in text.split()]
    except ValueError:
        values = []
    if len(values) != count or not all(math.isfinite(value) for value in values):
        raise UrdfError(f'expected {count} numbers, found "{text}"', file=source, place=place)
    return np.array(values)


def _text(values: Array) -> str:
    return " ".join(repr(float(value)) for value in values)
