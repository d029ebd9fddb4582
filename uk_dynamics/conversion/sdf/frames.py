# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Poses and frames of an SDF model: ``relative_to``, ``attached_to`` and ``expressed_in``."""

import math
from collections.abc import Sequence
from xml.etree import ElementTree as ET

import numpy as np

from uk_dynamics.conversion.robot import urdf_text
from uk_dynamics.core.linalg import to_quaternion
from uk_dynamics.exceptions import InputError, UnknownNameError, located
from uk_dynamics.model.urdf import (
    WORLD,
    Array,
    Pose,
    compose,
    finite_numbers,
    from_quaternion,
    from_rpy,
    inverse,
)

MODEL = "__model__"
_APART = 1e-9  # m, and of a rotation matrix: more than rounding
_LARGEST = 1e12  # in SI units: squares and products of such numbers are still numbers


class Frames:
    """Every named frame of one model, seen from the model's own frame."""

    def __init__(self, model: ET.Element) -> None:
        self._given: dict[str, tuple[Pose, str]] = {MODEL: (Pose(), "")}
        self._carrier: dict[str, str] = {}
        self._unplaced: set[str] = set()  # links without a pose
        self._poses: dict[str, Pose] = {MODEL: Pose()}
        for link in model.iterfind("link"):
            name = _name(link)
            self._add(name, link, MODEL)
            self._carrier[name] = name
            if link.find("pose") is None:
                self._unplaced.add(name)
        for joint in model.iterfind("joint"):
            child = text(joint, "child")
            self._add(_name(joint), joint, child)
            self._carrier[_name(joint)] = child
        self._carrier[MODEL] = model.get("canonical_link") or next(iter(self._carrier), "")
        for frame in model.iterfind("frame"):
            attached = frame.get("attached_to") or MODEL
            self._add(_name(frame), frame, attached)
            self._carrier[_name(frame)] = attached
        #: Of the model in the world.
        self.placed, placing = read_pose(model.find("pose")), model.get("placement_frame")
        if placing is not None:
            self.placed = compose(self.placed, inverse(self.pose(placing)))
        self._poses[WORLD] = inverse(self.placed)

    def drawn_apart(self, parent: str, child: str) -> bool:
        """Whether a joint names a frame where its child, of which no pose is given, is not.

        SDF then takes the joint to be where the child happens to be; what is meant is that both
        frames come together.
        """
        frame, link = self._given.get(parent), self.link(child)
        if frame is None or self._carrier.get(parent) == parent or link not in self._unplaced:
            return False
        one, two = self.pose(parent), self.pose(child)
        distance = float(np.abs(one.translation - two.translation).max())
        return max(distance, float(np.abs(one.rotation - two.rotation).max())) > _APART

    def _add(self, name: str, node: ET.Element, default: str) -> None:
        if name in self._given:
            raise InputError(f'two elements are named "{name}"; rename one', place=f"model {name}")
        pose = node.find("pose")
        where = default if pose is None else (pose.get("relative_to") or default)
        with located(place=f"{node.tag} {name}"):
            self._given[name] = (read_pose(pose), where)

    def pose(self, name: str, within: tuple[str, ...] = ()) -> Pose:
        """Pose of a frame in the model; ``within`` are those that are given relative to it."""
        if name in self._poses:
            return self._poses[name]
        if name not in self._given:
            if "::" in name:
                raise InputError(f'"{name}" is in a nested model, and those are not read')
            raise UnknownNameError("frame", name, [n for n in self._given if n != MODEL])
        if name in within:
            raise InputError(f"the poses of {', '.join(within)} refer to each other in a circle")
        given, where = self._given[name]
        found = compose(self.pose(where, (*within, name)), given)
        self._poses[name] = found
        return found

    def link(self, name: str) -> str:
        """The link that a frame is fixed in; ``world`` is one."""
        seen: list[str] = []
        while name != WORLD and self._carrier.get(name) != name:
            if name in seen or name not in self._carrier:
                links = [n for n, carrier in self._carrier.items() if n == carrier]
                raise UnknownNameError("link", name, links)
            seen.append(name)
            name = self._carrier[name]
        return name

    def direction(self, xyz: ET.Element, default: str) -> Array:
        """A direction in the model, unit, (3,)."""
        vector = numbers(xyz, 3)
        length = float(np.linalg.norm(vector))
        if length < 1e-12:
            raise InputError("the axis is zero; give a direction such as 0 0 1")
        return self.pose(xyz.get("expressed_in") or default).rotation @ (vector / length)


def read_pose(node: ET.Element | None) -> Pose:
    """A ``<pose>``: x y z and roll pitch yaw, or a quaternion x y z w."""
    if node is None or not (node.text or "").strip():
        return Pose()
    if node.get("rotation_format", "euler_rpy") == "quat_xyzw":
        values = numbers(node, 7)
        if np.linalg.norm(values[3:]) < _APART:
            raise InputError("pose: a quaternion of length 0 is no rotation")
        return Pose(values[:3], from_quaternion(values[3:].tolist()))
    values = numbers(node, 6)
    angles = values[3:]
    if is_true(node.get("degrees")):
        angles = np.radians(angles)
    return Pose(values[:3], from_rpy(angles.tolist()))


def write_pose(node: ET.Element, pose: Pose, relative_to: str = "") -> None:
    """Give an element a ``<pose>``, with a quaternion and all digits."""
    attributes = {"rotation_format": "quat_xyzw"}
    if relative_to:
        attributes["relative_to"] = relative_to
    text = " ".join(map(urdf_text.numbers, (pose.translation, to_quaternion(pose.rotation))))
    ET.SubElement(node, "pose", attributes).text = text


def numbers(node: ET.Element, count: int) -> Array:
    """The text of an element as so many finite numbers."""
    values = finite_numbers(node.tag, " ".join((node.text or "").split()), count)
    for value in values:
        _check_size(node.tag, value)
    return np.array(values)


def is_true(text: str | None) -> bool:
    """Whether a text says so in SDF's words."""
    return (text or "").strip().lower() in ("true", "1")


def text(node: ET.Element, path: str, default: str = "") -> str:
    """Text below an element, without blanks around it."""
    return (node.findtext(path) or default).strip()


def number(node: ET.Element | None, path: str, default: float) -> float:
    """A number below an element; ``inf`` is one."""
    said = "" if node is None else text(node, path)
    if not said:
        return default
    try:
        value = float(said)
    except ValueError:
        value = math.nan
    if math.isnan(value):
        raise InputError(f'{path}: expected a number, found "{said:.60}"')
    return value


def amount(node: ET.Element | None, path: str, default: float) -> float:
    """A number below an element that something is computed from: finite, not absurdly large."""
    value = number(node, path, default)
    _check_size(path, value)
    return value


def _check_size(what: str, value: float) -> None:
    if abs(value) > _LARGEST:
        raise InputError(f"{what}: expected at most {_LARGEST:g}, found {value:g}")


def _name(node: ET.Element) -> str:
    name = node.get("name", "")
    if not name:
        raise InputError(f"a <{node.tag}> has no name; add name=...")
    return name


def unhandled(node: ET.Element | None, tags: Sequence[str]) -> list[ET.Element]:
    """The children that are not among the given tags."""
    return [child for child in (() if node is None else node) if child.tag not in tags]
