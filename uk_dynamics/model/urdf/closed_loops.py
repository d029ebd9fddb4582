# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Loops that a robot description closes itself, next to its tree of joints.

URDF has no element of its own for them, so there are several:

- ``<constraint>`` as proposed for URDF (ros/urdfdom pull request 264);
- ``<loop>`` and ``<coupling>`` of URDF+ (Chignoli et al., 2024, arXiv:2411.19753);
- ``<gazebo><joint>`` and the plugin DetachableJoint, which Gazebo adds after conversion to SDF;
- Drake's ``<drake:ball_constraint>`` and ``<drake:linear_bushing_rpy>``.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from xml.etree import ElementTree as ET

import numpy as np

from uk_dynamics.did_you_mean import instead
from uk_dynamics.exceptions import UrdfError, located
from uk_dynamics.model.urdf.description import (
    WORLD,
    Array,
    ClosedLoops,
    Coupling,
    Joint,
    LoopJoint,
    Pose,
)
from uk_dynamics.model.urdf.rotation import compose, from_rpy, relative, turning_to
from uk_dynamics.model.urdf.schema import finite_numbers, read_origin, unit_vector

LOOP_TAGS = ("constraint", "loop", "coupling")
_DRAKE = "{http://drake.mit.edu}"
_X = (1.0, 0.0, 0.0)  # the axis of an element that names none, as of URDF's joints


def closed_loops(robot: ET.Element, root: str, joints: Sequence[Joint]) -> ClosedLoops:
    """Read the loops of a ``<robot>``, by its root link and its joints, depth first."""
    reader = _Reader(robot, root, joints)
    found = tuple(reader.loop_joints())
    couplings = tuple(map(reader.coupling, robot.iterfind("coupling")))
    return ClosedLoops(found, couplings, tuple(reader.warnings))


