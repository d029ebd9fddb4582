# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism as a model of MuJoCo: its tree of bodies, drawn where the loops are closed."""

from __future__ import annotations

import math
from collections.abc import Iterable
from xml.etree import ElementTree as ET

import numpy as np

from uk_dynamics.conversion.export.closures import closures
from uk_dynamics.conversion.export.machine import Machine, moved
from uk_dynamics.conversion.export.mjcf_couplings import KINDS, Couplings, wxyz
from uk_dynamics.conversion.robot.imported_robot import named
from uk_dynamics.conversion.robot.urdf_text import number, numbers
from uk_dynamics.model.urdf import (
    FAR,
    ONE_DOF,
    WORLD,
    Box,
    Cylinder,
    Joint,
    Link,
    MeshFile,
    Pose,
    Sphere,
    Visual,
)

_LEAST = 2e-15  # kg and kg m²: MuJoCo takes no moving body without mass
_FULL = 1e-13  # kg m²: where a matrix has less, MuJoCo wants its principal moments
_MESHES = (".stl", ".obj", ".msh")


def write_mjcf(machine: Machine) -> ET.Element:
    """The ``<mujoco>`` element.

    Raises:
        InputError: A joint of the tree has several freedoms, or the root moves in a plane.
        AssemblyError: The loops do not close.
    """
    return _Writer(machine).write()


