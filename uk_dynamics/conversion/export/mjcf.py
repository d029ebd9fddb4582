# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism as a model of MuJoCo, drawn where the loops are closed.

Bodies are a tree; equality constraints, tendons and motors tie them.
"""

import math
from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

import numpy as np

import uk_dynamics.model.urdf as urdf
from uk_dynamics.constraints.kinds.frames import Distance
from uk_dynamics.constraints.kinds.pairs import Hinge, Point
from uk_dynamics.conversion.export.closures import Words, carried, closures, pin_points
from uk_dynamics.conversion.export.machine import Closure, Coupling, Machine, Motor, moved, pose_of
from uk_dynamics.conversion.export.mjcf_contacts import add_contacts
from uk_dynamics.conversion.export.mjcf_pose import set_pose, wxyz
from uk_dynamics.conversion.robot.imported_robot import named
from uk_dynamics.conversion.robot.urdf_text import number, numbers
from uk_dynamics.mechanism.files import ForceSpec

KINDS: Words = carried("MJCF") | {Hinge: "two connect", Distance: "equality of a tendon"}

_LEAST = 2e-15  # kg and kg m²: MuJoCo takes no moving body without mass
_FULL = 1e-13  # kg m²: where a matrix has less, MuJoCo wants its principal moments
_SECTIONS = ("contact", "tendon", "equality", "actuator")
_MESHES = (".stl", ".obj", ".msh")


def write_mjcf(machine: Machine) -> ET.Element:
    """The ``<mujoco>`` element, of a tree of single joints whose loops close."""
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
        if machine.mechanism.spec.contacts:
            option.set("cone", "elliptic")
        else:
            ET.SubElement(option, "flag", contact="disable")
        visual = ET.SubElement(self.root, "visual")
        ET.SubElement(visual, "headlight", ambient="0.4 0.4 0.4", diffuse="0.7 0.7 0.7")
        ET.SubElement(ET.SubElement(self.root, "default"), "geom", contype="0", conaffinity="0")
        self.assets = ET.SubElement(self.root, "asset")
        self.bodies = {urdf.WORLD: ET.SubElement(self.root, "worldbody")}
        sections = (ET.SubElement(self.root, name) for name in _SECTIONS)
        self.pairs, self.tendons, self.equalities, self.actuators = sections
        self.tiny, self.unread = list[str](), list[str]()

    def write(self) -> ET.Element:
        machine = self.machine
        machine.require_single_joints("MJCF")
        self._tree()
        for visual in machine.visuals:
            self._visual(visual)
        found, couplings = closures(machine, KINDS, weld_held=False, contacts=True)
        for closure in found:
            self._closure(closure)
        for coupling in couplings:
            self._coupling(coupling)
        add_contacts(machine, self.bodies, self.pairs)
        for force in machine.mechanism.spec.forces:
            self._force(force)
        for motor in machine.motors:
            self._motor(motor)
        if len(self.equalities):
            reason = "are soft in MuJoCo; solref and solimp say how much"
            machine.changed("equality constraints", reason)
        if self.tiny:
            reason = f"{_LEAST:g} kg and kg m² where MuJoCo takes no zero"
            machine.changed(named("link", self.tiny), reason)
        if self.unread:
            reason = "not drawn; MuJoCo reads STL, OBJ and MSH"
            machine.lost(named("mesh", list(dict.fromkeys(self.unread))), reason)
        self._remark_joints()
        for section in ("default", "asset", *_SECTIONS):
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
        if root.name != urdf.WORLD:
            body = ET.SubElement(self.bodies[urdf.WORLD], "body", name=root.name)
            self.bodies[root.name] = body
            if kind == "floating":
                body.set("pos", numbers([self.at[f"root.{x}"] for x in "xyz"]))
                body.set("quat", numbers([self.at[f"root.q{x}"] for x in "wxyz"]))
                ET.SubElement(body, "freejoint", name="root")
            self._inertia(body, root, needs=kind == "floating" and root.name not in heavy)
        for joint in machine.joints:
            body = ET.SubElement(self.bodies[joint.parent], "body", name=joint.child)
            self.bodies[joint.child] = body
            set_pose(body, moved(joint, self.at.get(joint.name, 0.0)))
            if joint.type in urdf.ONE_DOF:
                self._joint(body, joint)
            needs = joint.type != "fixed" and joint.child not in heavy
            self._inertia(body, links[joint.child], needs=needs)

    @staticmethod
    def _heavy(joints: Iterable[urdf.Joint], links: dict[str, urdf.Link]) -> set[str]:
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

    def _joint(self, body: ET.Element, joint: urdf.Joint) -> None:
        kind = "hinge" if joint.type == "revolute" else "slide"
        node = ET.SubElement(body, "joint", name=joint.name, type=kind, axis=numbers(joint.axis))
        if self.at[joint.name]:
            node.set("ref", number(self.at[joint.name]))
        if math.isfinite(joint.lower) or math.isfinite(joint.upper):
            if joint.lower < joint.upper:
                bounds = max(joint.lower, -urdf.FAR), min(joint.upper, urdf.FAR)
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

    def _inertia(self, body: ET.Element, link: urdf.Link, *, needs: bool) -> None:
        node = ET.SubElement(body, "inertial", pos=numbers(link.center_of_mass))
        if not (link.mass or link.inertia.any() or needs):
            # other readers of MJCF want it said
            node.attrib.update(mass="0", diaginertia="0 0 0")
            return
        node.set("mass", number(max(link.mass, _LEAST)))
        if _least_moment(link) > _FULL:
            node.set("fullinertia", numbers(link.inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]))
            return
        moments, axes = np.linalg.eigh(link.inertia)
        axes[:, 0] *= np.linalg.det(axes)
        node.set("quat", wxyz(urdf.Pose(rotation=axes)))
        node.set("diaginertia", numbers(np.maximum(moments, _LEAST)))
        self.tiny.append(link.name)

    def _visual(self, visual: urdf.Visual) -> None:
        shape, place = visual.shape, f"visual of {visual.link}"
        if isinstance(shape, urdf.Box):
            kind, size = "box", [0.5 * side for side in shape.size]
        elif isinstance(shape, urdf.Cylinder):
            kind, size = "cylinder", [shape.radius, 0.5 * shape.length]
        elif isinstance(shape, urdf.Sphere):
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
        set_pose(geom, visual.pose)
        if isinstance(shape, urdf.MeshFile):
            geom.set("mesh", self._mesh(shape))
        else:
            geom.set("size", numbers(size))
        if visual.colour is not None:
            geom.set("rgba", numbers(visual.colour))

    def _mesh(self, mesh: urdf.MeshFile) -> str:
        wanted = {"file": str(mesh.path), "scale": numbers(mesh.scale)}
        for node in self.assets:
            if all(node.get(key) == value for key, value in wanted.items()):
                return node.get("name", "")
        name = f"mesh_{len(self.assets) + 1}"
        ET.SubElement(self.assets, "mesh", wanted, name=name, inertia="shell")
        return name

    def _remark_joints(self) -> None:
        machine = self.machine
        single = [joint for joint in machine.joints if joint.type in urdf.ONE_DOF]
        fast = [joint.name for joint in single if math.isfinite(joint.velocity_limit)]
        if fast:
            machine.lost(named("joint", fast), "velocity limit")
        stop = "stop; MuJoCo's limits have a law of their own"
        machine.lost_of_joints(stop, lambda extras: extras.stop_stiffness)
        if any(joint.friction for joint in single):
            machine.changed("friction", "frictionloss, which MuJoCo makes a constraint")

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
            ends = self._sites(closure, name, urdf.Pose())
            for site in ends.values():
                ET.SubElement(tendon, "site", site=site)
            self._hold(tendon, name, kind.distance - self._drawn_length(closure), active)
        else:
            tag = "connect" if isinstance(kind, Point) else "weld"
            ends = self._sites(closure, name, urdf.Pose())
            ET.SubElement(self.equalities, tag, ends | active, name=name)

    def _drawn_length(self, closure: Closure) -> float:
        """Distance of the ends where the model is drawn, as MuJoCo will find it, in m."""
        points = []
        for link, pose in (closure.parent, closure.child):
            place, turn = self.machine.mechanism.pose(link, self.machine.drawn)
            points.append(place + turn @ pose.translation)
        return float(np.linalg.norm(points[1] - points[0]))

    def _sites(self, closure: Closure, name: str, offset: urdf.Pose) -> dict[str, str]:
        """Both ends as sites, by the attributes that name them."""
        named = {}
        roles = {"site1": ("parent", *closure.parent), "site2": ("child", *closure.child)}
        for key, (role, link, pose) in roles.items():
            named[key] = f"{name} {role}"
            self._site(named[key], link, urdf.compose(pose, offset))
        return named

    def _site(self, name: str, link: str, pose: urdf.Pose) -> None:
        place = {"pos": numbers(pose.translation), "quat": wxyz(pose)}
        ET.SubElement(self.bodies[link], "site", place, name=name)

    def _coupling(self, coupling: Coupling) -> None:
        """Deviations from the drawn positions are what MuJoCo couples."""
        active = {} if coupling.active else {"active": "false"}
        drawn = sum(factor * self.at[joint] for joint, factor in coupling.joints)
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

    def _fixed_tendon(self, name: str, joints: Sequence[tuple[str, float]]) -> ET.Element:
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

    def _motor(self, motor: Motor) -> None:
        node = ET.SubElement(self.actuators, "motor", name=motor.name)
        if motor.only_joint:
            node.set("joint", motor.only_joint)
            if motor.gear != 1.0:
                node.set("gear", number(motor.gear))
        else:
            node.set("tendon", self._fixed_tendon(motor.name, motor.joints).get("name", ""))
        if math.isfinite(motor.effort_limit):
            node.set("ctrlrange", numbers([-motor.effort_limit, motor.effort_limit]))


def _least_moment(link: urdf.Link) -> float:
    return float(np.linalg.eigvalsh(link.inertia)[0])
