# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism as a model of SDF: a graph of links and joints, drawn where the loops are closed.

SDF counts joint positions from where a model is drawn, and closes loops by giving a link a second
parent. So the model is drawn closed, and what speaks of positions (limits, springs) is counted from
there.
"""

from __future__ import annotations

import math
from xml.etree import ElementTree as ET

import numpy as np

from uk_dynamics.conversion.export.closures import closures
from uk_dynamics.conversion.export.machine import Machine, moved
from uk_dynamics.conversion.export.sdf_loops import (
    KINDS,
    SdfLoops,
    SdfNames,
    add_axis,
    edge,
    place,
    values,
)
from uk_dynamics.conversion.robot.imported_robot import named
from uk_dynamics.conversion.robot.urdf_text import MOMENTS, dimensions, number, numbers
from uk_dynamics.model.urdf import (
    ONE_DOF,
    WORLD,
    Joint,
    Link,
    MeshFile,
    Pose,
    Visual,
)

_VERSION = "1.11"  # the first with <mimic>
_LEAST = 1e-17  # kg and kg m²: SDF knows no link without mass
_SHOWN = 1e-9  # rad and m: drawn positions below are zero
_MOTOR = {
    "filename": "gz-sim-apply-joint-force-system",
    "name": "gz::sim::systems::ApplyJointForce",
}


def write_sdf(machine: Machine) -> ET.Element:
    """The ``<sdf>`` element, with one model.

    Raises:
        InputError: A joint of the tree has several freedoms, or the root moves in a plane.
        AssemblyError: The loops do not close.
    """
    return _Writer(machine).write()


class _Writer:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        joints = [joint.name for joint in machine.joints if joint.type in ONE_DOF]
        self.at = {name: machine.at[name] for name in joints}
        machine.zero.update(self.at)
        self.names = SdfNames(machine)
        self.root = ET.Element("sdf", version=_VERSION)
        self.model = ET.SubElement(self.root, "model", name=self.names.model)
        self.axes: dict[str, ET.Element] = {}  # of the tree, by joint
        self.tiny: list[str] = []

    def write(self) -> ET.Element:
        machine = self.machine
        machine.require_single_joints("SDF")
        found, couplings = closures(machine, KINDS)
        self._links()
        for joint in machine.joints:
            self._joint(joint)
        SdfLoops(machine, self.names, self.model, self.axes).add(found, couplings)
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
            if link.name == WORLD:
                continue
            node = ET.SubElement(self.model, "link", name=self.names.links[link.name])
            joint = parents.get(link.name)
            if joint is not None:
                pose = moved(joint, self.at.get(joint.name, 0.0))
                place(node, pose, relative_to=self.names.links[joint.parent])
            elif kind == "floating":
                self._float(node)
            self._inertial(node, link, moves=joint is not None or kind == "floating")
            shapes = [visual for visual in machine.visuals if visual.link == link.name]
            for count, visual in enumerate(shapes, start=1):
                _visual(node, f"visual_{count}", visual)
        root = machine.links[0].name
        if kind == "fixed" and root != WORLD:
            edge(self.model, self.names.mount, "fixed", WORLD, self.names.links[root])
        if any(v.link == WORLD for v in machine.visuals):
            machine.lost(f"link {WORLD}", "its visuals: the world of SDF is no link")

    def _float(self, node: ET.Element) -> None:
        names = ("x", "y", "z", "qx", "qy", "qz", "qw")
        parts = [self.machine.at[f"root.{name}"] for name in names]
        ET.SubElement(node, "pose", rotation_format="quat_xyzw").text = numbers(parts)

    def _inertial(self, node: ET.Element, link: Link, *, moves: bool) -> None:
        mass, inertia = link.mass, link.inertia
        if mass < _LEAST or float(np.linalg.eigvalsh(inertia)[0]) < _LEAST:
            mass, inertia = max(mass, _LEAST), inertia + _LEAST * np.eye(3)
            if moves:
                self.tiny.append(link.name)
        inertial = ET.SubElement(node, "inertial")
        if link.center_of_mass.any():
            place(inertial, Pose(link.center_of_mass))
        ET.SubElement(inertial, "mass").text = number(mass)
        moments = ET.SubElement(inertial, "inertia")
        values(moments, {f"i{name}": inertia[place] for name, place in MOMENTS.items()})

    def _joint(self, joint: Joint) -> None:
        ends = (self.names.links[joint.parent], self.names.links[joint.child])
        node = edge(self.model, self.names.joints[joint.name], joint.type, *ends)
        if joint.type == "fixed":
            return
        drawn, extras = self.at[joint.name], self.machine.joint_extras(joint.name)
        self.axes[joint.name] = axis = add_axis(node, "axis", joint.axis)
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
        values(limit, limits)
        resisting = {"damping": joint.damping, "friction": joint.friction}
        dynamics = {word: value for word, value in resisting.items() if value}
        if extras.spring_stiffness:
            dynamics["spring_reference"] = extras.spring_rest - drawn
            dynamics["spring_stiffness"] = extras.spring_stiffness
        if dynamics:
            values(ET.SubElement(axis, "dynamics"), dynamics)
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


def _visual(link: ET.Element, name: str, visual: Visual) -> None:
    node = ET.SubElement(link, "visual", name=name)
    if visual.pose.translation.any() or not np.array_equal(visual.pose.rotation, np.eye(3)):
        place(node, visual.pose)
    kind, sizes = dimensions(visual.shape)
    geometry = ET.SubElement(ET.SubElement(node, "geometry"), kind)
    if isinstance(visual.shape, MeshFile):
        sizes = {"uri": visual.shape.path.as_uri(), **sizes}
    for word, text in sizes.items():
        ET.SubElement(geometry, word).text = text
    if visual.colour is not None:
        material = ET.SubElement(node, "material")
        for part in ("ambient", "diffuse"):
            ET.SubElement(material, part).text = numbers(visual.colour)
