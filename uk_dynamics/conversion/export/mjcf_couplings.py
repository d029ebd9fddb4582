# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What ties the bodies of a MuJoCo model: equality constraints, springs and motors."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from xml.etree import ElementTree as ET

import numpy as np

from uk_dynamics.constraints.kinds.frames import Distance
from uk_dynamics.constraints.kinds.pairs import Hinge, Point
from uk_dynamics.conversion.export.closures import Words, carried, pin_points
from uk_dynamics.conversion.export.machine import Closure, Coupling, Machine, pose_of
from uk_dynamics.conversion.robot.imported_robot import quaternion
from uk_dynamics.conversion.robot.urdf_text import number, numbers
from uk_dynamics.mechanism.files import ForceSpec
from uk_dynamics.model.urdf import Pose, compose

KINDS: Words = carried("MJCF") | {Hinge: "two connect", Distance: "equality of a tendon"}
Weights = Sequence[tuple[str, float]]


def wxyz(pose: Pose) -> str:
    """The rotation as MuJoCo has it."""
    return numbers(np.roll(quaternion(pose.rotation), 1))


class Couplings:
    """The sections behind the tree, of a model."""

    def __init__(
        self, machine: Machine, bodies: Mapping[str, ET.Element], root: ET.Element
    ) -> None:
        """Open the sections."""
        self.machine, self.bodies = machine, bodies
        self.tendons = ET.SubElement(root, "tendon")
        self.equalities = ET.SubElement(root, "equality")
        self.actuators = ET.SubElement(root, "actuator")

    def add(self, closures: Iterable[Closure], couplings: Iterable[Coupling]) -> None:
        """Write all of them."""
        for closure in closures:
            self._closure(closure)
        for coupling in couplings:
            self._coupling(coupling)
        for force in self.machine.mechanism.spec.forces:
            self._force(force)
        for motor in self.machine.motors:
            self._motor(motor.name, motor.joints, motor.effort_limit)
        if len(self.equalities):
            reason = "are soft in MuJoCo; solref and solimp say how much"
            self.machine.changed("equality constraints", reason)

    def _closure(self, closure: Closure) -> None:
        name, kind = closure.name, closure.kind
        active = {} if closure.active else {"active": "false"}
        if isinstance(kind, Hinge):
            for number_, offset in enumerate(pin_points(self.machine, kind), start=1):
                ends = self._sites(closure, f"{name} {number_}", offset)
                ET.SubElement(self.equalities, "connect", ends | active, name=f"{name} {number_}")
            self.machine.changed(f"constraint {name}", f"two points of its axis, {name} 1 and 2")
        elif isinstance(kind, Distance):
            tendon = self._tendon("spatial", name)
            ends = self._sites(closure, name, Pose())
            for site in ends.values():
                ET.SubElement(tendon, "site", site=site)
            length = kind.distance - self._drawn_length(closure)
            self._hold(tendon, name, length, active)
        else:
            tag = "connect" if isinstance(kind, Point) else "weld"
            ends = self._sites(closure, name, Pose())
            ET.SubElement(self.equalities, tag, ends | active, name=name)

    def _drawn_length(self, closure: Closure) -> float:
        """Distance of the ends where the model is drawn, as MuJoCo will find it, in m."""
        points = []
        for link, pose in (closure.parent, closure.child):
            place, turn = self.machine.mechanism.pose(link, self.machine.drawn)
            points.append(place + turn @ pose.translation)
        return float(np.linalg.norm(points[1] - points[0]))

    def _sites(self, closure: Closure, name: str, offset: Pose) -> dict[str, str]:
        """Both ends as sites, by the attributes that name them."""
        named = {}
        roles = {"site1": ("parent", *closure.parent), "site2": ("child", *closure.child)}
        for key, (role, link, pose) in roles.items():
            named[key] = f"{name} {role}"
            self._site(named[key], link, compose(pose, offset))
        return named

    def _site(self, name: str, link: str, pose: Pose) -> None:
        place = {"pos": numbers(pose.translation), "quat": wxyz(pose)}
        ET.SubElement(self.bodies[link], "site", place, name=name)

    def _coupling(self, coupling: Coupling) -> None:
        """Deviations from the drawn positions are what MuJoCo couples."""
        active = {} if coupling.active else {"active": "false"}
        drawn = sum(factor * self.machine.at[joint] for joint, factor in coupling.joints)
        missing = coupling.offset - drawn
        (first, factor), *others = coupling.joints
        if len(others) < 2:
            ratio = -others[0][1] / factor if others else 0.0
            node = ET.SubElement(self.equalities, "joint", active, name=coupling.name, joint1=first)
            if others:
                node.set("joint2", others[0][0])
            node.set("polycoef", numbers([missing / factor, ratio, 0.0, 0.0, 0.0]))
            return
        tendon = self._fixed_tendon(coupling.name, coupling.joints)
        self._hold(tendon, coupling.name, missing, active)

    def _hold(self, tendon: ET.Element, name: str, change: float, active: dict[str, str]) -> None:
        """Hold a tendon at its drawn length and a change of it."""
        node = ET.SubElement(self.equalities, "tendon", active, name=name)
        node.set("tendon1", tendon.get("name", ""))
        node.set("polycoef", numbers([change, 0.0, 0.0, 0.0, 0.0]))

    def _tendon(self, kind: str, name: str) -> ET.Element:
        taken = {tendon.get("name") for tendon in self.tendons}
        while name in taken:  # a motor may be called like a spring
            name += " tendon"
        return ET.SubElement(self.tendons, kind, name=name)

    def _fixed_tendon(self, name: str, joints: Weights) -> ET.Element:
        tendon = self._tendon("fixed", name)
        for joint, factor in joints:
            ET.SubElement(tendon, "joint", joint=joint, coef=number(factor))
        return tendon

    def _force(self, force: ForceSpec) -> None:
        if force.type == "joint_spring":
            tendon = self._fixed_tendon(force.name, force.joints)
        elif force.type == "line_spring":
            tendon = self._tendon("spatial", force.name)
            for role, frame in force.frames:
                self._site(f"{force.name} {role}", frame.link, pose_of(frame))
                ET.SubElement(tendon, "site", site=f"{force.name} {role}")
        else:
            self.machine.lost(f"force {force.name}", f"MJCF has no force of type {force.type}")
            return
        tendon.set("stiffness", number(force.stiffness))
        tendon.set("damping", number(force.damping))
        tendon.set("springlength", number(force.rest))

    def _motor(self, name: str, joints: Weights, limit: float) -> None:
        motor = ET.SubElement(self.actuators, "motor", name=name)
        if len(joints) == 1:
            ((joint, factor),) = joints
            motor.set("joint", joint)
            if factor != 1.0:
                motor.set("gear", number(factor))
        else:
            tendon = self._fixed_tendon(name, joints)
            motor.set("tendon", tendon.get("name", ""))
        if math.isfinite(limit):
            motor.set("ctrlrange", numbers([-limit, limit]))
