"""One ``<link>`` or ``<joint>`` through urdf-parser-py, its complaints collected, not printed."""

from __future__ import annotations

import copy
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
from urdf_parser_py import urdf as reference
from urdf_parser_py.xml_reflection import core as reflection

from uk_dynamics.exceptions import UrdfError
from uk_dynamics.model.description import Array

CLASSES = {"link": reference.Link, "joint": reference.Joint}
NOT_DYNAMICS = ("visual", "collision", "safety_controller", "calibration")

_hook_lock = threading.Lock()


class Element:
    """A parsed ``<link>`` or ``<joint>``.

    Attributes:
        name: Its name.
        place: ``joint crank`` or ``link rod``, for messages.
        found: The object of urdf-parser-py.
        complaints: What urdf-parser-py found unknown or repeated.
    """

    def __init__(self, name: str, place: str, found: Any, complaints: list[str]) -> None:
        self.name = name
        self.place = place
        self.found = found
        self.complaints = complaints

    def number(self, what: str, value: float) -> float:
        """A finite number, or UrdfError."""
        return float(self.numbers(what, value))

    def numbers(self, what: str, values: Any) -> Array:
        """An array of finite numbers, or UrdfError."""
        array = np.array(values, dtype=float)
        if not np.isfinite(array).all():
            raise UrdfError(f"{what} must be finite, found nan or inf", place=self.place)
        return array


def parse_element(kind: str, node: ET.Element) -> Element:
    """Check one element against the URDF schema.

    Args:
        kind: ``link`` or ``joint``.
        node: The element; what does not concern dynamics (visuals, meshes) is not looked at.

    Raises:
        UrdfError: A required part is missing or a value has the wrong type.
    """
    name = node.get("name", "")
    if not name.strip():
        raise UrdfError(f"a <{kind}> has no name; add name=...", place=kind)
    place = f"{kind} {name}"
    complaints: list[str] = []
    with _collecting(complaints):
        try:
            found = CLASSES[kind].from_xml(_dynamics_only(node), reflection.Path(kind))
        except Exception as error:  # noqa: BLE001 it raises whatever its conversions raise
            raise UrdfError(_one_line(error), place=place) from None
    return Element(name, place, found, [_without_name(complaint) for complaint in complaints])


def _dynamics_only(node: ET.Element) -> ET.Element:
    reduced = copy.copy(node)
    for child in list(reduced):
        if child.tag in NOT_DYNAMICS or child.tag.startswith("{"):
            reduced.remove(child)
    return reduced


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
    where = str(error.path).partition("/")[2].partition("/")[2]
    reason = " ".join(str(error.e).split())
    return f"{where}: {reason}" if where else reason
