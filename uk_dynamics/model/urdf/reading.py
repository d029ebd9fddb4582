# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Reading URDF: every link and joint checked, every mistake named with its place and remedy.

A limit of effort or velocity that is 0 is one that is not declared.
"""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np

from uk_dynamics.did_you_mean import some
from uk_dynamics.exceptions import CodedWarning, UrdfError, located
from uk_dynamics.model.urdf.closed_loops import LOOP_TAGS, closed_loops
from uk_dynamics.model.urdf.composition import expand_includes
from uk_dynamics.model.urdf.description import (
    FAR,
    WORLD,
    Joint,
    JointType,
    Link,
    Mimic,
    RobotDescription,
    check_mimics,
    inertia_problem,
    moves_no_mass,
    order_joints,
    outweighed,
)
from uk_dynamics.model.urdf.schema import Element, parse_element, read_origin, unit_vector
from uk_dynamics.model.urdf.source import Source, read_source, text_source
from uk_dynamics.model.urdf.xml_text import parse_robot

MOST_LINKS = 10_000
ELSEWHERE = ("material", "gazebo", "transmission", "ros2_control", "sensor", "frame", *LOOP_TAGS)


def read_urdf(urdf: str | Path, *, arguments: Mapping[str, str] | None = None) -> RobotDescription:
    """Read a description from a path, a ``package://`` address, a ``.xacro`` file or URDF text.

    Arguments of a ``.xacro`` file are by name. An UrdfError says where and what to do.
    """
    return _read(read_source(urdf, arguments=arguments))


def read_urdf_text(text: str, source: str = "robot_description") -> RobotDescription:
    """Read a description from URDF text; ``source`` names it in messages. Raises UrdfError."""
    return _read(text_source(text, source))


def _read(source: Source) -> RobotDescription:
    robot = parse_robot(source.text, source.name, encoding=source.encoding)
    with located(source.name):
        expand_includes(robot, source)
        return _Reader(robot, source.name, source.warnings).description()


class _Reader:
    """Walks over one ``<robot>`` element and collects warnings on the way."""

    def __init__(self, robot: ET.Element, source: str, warnings: Iterable[str]) -> None:
        self.robot, self.source = robot, source
        self.warnings = list(warnings)
        self.complaints: dict[str, list[str]] = {}
        self.mimics: list[Mimic] = []
        self.impossible: list[str] = []
        self.without_effort: list[str] = []

    def description(self) -> RobotDescription:
        self._check_top_level()
        links = [self._link(node) for node in self.robot.iterfind("link")]
        joints = [self._joint(node) for node in self.robot.iterfind("joint")]
        self._stand_in_world(links, joints)
        _check_unique("link", (link.name for link in links))
        _check_unique("joint", (joint.name for joint in joints))
        root, ordered = order_joints(links, joints)
        check_mimics(self.mimics, joints)
        loops = closed_loops(self.robot, root, ordered)
        self.warnings += loops.warnings
        self.warnings += outweighed(links, joints, self.impossible)
        self.warnings += [f"{some(at, 2)}: {text}" for text, at in self.complaints.items()]
        for name in moves_no_mass(links, ordered):
            text = "moves no mass; its motion is determined only by constraints or an armature"
            self.warnings.append(CodedWarning(f"joint {name}: {text}", "massless"))
        return RobotDescription(
            name=self.robot.get("name", "robot"),
            source=self.source,
            root=root,
            links=tuple(links),
            joints=ordered,
            mimics=tuple(self.mimics),
            loops=loops,
            warnings=tuple(
                w.of(self.source) if isinstance(w, CodedWarning) else f"{self.source}: {w}"
                for w in self.warnings
            ),
            text=ET.tostring(self.robot, encoding="unicode"),
            without_effort=tuple(self.without_effort),
        )

    def _check_top_level(self) -> None:
        version = self.robot.get("version", "1.0")
        if version != "1.0":
            raise UrdfError(f'URDF version "{version}" is not supported; expected "1.0"')
        if len(self.robot.findall("link")) > MOST_LINKS:
            raise UrdfError(f"there are more than {MOST_LINKS} links; the matrices would not fit")
        for node in self.robot:
            if node.tag not in ("link", "joint", *ELSEWHERE) and not node.tag.startswith("{"):
                self.warnings.append(f"<{node.tag}> is unknown and ignored")

    def _stand_in_world(self, links: list[Link], joints: list[Joint]) -> None:
        """A world that joints name need not be declared; what hangs on nothing then floats in it.

        So Drake and Gazebo read such files.
        """
        if not any(joint.parent == WORLD for joint in joints):
            return
        if WORLD not in (link.name for link in links):
            links.insert(0, Link(WORLD))
        held = {WORLD} | {joint.child for joint in joints}
        taken = {joint.name for joint in joints}
        for link in links:
            if link.name in held:
                continue
            name = f"{link.name}_floats" if link.name in taken else link.name
            joints.append(Joint(name, "floating", WORLD, link.name))
            self.warnings.append(f"link {link.name}: has no parent, and floats in the world")

    def _link(self, node: ET.Element) -> Link:
        element = self._element("link", node)
        inertial = element.found.inertial
        if inertial is None:
            return Link(element.name)
        mass = float(inertial.mass)
        if inertial.inertia is None:
            self.warnings.append(f"{element.place}: no <inertia>; treated as a point mass")
            inertia = np.zeros((3, 3))
        else:
            inertia = np.array(inertial.inertia.to_matrix(), dtype=float)
        pose = read_origin(node.find("inertial/origin"))
        problem, fatal = inertia_problem(mass, inertia)
        if problem and fatal:
            self.impossible.append(element.name)
        elif problem:
            self.warnings.append(CodedWarning(f"{element.place}: {problem}", "inertia"))
        return Link(element.name, mass, pose.translation, pose.rotation @ inertia @ pose.rotation.T)

    def _joint(self, node: ET.Element) -> Joint:
        element = self._element("joint", node)
        found = element.found
        continuous = found.type == "continuous"
        kind: JointType = "revolute" if continuous else found.type
        if found.mimic is not None:
            multiplier = 1.0 if found.mimic.multiplier is None else float(found.mimic.multiplier)
            offset = 0.0 if found.mimic.offset is None else float(found.mimic.offset)
            self.mimics.append(Mimic(element.name, found.mimic.joint, multiplier, offset))
        axis, given = np.array([1.0, 0.0, 0.0]), node.find("axis")
        if given is not None and kind in ("revolute", "prismatic", "planar"):
            with located(place=element.place):
                axis = unit_vector("axis xyz", given.get("xyz", ""))
        damping, friction = _dynamics(found.dynamics)
        lower, upper, effort, velocity = self._limits(element, kind, continuous)
        return Joint(
            name=element.name,
            type=kind,
            parent=found.parent,
            child=found.child,
            pose=read_origin(node.find("origin")),
            axis=axis,
            lower=lower,
            upper=upper,
            effort_limit=effort,
            velocity_limit=velocity,
            damping=damping,
            friction=friction,
        )

    def _element(self, kind: str, node: ET.Element) -> Element:
        element = parse_element(kind, node)
        for complaint in element.complaints:
            self.complaints.setdefault(complaint, []).append(element.place)
        return element

    def _limits(
        self, element: Element, kind: JointType, continuous: bool
    ) -> tuple[float, float, float, float]:
        limit = element.found.limit
        bounded = kind in ("revolute", "prismatic") and not continuous
        if limit is None:
            if bounded:
                remedy = " or make the joint continuous" if kind == "revolute" else ""
                raise UrdfError(
                    f"a {kind} joint needs <limit lower upper effort velocity>; add it{remedy}",
                    place=element.place,
                )
            return -math.inf, math.inf, math.inf, math.inf
        effort = self._declared(element, "effort", limit.effort)
        passive = limit.effort == 0.0 and limit.velocity == 0.0
        velocity = math.inf if passive else self._declared(element, "velocity", limit.velocity)
        if not bounded:
            return -math.inf, math.inf, effort, velocity
        lower, upper = float(limit.lower), float(limit.upper)
        if lower > upper:
            raise UrdfError(
                f"limit lower {lower:g} is above upper {upper:g}; swap them", place=element.place
            )
        if lower == upper:
            text = f"{element.place}: lower and upper limit are both {lower:g}"
            self.warnings.append(CodedWarning(text, "limits"))
        return lower, upper, effort, velocity

    def _declared(self, element: Element, name: str, value: float) -> float:
        """URDF demands effort and velocity; zero is how authors say that they do not know."""
        # no motor is as strong or fast as FAR: that is how files say that there is no limit
        if value >= FAR:
            return math.inf
        if value == 0.0 and name == "effort":  # ordinary, unless a motor drives the joint
            self.without_effort.append(element.name)
            return math.inf
        if value == 0.0:
            complaint = f"limit {name} is 0, treated as not declared"
            self.complaints.setdefault(complaint, []).append(element.place)
            return math.inf
        return float(value)


def _dynamics(dynamics: Any) -> tuple[float, float]:
    if dynamics is None:
        return 0.0, 0.0
    return float(dynamics.damping or 0.0), float(dynamics.friction or 0.0)


def _check_unique(kind: str, names: Iterable[str]) -> None:
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise UrdfError(f'two {kind}s are named "{name}"; rename one', place=f"{kind} {name}")
        seen.add(name)