class _Writer:
    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.at = machine.at
        self.root = ET.Element("mujoco", model=machine.mechanism.name)
        how = {"angle": "radian", "autolimits": "true", "inertiafromgeom": "false"}
        ET.SubElement(self.root, "compiler", how)
        gravity = numbers(machine.mechanism.model.gravity)
        option = ET.SubElement(self.root, "option", gravity=gravity)
        ET.SubElement(option, "flag", contact="disable")
        visual = ET.SubElement(self.root, "visual")
        ET.SubElement(visual, "headlight", ambient="0.4 0.4 0.4", diffuse="0.7 0.7 0.7")
        default = ET.SubElement(self.root, "default")
        ET.SubElement(default, "geom", contype="0", conaffinity="0")
        self.assets = ET.SubElement(self.root, "asset")
        self.bodies = {WORLD: ET.SubElement(self.root, "worldbody")}
        self.tiny, self.unread = list[str](), list[str]()

    def write(self) -> ET.Element:
        machine = self.machine
        machine.require_single_joints("MJCF")
        self._tree()
        for visual in machine.visuals:
            self._visual(visual)
        found, couplings = closures(machine, KINDS, weld_held=False)
        Couplings(machine, self.bodies, self.root).add(found, couplings)
        if self.tiny:
            reason = f"{_LEAST:g} kg and kg m² where MuJoCo takes no zero"
            machine.changed(named("link", self.tiny), reason)
        if self.unread:
            reason = "not drawn; MuJoCo reads STL, OBJ and MSH"
            machine.lost(named("mesh", list(dict.fromkeys(self.unread))), reason)
        self._remark_joints()
        for section in ("default", "asset", "tendon", "equality", "actuator"):
            node = self.root.find(section)
            if node is not None and not len(node):
                self.root.remove(node)
        return self.root

    def _tree(self) -> None:
        machine = self.machine
        links = {link.name: link for link in machine.links}
        heavy = self._heavy(machine.joints, links)
        root = machine.links[0]
        kind = machine.mechanism.spec.model.root
        if root.name != WORLD:
            body = ET.SubElement(self.bodies[WORLD], "body", name=root.name)
            self.bodies[root.name] = body
            if kind == "floating":
                self._float(body)
            self._inertia(body, root, needs=kind == "floating" and root.name not in heavy)
        for joint in machine.joints:
            body = ET.SubElement(self.bodies[joint.parent], "body", name=joint.child)
            self.bodies[joint.child] = body
            _place(body, moved(joint, self.at.get(joint.name, 0.0)))
            if joint.type in ONE_DOF:
                self._joint(body, joint)
            needs = joint.type != "fixed" and joint.child not in heavy
            self._inertia(body, links[joint.child], needs=needs)

    @staticmethod
    def _heavy(joints: Iterable[Joint], links: dict[str, Link]) -> set[str]:
        """Links that are, or hold by fixed joints, a body with mass and inertia."""
        head = {joint.child: joint.parent for joint in joints if joint.type == "fixed"}
        found = set()
        for name, link in links.items():
            if link.mass >= _LEAST and _least_moment(link) >= _LEAST:
                found.add(name)
                while name in head:
                    name = head[name]
                    found.add(name)
        return found

    def _float(self, body: ET.Element) -> None:
        body.set("pos", numbers([self.at[f"root.{part}"] for part in "xyz"]))
        body.set("quat", numbers([self.at[f"root.{part}"] for part in ("qw", "qx", "qy", "qz")]))
        ET.SubElement(body, "freejoint", name="root")

    def _joint(self, body: ET.Element, joint: Joint) -> None:
        kind = "hinge" if joint.type == "revolute" else "slide"
        node = ET.SubElement(body, "joint", name=joint.name, type=kind, axis=numbers(joint.axis))
        if self.at[joint.name]:
            node.set("ref", number(self.at[joint.name]))
        if math.isfinite(joint.lower) or math.isfinite(joint.upper):
            if joint.lower < joint.upper:
                bounds = max(joint.lower, -FAR), min(joint.upper, FAR)
                node.set("range", numbers(bounds))
            else:
                self.machine.lost(f"joint {joint.name}", "its limits, which leave no range")
        if math.isfinite(joint.effort_limit):
            node.set("actuatorfrcrange", numbers([-joint.effort_limit, joint.effort_limit]))
        extras = self.machine.joint_extras(joint.name)
        values = {
            "damping": joint.damping,
            "frictionloss": joint.friction,
            "armature": extras.armature,
            "stiffness": extras.spring_stiffness,
        }
        node.attrib.update({word: number(value) for word, value in values.items() if value})
        if extras.spring_stiffness:
            node.set("springref", number(extras.spring_rest))

    def _inertia(self, body: ET.Element, link: Link, *, needs: bool) -> None:
        node = ET.SubElement(body, "inertial", pos=numbers(link.center_of_mass))
        if not (link.mass or link.inertia.any() or needs):
            # other readers of MJCF want it said
            node.attrib.update(mass="0", diaginertia="0 0 0")
            return
        node.set("mass", number(max(link.mass, _LEAST)))
        if _least_moment(link) > _FULL:
            six = link.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
            node.set("fullinertia", numbers(six))
            return
        moments, axes = np.linalg.eigh(link.inertia)
        axes[:, 0] *= np.linalg.det(axes)
        node.set("quat", wxyz(Pose(rotation=axes)))
        node.set("diaginertia", numbers(np.maximum(moments, _LEAST)))
        self.tiny.append(link.name)

    def _visual(self, visual: Visual) -> None:
        shape, place = visual.shape, f"visual of {visual.link}"
        if isinstance(shape, Box):
            kind, size = "box", [0.5 * side for side in shape.size]
        elif isinstance(shape, Cylinder):
            kind, size = "cylinder", [shape.radius, 0.5 * shape.length]
        elif isinstance(shape, Sphere):
            kind, size = "sphere", [shape.radius]
        else:
            kind, size = "mesh", [1.0]
            if shape.path.suffix.lower() not in _MESHES:
                self.unread.append(shape.path.name)
                return
        if min(size) <= 0.0:
            self.machine.lost(place, f"a {kind} without size")
            return
        geom = ET.SubElement(self.bodies[visual.link], "geom", type=kind)
        _place(geom, visual.pose)
        if isinstance(shape, MeshFile):
            geom.set("mesh", self._mesh(shape))
        else:
            geom.set("size", numbers(size))
        if visual.colour is not None:
            geom.set("rgba", numbers(visual.colour))

    def _mesh(self, mesh: MeshFile) -> str:
        wanted = {"file": str(mesh.path), "scale": numbers(mesh.scale)}
        for node in self.assets:
            if all(node.get(key) == value for key, value in wanted.items()):
                return node.get("name", "")
        name = f"mesh_{len(self.assets) + 1}"
        ET.SubElement(self.assets, "mesh", wanted, name=name, inertia="shell")
        return name

    def _remark_joints(self) -> None:
        machine = self.machine
        single = [joint for joint in machine.joints if joint.type in ONE_DOF]
        fast = [joint.name for joint in single if math.isfinite(joint.velocity_limit)]
        if fast:
            machine.lost(named("joint", fast), "velocity limit")
        stop = "stop; MuJoCo's limits have a law of their own"
        machine.lost_of_joints(stop, lambda extras: extras.stop_stiffness)
        if any(joint.friction for joint in single):
            machine.changed("friction", "frictionloss, which MuJoCo makes a constraint")


def _least_moment(link: Link) -> float:
    return float(np.linalg.eigvalsh(link.inertia)[0])


def _place(node: ET.Element, pose: Pose) -> None:
    if pose.translation.any():
        node.set("pos", numbers(pose.translation))
    if not np.array_equal(pose.rotation, np.eye(3)):
        node.set("quat", wxyz(pose))
