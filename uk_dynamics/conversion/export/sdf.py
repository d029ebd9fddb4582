# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism as a model of SDF: a graph of links and joints, drawn where the loops are closed.

SDF counts joint positions from where a model is drawn, and closes loops by giving a link a second
parent, by mimic joints and gearboxes. So the model is drawn closed, and what speaks of positions
(limits, springs) is counted from there.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from xml.etree import ElementTree as ET

import numpy as np

import uk_dynamics.model.urdf as urdf
from uk_dynamics.constraints.kinds.pairs import Screw, Universal
from uk_dynamics.conversion.export.closures import carried, closures, written
from uk_dynamics.conversion.export.machine import Closure, Coupling, Machine, moved
from uk_dynamics.conversion.robot.imported_robot import named
from uk_dynamics.conversion.robot.urdf_text import MOMENTS, dimensions, number, numbers
from uk_dynamics.conversion.sdf.frames import write_pose

_VERSION = "1.11"  # the first with <mimic>
_LEAST = 1e-17  # kg and kg m²: SDF knows no link without mass
_SHOWN = 1e-9  # rad and m: drawn positions below are zero
_MOTOR = {
    "filename": "gz-sim-apply-joint-force-system",
    "name": "gz::sim::systems::ApplyJointForce",
}


KINDS = carried("SDF")


def write_sdf(machine: Machine) -> ET.Element:
    """The ``<sdf>`` element, with one model, of a tree of single joints whose loops close."""
    return _Writer(machine).write()


class _Names:
    """Names that differ from each other; joints keep theirs, since states are named by them."""

    def __init__(self, machine: Machine) -> None:
        self._taken = {urdf.WORLD}
        self._machine = machine
        self.model = _plain(machine.mechanism.name)  # name of the model
        self.joints = self._chosen("joint", (joint.name for joint in machine.joints))
        links = (link.name for link in machine.links if link.name != urdf.WORLD)
        self.links = self._chosen("link", links) | {urdf.WORLD: urdf.WORLD}
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
    """A name without what SDF keeps for itself: scopes, and names between double underscores."""
    name = name.replace("::", "_")
    return f"{name}_" if name.startswith("__") and name.endswith("__") else name


