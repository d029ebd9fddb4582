# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""One ``<link>`` or ``<joint>`` against the URDF schema.

The numbers are checked here, since urdf-parser-py takes ``nan`` and says of the rest only that
"could not convert string"; it checks the structure, and its complaints are collected, not printed.
"""

import copy
import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from urdf_parser_py import urdf as reference
from urdf_parser_py.xml_reflection import core as reflection

from uk_dynamics.exceptions import UrdfError, located
from uk_dynamics.model.urdf.description import Array, Pose
from uk_dynamics.model.urdf.rotation import from_rpy

JOINT_TYPES = ("revolute", "continuous", "prismatic", "fixed", "floating", "planar")
CLASSES = {"link": reference.Link, "joint": reference.Joint}
# ``independent`` is an attribute of URDF+: which coordinates others follow from
NOT_DYNAMICS = ("visual", "collision", "safety_controller", "calibration")
REQUIRED = {
    "parent": ("link",),
    "child": ("link",),
    "axis": ("xyz",),
    "limit": ("effort", "velocity"),
    "mimic": ("joint",),
    "mass": ("value",),
    "inertia": ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"),
}
NUMBERS = {
    "origin": {"xyz": 3, "rpy": 3},
    "axis": {"xyz": 3},
    "limit": dict.fromkeys(("lower", "upper", "effort", "velocity"), 1),
    "dynamics": dict.fromkeys(("damping", "friction"), 1),
    "mimic": dict.fromkeys(("multiplier", "offset"), 1),
    "mass": {"value": 1},
    "inertia": dict.fromkeys(REQUIRED["inertia"], 1),
}
FARTHEST = 1e12  # m, or of an axis: squares of such numbers are still numbers
NOT_NEGATIVE = {
    "limit": ("effort", "velocity"),
    "dynamics": ("damping", "friction"),
    "mass": ("value",),
}

_hook_lock = threading.Lock()


@dataclass(frozen=True)
class Element:
    """A checked ``<link>`` or ``<joint>``."""

    name: str  # its name
    place: str  # ``joint crank`` or ``link rod``, for messages
    found: Any  # the object of urdf-parser-py
    complaints: list[str]  # what urdf-parser-py found unknown or repeated


def parse_element(kind: str, node: ET.Element) -> Element:
    """Check one element against the URDF schema.

    node: The element; what does not concern dynamics (visuals, meshes) is not looked at. Raises
    UrdfError: A required part is missing or a value cannot be used.
    """
    name = node.get("name", "")
    if not name.strip():
        raise UrdfError(f"a <{kind}> has no name; add name=...", place=kind)
    place = f"{kind} {name}"
    reduced = _dynamics_only(node)
    complaints: list[str] = []
    with located(place=place):
        found_type = node.get("type", "")
        if kind == "joint" and found_type not in JOINT_TYPES:
            expected = ", ".join(JOINT_TYPES)
            raise UrdfError(f'type "{found_type}" is unknown; expected one of {expected}')
        for part in reduced.iter():
            _check_attributes(part)
    with _collecting(complaints):
        try:
            found = CLASSES[kind].from_xml(reduced, reflection.Path(kind))
        except Exception as error:  # noqa: BLE001 it raises whatever its conversions raise
            raise UrdfError(_one_line(error), place=place) from None
    return Element(name, place, found, [_without_name(complaint) for complaint in complaints])


def _dynamics_only(node: ET.Element) -> ET.Element:
    reduced = copy.copy(node)
    reduced.attrib = {key: text for key, text in node.attrib.items() if key != "independent"}
    for child in list(reduced):
        if child.tag in NOT_DYNAMICS or child.tag.startswith("{"):
            reduced.remove(child)
    return reduced


def _check_attributes(node: ET.Element) -> None:
    for attribute in REQUIRED.get(node.tag, ()):
        if attribute not in node.attrib:
            raise UrdfError(f"<{node.tag}> has no {attribute}; add {attribute}=...")
    if "quat_xyzw" in node.attrib:
        raise UrdfError("quat_xyzw is not part of URDF 1.0; use rpy")
    for attribute, count in NUMBERS.get(node.tag, {}).items():
        if attribute not in node.attrib:
            continue
        what = f"{node.tag} {attribute}"
        numbers = finite_numbers(what, node.attrib[attribute], count)
        if attribute in NOT_NEGATIVE.get(node.tag, ()) and numbers[0] < 0.0:
            raise UrdfError(f"{what} must not be negative, found {numbers[0]:g}")
        if attribute == "xyz" and max(map(abs, numbers)) > FARTHEST:
            unit = " is in m," if node.tag == "origin" else ":"
            raise UrdfError(f"{what}{unit} at most {FARTHEST:g}; found {max(numbers, key=abs):g}")


def finite_numbers(what: str, text: str, count: int) -> list[float]:
    """So many numbers separated by blanks. Raises UrdfError, which calls them ``what``."""
    expected = "a finite number" if count == 1 else f"{count} finite numbers"
    try:
        numbers = [float(word) for word in text.split()]
    except ValueError:
        numbers = []
    if len(numbers) != count or not all(math.isfinite(number) for number in numbers):
        raise UrdfError(f'{what}: expected {expected}, found "{text:.60}"')
    return numbers


def unit_vector(what: str, text: str) -> Array:
    """A direction scaled to length one, (3,). Raises UrdfError, which calls it ``what``."""
    vector = np.array(finite_numbers(what, text, 3))
    length = float(np.linalg.norm(vector))
    if length < 1e-9:
        raise UrdfError(f"{what}: the axis is zero; give a direction such as 0 0 1")
    return vector / length


def read_origin(node: ET.Element | None) -> Pose:
    """The pose that an ``<origin>`` gives; without one it is the identity. Raises UrdfError."""
    if node is None:
        return Pose()
    xyz, rpy = (
        finite_numbers(f"{node.tag} {key}", node.get(key) or "0 0 0", 3) for key in ("xyz", "rpy")
    )
    return Pose(np.array(xyz), from_rpy(rpy))


@contextmanager
def _collecting(complaints: list[str]) -> Iterator[None]:
    """urdf-parser-py reports through one function of its module, which prints by default."""
    with _hook_lock:
        before = reflection.on_error
        reflection.on_error = complaints.append
        try:
            yield
        finally:
            reflection.on_error = before


def _without_name(complaint: str) -> str:
    """The place already says the name: ``joint[@name='j']/limit`` becomes ``joint/limit``."""
    start, bracket, rest = complaint.partition("[@name=")
    text = start + rest.partition("]")[2] if bracket else complaint
    return text[:1].lower() + text[1:].replace(" in /", " in ")


def _one_line(error: Exception) -> str:
    if not isinstance(error, reflection.ParseError):
        return f"a value is missing or malformed ({error})"
    reason = " ".join(str(error.e).split())
    missing = reason.partition("Required element not set in XML: ")[2]
    return f"<{missing}> is missing; add it" if missing else reason