class _Reader:
    def __init__(self, robot: ET.Element, root: str, joints: Sequence[Joint]) -> None:
        self.robot = robot
        self.mover = {joint.child: joint for joint in joints}
        self.at_zero = {root: Pose(), WORLD: Pose()}  # poses of the links, all joints at zero
        for joint in joints:
            self.at_zero[joint.child] = compose(self.at_zero[joint.parent], joint.pose)
        self.warnings: list[str] = []

    def loop_joints(self) -> Iterator[LoopJoint]:
        """Joints of loops of all notations."""
        gazebo = [part for node in self.robot.iterfind("gazebo") for part in node]
        notations: tuple[tuple[Iterable[ET.Element], Callable[..., LoopJoint | None]], ...] = (
            (self.robot.iterfind("constraint"), self._proposed),
            (self.robot.iterfind("loop"), self._urdf_plus),
            ((node for node in gazebo if node.tag == "joint"), self._gazebo),
            ((node for node in gazebo if node.tag == "plugin"), self._detachable),
            (self.robot.iterfind(f"{_DRAKE}ball_constraint"), self._ball),
            (self.robot.iterfind(f"{_DRAKE}linear_bushing_rpy"), self._bushing),
        )
        for nodes, read in notations:
            for node in nodes:
                name = node.get("name", "")
                tag = node.tag.replace(_DRAKE, "drake:")
                with located(place=f"{tag} {name}".strip()):
                    found = read(node)
                if found is not None:
                    yield found

    def coupling(self, node: ET.Element) -> Coupling:
        """URDF+: ``ratio`` times the way to the predecessor is the way to the successor.

        Both ways begin at the nearest link that they have in common.
        """
        with located(place=f"coupling {node.get('name', '')}".strip()):
            name = _name(node)
            ends = [self._link(node, tag) for tag in ("predecessor", "successor")]
            ratio = _numbers(node, "ratio", "value", 1)[0]
            ways = [self._way(link) for link in ends]
            shared = {joint.name for joint in ways[0]} & {joint.name for joint in ways[1]}
            factors: dict[str, float] = {}
            for way, factor in zip(ways, (ratio, -1.0), strict=True):
                for joint in way:
                    if joint.name in shared or joint.type == "fixed":
                        continue
                    if joint.type not in ("revolute", "prismatic"):
                        problem = f"joint {joint.name} is {joint.type}; a ratio needs single ones"
                        raise UrdfError(problem)
                    factors[joint.name] = factor
        return Coupling(name, tuple(factors.items()))

    def _way(self, link: str) -> list[Joint]:
        found = []
        while link in self.mover:
            found.append(self.mover[link])
            link = found[-1].parent
        return found[::-1]

    def _proposed(self, node: ET.Element) -> LoopJoint:
        frames = [read_origin(node.find(f"{role}_origin")) for role in ("parent", "child")]
        tags = [f"{role}_axis" for role in ("parent", "child")]
        axes = [_axis(node, tag) for tag in tags if node.find(tag) is not None] or [np.array(_X)]
        first, second = axes[0], axes[-1]
        kind = _type(node)
        if kind not in ("universal", "revolute2"):
            # one axis, given in either frame: the frame in the child is turned until they agree
            frames[1] = compose(frames[1], Pose(rotation=turning_to(first, second)))
        return LoopJoint(
            _name(node),
            kind,
            self._link(node, "parent"),
            frames[0],
            self._link(node, "child"),
            frames[1],
            (first, second),
            _numbers(node, "pitch", "value", 1)[0] if node.find("pitch") is not None else 0.0,
        )

    def _urdf_plus(self, node: ET.Element) -> LoopJoint:
        roles = ("predecessor", "successor")
        parent, child = (self._link(node, role) for role in roles)
        frames = [read_origin(_part(node, role).find("origin")) for role in roles]
        axis = _axis(node, "axis")
        return LoopJoint(_name(node), _type(node), parent, frames[0], child, frames[1], (axis,))

    def _gazebo(self, node: ET.Element) -> LoopJoint:
        """A joint of SDF, whose pose is given in the child, all joints at zero."""
        parent, child = (
            self._known((node.findtext(role) or "").strip(), role) for role in ("parent", "child")
        )
        pose = node.find("pose")
        where = child if pose is None else self._known(pose.get("relative_to", child), "pose")
        numbers = finite_numbers("pose", "0 0 0 0 0 0" if pose is None else (pose.text or ""), 6)
        place = compose(self.at_zero[where], Pose(np.array(numbers[:3]), from_rpy(numbers[3:])))
        axes = []
        for tag in ("axis", "axis2"):
            axis = node.find(tag)
            xyz = None if axis is None else axis.find("xyz")
            if axis is None or xyz is None:
                axes.append(np.array([0.0, 0.0, 1.0]))
                continue
            direction = unit_vector(f"{tag} xyz", xyz.text or "")
            seen_from = xyz.get("expressed_in", "")
            if (axis.findtext("use_parent_model_frame") or "").strip() in ("1", "true"):
                seen_from = "__model__"
            if seen_from == "__model__":
                direction = place.rotation.T @ direction
            elif seen_from:
                turned = self.at_zero[self._known(seen_from, "expressed_in")].rotation
                direction = place.rotation.T @ turned @ direction
            axes.append(direction)
        pitch = node.findtext("screw_thread_pitch")
        return LoopJoint(
            _name(node),
            _type(node),
            parent,
            relative(self.at_zero[parent], place),
            child,
            relative(self.at_zero[child], place),
            tuple(axes),
            finite_numbers("screw_thread_pitch", pitch, 1)[0] if pitch else 0.0,
        )

    def _detachable(self, node: ET.Element) -> LoopJoint | None:
        """Gazebo's DetachableJoint holds a link of some model as it is at the start."""
        if "detachablejoint" not in node.get("name", "").replace("-", "").lower():
            return None
        model = (node.findtext("child_model") or "").strip()
        if model not in (self.robot.get("name", ""), "__model__"):
            self.warnings.append(
                f'plugin DetachableJoint: holds a link of another model, "{model}"'
            )
            return None
        parent, child = (
            self._known((node.findtext(f"{role}_link") or "").strip(), f"{role}_link")
            for role in ("parent", "child")
        )
        place = relative(self.at_zero[parent], self.at_zero[child])
        return LoopJoint(f"{parent}_to_{child}", "fixed", parent, place, child, Pose())

    def _ball(self, node: ET.Element) -> LoopJoint:
        ends = []
        for side, point in (("A", "p_AP"), ("B", "p_BQ")):
            body = f"{_DRAKE}ball_constraint_body_{side}"
            link = self._known(_part(node, body).get("name", ""), body.removeprefix(_DRAKE))
            offset = _numbers(node, f"{_DRAKE}ball_constraint_{point}", "value", 3)
            ends.append((link, Pose(np.array(offset))))
        (parent, parent_pose), (child, child_pose) = ends
        name = f"{parent}_to_{child}"
        return LoopJoint(name, "spherical", parent, parent_pose, child, child_pose)

    def _bushing(self, node: ET.Element) -> LoopJoint | None:
        """A stiff bushing stands for a joint; rigid here, free where its stiffness is zero."""
        ends = []
        for side in "AC":
            name = _part(node, f"{_DRAKE}bushing_frame{side}").get("name", "")
            frame = next((f for f in self.robot.iterfind("frame") if f.get("name") == name), None)
            if frame is None:
                raise UrdfError(f'there is no <frame> "{name}"')
            ends.append((self._known(frame.get("link", ""), f"frame {name}"), read_origin(frame)))
        (parent, parent_pose), (child, child_pose) = ends
        name = f"{parent}_to_{child}"
        torque, force = (
            np.array(_numbers(node, f"{_DRAKE}bushing_{kind}_stiffness", "value", 3))
            for kind in ("torque", "force")
        )
        kind, axes = bushing_joint(torque, force)
        if not kind:
            self.warnings.append(f"linear_bushing_rpy {name}: is no joint, and is left out")
            return None
        self.warnings.append(f"linear_bushing_rpy {name}: is rigid here, a {kind} joint")
        return LoopJoint(name, kind, parent, parent_pose, child, child_pose, axes)

    def _link(self, node: ET.Element, tag: str) -> str:
        return self._known(_part(node, tag).get("link", ""), tag)

    def _known(self, link: str, role: str) -> str:
        if link not in self.at_zero:
            known = [name for name in self.at_zero if name != WORLD]
            raise UrdfError(f'no {role} link "{link}"; {instead(link, known)}')
        return link