class _Writer:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        joints = [joint.name for joint in machine.joints if joint.type in urdf.ONE_DOF]
        self.at = {name: machine.at[name] for name in joints}
        machine.zero.update(self.at)
        self.names = _Names(machine)
        self.root = ET.Element("sdf", version=_VERSION)
        self.model = ET.SubElement(self.root, "model", name=self.names.model)
        self.axes: dict[str, ET.Element] = {}  # of the tree, by joint
        self.leaders: dict[str, str] = {}  # by the joint that mimics
        self.tiny: list[str] = []

    def write(self) -> ET.Element:
        machine = self.machine
        machine.require_single_joints("SDF")
        found, couplings = closures(machine, KINDS)
        self._links()
        for joint in machine.joints:
            self._joint(joint)
        for closure in written(machine, found):
            self._closure(closure)
        for coupling in couplings:
            self._coupling(coupling)
        for force in machine.mechanism.spec.forces:
            machine.lost(f"force {force.name}", f"SDF has no force of type {force.type}")
        for _, driven in machine.motor_joints("plugins of Gazebo that apply"):
            plugin = ET.SubElement(self.model, "plugin", _MOTOR)
            ET.SubElement(plugin, "joint_name").text = self.names.joints[driven]
        self._remark()
        return self.root

    def _links(self) -> None:
        machine = self.machine
        kind = machine.mechanism.spec.model.root
        parents = {joint.child: joint for joint in machine.joints}
        for link in machine.links:
            if link.name == urdf.WORLD:
                continue
            node = ET.SubElement(self.model, "link", name=self.names.links[link.name])
            joint = parents.get(link.name)
            if joint is not None:
                pose = moved(joint, self.at.get(joint.name, 0.0))
                write_pose(node, pose, relative_to=self.names.links[joint.parent])
            elif kind == "floating":
                names = ("x", "y", "z", "qx", "qy", "qz", "qw")
                at = ET.SubElement(node, "pose", rotation_format="quat_xyzw")
                at.text = numbers([self.machine.at[f"root.{name}"] for name in names])
            self._inertial(node, link, moves=joint is not None or kind == "floating")
            shapes = [visual for visual in machine.visuals if visual.link == link.name]
            for count, visual in enumerate(shapes, start=1):
                _visual(node, f"visual_{count}", visual)
        root = machine.links[0].name
        if kind == "fixed" and root != urdf.WORLD:
            _edge(self.model, self.names.mount, "fixed", urdf.WORLD, self.names.links[root])
        if any(v.link == urdf.WORLD for v in machine.visuals):
            machine.lost(f"link {urdf.WORLD}", "its visuals: the world of SDF is no link")

    def _inertial(self, node: ET.Element, link: urdf.Link, *, moves: bool) -> None:
        mass, inertia = link.mass, link.inertia
        if mass < _LEAST or float(np.linalg.eigvalsh(inertia)[0]) < _LEAST:
            mass, inertia = max(mass, _LEAST), inertia + _LEAST * np.eye(3)
            if moves:
                self.tiny.append(link.name)
        inertial = ET.SubElement(node, "inertial")
        if link.center_of_mass.any():
            write_pose(inertial, urdf.Pose(link.center_of_mass))
        ET.SubElement(inertial, "mass").text = number(mass)
        moments = ET.SubElement(inertial, "inertia")
        _values(moments, {f"i{name}": inertia[place] for name, place in MOMENTS.items()})

    def _joint(self, joint: urdf.Joint) -> None:
        ends = (self.names.links[joint.parent], self.names.links[joint.child])
        node = _edge(self.model, self.names.joints[joint.name], joint.type, *ends)
        if joint.type == "fixed":
            return
        drawn, extras = self.at[joint.name], self.machine.joint_extras(joint.name)
        self.axes[joint.name] = axis = _add_axis(node, "axis", joint.axis)
        limit = ET.SubElement(axis, "limit")
        motors = [motor for motor in self.machine.motors if motor.only_joint == joint.name]
        efforts = [motor.effort_limit * abs(motor.gear) for motor in motors]
        bounds = {
            "lower": joint.lower - drawn,
            "upper": joint.upper - drawn,
            "effort": min([joint.effort_limit, *efforts]),
            "velocity": joint.velocity_limit,
        }
        limits = {word: value for word, value in bounds.items() if math.isfinite(value)}
        if extras.stop_stiffness:
            limits |= {"stiffness": extras.stop_stiffness, "dissipation": extras.stop_damping}
        _values(limit, limits)
        resisting = {"damping": joint.damping, "friction": joint.friction}
        dynamics = {word: value for word, value in resisting.items() if value}
        if extras.spring_stiffness:
            dynamics["spring_reference"] = extras.spring_rest - drawn
            dynamics["spring_stiffness"] = extras.spring_stiffness
        if dynamics:
            _values(ET.SubElement(axis, "dynamics"), dynamics)
        if not limits:
            axis.remove(limit)

    def _remark(self) -> None:
        machine = self.machine
        gravity = ", ".join(f"{value:g}" for value in machine.mechanism.model.gravity)
        machine.lost("gravity", f"({gravity}) m/s²: a model has none; the world has to have it")
        if self.tiny:
            reason = f"{_LEAST:g} kg and kg m² where SDF takes no zero"
            machine.changed(named("link", self.tiny), reason)
        machine.lost_of_joints("armature", lambda extras: extras.armature)
        shown = [f"{name} {at:.6g}" for name, at in self.at.items() if abs(at) > _SHOWN]
        if shown:
            reason = "SDF counts positions from where a model is drawn, here closed, at "
            machine.changed("joint positions", reason + ", ".join(shown))

    def _closure(self, closure: Closure) -> None:
        if closure.child[0] == urdf.WORLD:  # which SDF knows as a parent only
            closure = closure.exchanged()
        kind = closure.kind
        ends = (self.names.links[closure.parent[0]], self.names.links[closure.child[0]])
        node = _edge(self.model, self.names.closure(closure.name), KINDS[type(kind)], *ends)
        write_pose(node, closure.child[1])
        if isinstance(kind, Universal):
            parent, child = (
                self._rotation(link) @ pose.rotation
                for link, pose in (closure.parent, closure.child)
            )
            _add_axis(node, "axis", child.T @ parent @ np.array(kind.parent_axis))
            _add_axis(node, "axis2", kind.child_axis)
        elif axis := getattr(kind, "axis", None):
            _add_axis(node, "axis", axis)
        if isinstance(kind, Screw):
            ET.SubElement(node, "screw_thread_pitch").text = number(kind.pitch)

    def _rotation(self, link: str) -> urdf.Array:
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
            _values(node, {"multiplier": -m / k, "offset": 0.0, "reference": 0.0})
        elif not self._gearbox(coupling):
            reason = "both joints follow others already, and turn on no common link"
            self.machine.coupling_lost(coupling, reason)

    def _gearbox(self, coupling: Coupling) -> bool:
        """Two joints that turn on one link: the second by −ratio times the first."""
        joints = {joint.name: joint for joint in self.machine.joints}
        wheels = [joints[name] for name, _ in coupling.joints]
        shared = {wheels[0].parent, wheels[0].child} & {wheels[1].parent, wheels[1].child}
        if len(shared) != 1 or any(joint.type != "revolute" for joint in wheels):
            return False
        (reference,) = shared
        ends = [w.child if w.parent == reference else w.parent for w in wheels]
        if urdf.WORLD in (reference, ends[1]):
            return False
        signs = [1.0 if w.child == end else -1.0 for w, end in zip(wheels, ends, strict=True)]
        (_, first), (_, second) = coupling.joints
        name = self.names.closure(coupling.name)
        node = _edge(self.model, name, "gearbox", *[self.names.links[end] for end in ends])
        for tag, wheel in zip(("axis", "axis2"), wheels, strict=True):
            shaft = self._rotation(wheel.child) @ wheel.axis  # in the world
            _add_axis(node, tag, self._rotation(ends[1]).T @ shaft)
        ET.SubElement(node, "gearbox_ratio").text = number(first / second * signs[1] / signs[0])
        ET.SubElement(node, "gearbox_reference_body").text = self.names.links[reference]
        return True


