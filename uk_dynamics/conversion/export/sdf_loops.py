# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Names in SDF, and what closes loops there: joints to a second parent, mimic joints, gearboxes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from xml.etree import ElementTree as ET

import numpy as np

from uk_dynamics.constraints.kinds.pairs import Screw, Universal
from uk_dynamics.conversion.export.closures import carried, written
from uk_dynamics.conversion.export.machine import Closure, Coupling, Machine
from uk_dynamics.conversion.robot.imported_robot import quaternion
from uk_dynamics.conversion.robot.urdf_text import number, numbers
from uk_dynamics.model.urdf import WORLD, Array, Pose


class SdfNames:
    """Names that differ from each other; joints keep theirs, since states are named by them."""

    def __init__(self, machine: Machine) -> None:
        """Choose a name for each link and joint."""
        self._taken = {WORLD}
        self._machine = machine
        self.model = _plain(machine.mechanism.name)  # name of the model
        self.joints = self._chosen("joint", (joint.name for joint in machine.joints))
        links = (link.name for link in machine.links if link.name != WORLD)
        self.links = self._chosen("link", links) | {WORLD: WORLD}
        # name of the joint that holds the root in the world
        self.mount = self._free(f"{_plain(machine.links[0].name)}_mount", "joint")

    def closure(self, name: str) -> str:
        """A name for a joint that closes a loop."""
        return self._chosen("joint", [name])[name]

    def _chosen(self, kind: str, names: Iterable[str]) -> dict[str, str]:
        found = {name: self._free(_plain(name), kind) for name in names}
        for name, chosen in found.items():
            if name != chosen:
                reason = f"is called {chosen}: SDF has one space for all names"
                self._machine.changed(f"{kind} {name}", reason)
        return found

    def _free(self, name: str, kind: str) -> str:
        while name in self._taken:
            name += f"_{kind}"
        self._taken.add(name)
        return name


def _plain(name: str) -> str:
    """Without what SDF keeps for itself: scopes, and names between double underscores."""
    name = name.replace("::", "_")
    return f"{name}_" if name.startswith("__") and name.endswith("__") else name


KINDS = carried("SDF")


class SdfLoops:
    """Writes them into a model that has its tree."""

    def __init__(
        self, machine: Machine, names: SdfNames, model: ET.Element, axes: Mapping[str, ET.Element]
    ) -> None:
        """Take the element of a model and the axes of its joints."""
        self.machine, self.names, self.model, self.axes = machine, names, model, axes
        self.leaders: dict[str, str] = {}  # by the joint that mimics
        self.joints = {joint.name: joint for joint in machine.joints}

    def add(self, closures: Iterable[Closure], couplings: Iterable[Coupling]) -> None:
        """Write all of them."""
        for closure in written(self.machine, closures):
            self._closure(closure)
        for coupling in couplings:
            self._coupling(coupling)

    def _closure(self, closure: Closure) -> None:
        if closure.child[0] == WORLD:  # which SDF knows as a parent only
            closure = closure.exchanged()
        kind = closure.kind
        ends = (self.names.links[closure.parent[0]], self.names.links[closure.child[0]])
        name = self.names.closure(closure.name)
        node = edge(self.model, name, KINDS[type(kind)], *ends)
        place(node, closure.child[1])
        if isinstance(kind, Universal):
            parent, child = (
                self._rotation(link) @ pose.rotation
                for link, pose in (closure.parent, closure.child)
            )
            add_axis(node, "axis", child.T @ parent @ np.array(kind.parent_axis))
            add_axis(node, "axis2", kind.child_axis)
        elif axis := getattr(kind, "axis", None):
            add_axis(node, "axis", axis)
        if isinstance(kind, Screw):
            ET.SubElement(node, "screw_thread_pitch").text = number(kind.pitch)

    def _rotation(self, link: str) -> Array:
        return self.machine.mechanism.pose(link, self.machine.drawn)[1]

    def _coupling(self, coupling: Coupling) -> None:
        """Positions are counted from the drawn pose, which is closed, so no offset is left."""
        if not coupling.active:
            self.machine.off(coupling.name)
        elif len(coupling.joints) > 2:
            self.machine.coupling_lost(coupling, "couples more than two joints: no counterpart")
        elif found := self.machine.mimics(coupling, self.leaders):
            (follower, k), (leader, m) = found
            self.leaders[follower] = leader
            axis, name = self.axes[follower], self.names.joints[leader]
            node = ET.SubElement(axis, "mimic", joint=name, axis="axis")
            values(node, {"multiplier": -m / k, "offset": 0.0, "reference": 0.0})
        elif not self._gearbox(coupling):
            reason = "both joints follow others already, and turn on no common link"
            self.machine.coupling_lost(coupling, reason)

    def _gearbox(self, coupling: Coupling) -> bool:
        """Two joints that turn on one link: the second by −ratio times the first."""
        wheels = [self.joints[name] for name, _ in coupling.joints]
        shared = {wheels[0].parent, wheels[0].child} & {wheels[1].parent, wheels[1].child}
        if len(shared) != 1 or any(joint.type != "revolute" for joint in wheels):
            return False
        (reference,) = shared
        ends = [w.child if w.parent == reference else w.parent for w in wheels]
        if WORLD in (reference, ends[1]):
            return False
        signs = [1.0 if w.child == end else -1.0 for w, end in zip(wheels, ends, strict=True)]
        (_, first), (_, second) = coupling.joints
        name = self.names.closure(coupling.name)
        links = [self.names.links[end] for end in ends]
        node = edge(self.model, name, "gearbox", *links)
        for tag, wheel in zip(("axis", "axis2"), wheels, strict=True):
            shaft = self._rotation(wheel.child) @ wheel.axis  # in the world
            add_axis(node, tag, self._rotation(ends[1]).T @ shaft)
        ratio = first / second * signs[1] / signs[0]
        ET.SubElement(node, "gearbox_ratio").text = number(ratio)
        ET.SubElement(node, "gearbox_reference_body").text = self.names.links[reference]
        return True


def edge(model: ET.Element, name: str, kind: str, parent: str, child: str) -> ET.Element:
    """A joint, with names as the model has them."""
    node = ET.SubElement(model, "joint", name=name, type=kind)
    ET.SubElement(node, "parent").text = parent
    ET.SubElement(node, "child").text = child
    return node


def add_axis(joint: ET.Element, tag: str, direction: Sequence[float] | Array) -> ET.Element:
    """An axis, in the frame of its joint."""
    axis = ET.SubElement(joint, tag)
    ET.SubElement(axis, "xyz").text = numbers(direction)
    return axis


def place(node: ET.Element, pose: Pose, relative_to: str = "") -> None:
    """The pose of an element."""
    attributes = {"rotation_format": "quat_xyzw"}
    if relative_to:
        attributes["relative_to"] = relative_to
    text = f"{numbers(pose.translation)} {numbers(quaternion(pose.rotation))}"
    ET.SubElement(node, "pose", attributes).text = text


def values(node: ET.Element, numbers_: Mapping[str, float]) -> None:
    """Numbers, an element each."""
    for word, value in numbers_.items():
        ET.SubElement(node, word).text = number(value)