def bushing_joint(torque: Array, force: Array) -> tuple[str, tuple[Array, ...]]:
    """The joint that a bushing of Drake stands for, rigid where it is stiff: its type and axes.

    Stiffness is about and along x, y and z, (3,); zero is free. An empty type: there is no joint.
    """
    free = np.flatnonzero(torque == 0.0)
    kind = {0: "fixed", 1: "revolute", 3: "spherical"}.get(len(free), "") if force.all() else ""
    return kind, (np.eye(3)[free[0]],) if kind == "revolute" else ()


def prefixed(node: ET.Element, prefix: str) -> None:
    """Rename an element that closes a loop, and the links it names."""
    node.set("name", prefix + node.get("name", ""))
    for part in node:
        if "link" in part.attrib:
            part.set("link", prefix + part.attrib["link"])


def _name(node: ET.Element) -> str:
    name = node.get("name", "")
    if not name.strip():
        raise UrdfError("has no name; add name=...")
    return name


def _type(node: ET.Element) -> str:
    kind = node.get("type", "")
    if not kind:
        raise UrdfError('has no type; add for example type="revolute"')
    return kind


def _part(node: ET.Element, tag: str) -> ET.Element:
    found = node.find(tag)
    if found is None:
        raise UrdfError(f"<{tag.replace(_DRAKE, 'drake:')}> is missing; add it")
    return found


def _numbers(node: ET.Element, tag: str, attribute: str, count: int) -> list[float]:
    what = f"{tag.replace(_DRAKE, 'drake:')} {attribute}"
    return finite_numbers(what, _part(node, tag).get(attribute, ""), count)


def _axis(node: ET.Element, tag: str) -> Array:
    found = node.find(tag)
    return np.array(_X) if found is None else unit_vector(f"{tag} xyz", found.get("xyz", ""))