def _visual(link: ET.Element, name: str, visual: urdf.Visual) -> None:
    node = ET.SubElement(link, "visual", name=name)
    if visual.pose.translation.any() or not np.array_equal(visual.pose.rotation, np.eye(3)):
        write_pose(node, visual.pose)
    kind, sizes = dimensions(visual.shape)
    geometry = ET.SubElement(ET.SubElement(node, "geometry"), kind)
    if isinstance(visual.shape, urdf.MeshFile):
        sizes = {"uri": visual.shape.path.as_uri(), **sizes}
    for word, text in sizes.items():
        ET.SubElement(geometry, word).text = text
    if visual.colour is not None:
        material = ET.SubElement(node, "material")
        for part in ("ambient", "diffuse"):
            ET.SubElement(material, part).text = numbers(visual.colour)


def _edge(model: ET.Element, name: str, kind: str, parent: str, child: str) -> ET.Element:
    """A joint, with names as the model has them."""
    node = ET.SubElement(model, "joint", name=name, type=kind)
    ET.SubElement(node, "parent").text = parent
    ET.SubElement(node, "child").text = child
    return node


def _add_axis(joint: ET.Element, tag: str, direction: Sequence[float] | urdf.Array) -> ET.Element:
    """An axis, in the frame of its joint."""
    axis = ET.SubElement(joint, tag)
    ET.SubElement(axis, "xyz").text = numbers(direction)
    return axis


def _values(node: ET.Element, numbers_: Mapping[str, float]) -> None:
    """Numbers, an element each."""
    for word, value in numbers_.items():
        ET.SubElement(node, word).text = number(value)
