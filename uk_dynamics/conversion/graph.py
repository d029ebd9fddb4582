# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A machine given as a graph of links and joints becomes a tree with loop closures."""

import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

import uk_dynamics.core.linalg.rotations as so3
import uk_dynamics.model.urdf as urdf
from uk_dynamics.constraints.kinds import kind_by_foreign_name
from uk_dynamics.conversion.robot.imported_robot import (
    Data,
    ImportedRobot,
    frame_data,
    moved_link,
    turn,
)
from uk_dynamics.core.linalg import to_quaternion
from uk_dynamics.model.urdf import WORLD, Joint, Link, Pose, compose, relative


@dataclass(frozen=True)
class Axis:
    """One axis of a joint."""

    joint: Joint  # with its axis, in the frame of the whole joint, and numbers; no name nor links
    data: Data = field(default_factory=dict)  # what goes into the mechanism file: spring and stop


@dataclass(frozen=True)
class GraphJoint:
    """A joint between two links of a machine, which may close a loop."""

    name: str
    kind: str  # in SDF's words
    parent: str  # name of a link, or ``world``
    child: str  # name of the other
    pose: Pose  # of the joint in the machine as it is drawn
    # of the joint in each link, which are the same place in the model unless links are drawn apart
    at_parent: Pose
    at_child: Pose
    axes: tuple[Axis, ...]  # none, one or two
    pitch: float = 0.0  # of a screw, in m per turn, positive for a right-handed thread
    # of a gearbox: both its links turn on this one, the child by −ratio times the parent
    reference: str = ""
    ratio: float = 1.0
    cut: bool = False  # whether the file says that it closes a loop

    def seen_from(self, link: str) -> Pose:
        """The pose of the joint in one of its links."""
        return self.at_parent if link == self.parent else self.at_child


#: Kinds by how much they cost in a tree; a ball joint is worth cutting, since coordinates of a
#: tree with ball joints lock somewhere, and a cut ball joint costs three rows and no coordinate.
_COST = dict.fromkeys(("fixed", "revolute", "continuous", "prismatic"), 1)
_COST |= {"screw": 2, "revolute2": 2, "universal": 2, "ball": 3}
_CUT = 10  # more, where the file says that a joint closes a loop


@dataclass(frozen=True)
class Branch:
    """A joint of the tree."""

    joint: GraphJoint
    parent: str  # link towards the root
    child: str  # link that it carries

    @property
    def reversed(self) -> bool:
        """Whether the tree goes against the direction of the joint."""
        return self.parent != self.joint.parent


def spanning_tree(
    joints: Sequence[GraphJoint], links: Sequence[str], root: str, driven: Container[object] = ()
) -> tuple[list[Branch], list[GraphJoint], list[str]]:
    """A tree of cheap joints, in the order of the file among equals.

    Its joints come parents first; then those that close loops, and a link of each part apart.
    """
    from scipy.cluster.hierarchy import DisjointSet  # takes long to import

    def cost(joint: GraphJoint) -> int:
        driving = joint.name in driven and not joint.cut
        return 0 if driving else _COST.get(joint.kind, 99) + _CUT * joint.cut

    joined = DisjointSet((*links, root))
    chosen = [
        joint
        for joint in sorted(joints, key=cost)
        if joint.kind in _COST and joined.merge(joint.parent, joint.child)
    ]
    closing = [joint for joint in joints if joint.kind in _COST and joint not in chosen]
    branches: list[Branch] = []
    loose: list[str] = []
    reached: set[str] = set()
    for start in (root, *links):
        if start in reached:
            continue
        if start != root:
            loose.append(start)
        reached.add(start)
        waiting = [start]
        while waiting:
            here = waiting.pop(0)
            for joint in joints:
                if joint in chosen and here in (joint.parent, joint.child):
                    there = joint.child if joint.parent == here else joint.parent
                    if there not in reached:
                        reached.add(there)
                        branches.append(Branch(joint, here, there))
                        waiting.append(there)
    return branches, closing, loose


def single_joints(joint: GraphJoint, sign: float, robot: ImportedRobot) -> Iterator[Joint]:
    """The joints of one freedom that a joint of the tree consists of, in its frame."""
    if joint.kind == "screw":
        (axis,) = joint.axes
        yield _single(axis, f"{joint.name}_turn", "revolute", sign, robot)
        yield turn(f"{joint.name}_slide", sign * axis.joint.axis, "prismatic")
        return
    names = [f"{joint.name}_1", f"{joint.name}_2"] if len(joint.axes) > 1 else [joint.name]
    kind: urdf.JointType = "prismatic" if joint.kind == "prismatic" else "revolute"
    for name, axis in zip(names, joint.axes, strict=False):  # none of a fixed or ball joint
        yield _single(axis, name, kind, sign, robot)


def _single(
    axis: Axis, name: str, kind: urdf.JointType, sign: float, robot: ImportedRobot
) -> Joint:
    if axis.data:
        robot.joint_data[name] = axis.data
    return replace(axis.joint, name=name, type=kind, axis=sign * axis.joint.axis)


def close_loop(joint: GraphJoint, inside: Mapping[str, Pose], robot: ImportedRobot) -> None:
    """Turn a joint into a constraint; frames in the URDF are seen from those of the file."""
    kind = kind_by_foreign_name(joint.kind, "SDF")
    axes = [(x, y, z) for x, y, z in (axis.joint.axis.tolist() for axis in joint.axes)]
    keys = None if kind is None else kind.of_axes(axes, joint.pitch)
    if kind is None or keys is None:
        robot.lost(f"joint {joint.name}", f"closes a loop as {joint.kind}: there is no such row")
        return
    data: Data = {"type": kind.name, **keys}
    for role, link in (("parent", joint.parent), ("child", joint.child)):
        data[role] = frame_data(link, relative(inside[link], joint.seen_from(link)))
    robot.add("constraint", joint.name, data)
    for axis in joint.axes:
        has = [word for word in ("damping", "friction") if getattr(axis.joint, word)]
        has += ["limits"] if np.isfinite([axis.joint.lower, axis.joint.upper]).any() else []
        has += list(axis.data)
        if has:
            why = "it closes a loop and has no coordinate"
            robot.lost(f"joint {joint.name}", f"{', '.join(has)}: {why}")


def couple_gears(gearbox: GraphJoint, branches: Sequence[Branch], robot: ImportedRobot) -> None:
    """Couple the joints on which both wheels of a gearbox turn: theta_2 = -ratio theta_1 (SDF)."""
    factors: dict[str, float] = {}
    weights = (gearbox.ratio, 1.0)
    wheels = (gearbox.parent, gearbox.child)
    for wheel, axis, weight in zip(wheels, gearbox.axes, weights, strict=True):
        ends = {gearbox.reference, wheel}
        joint = next((b.joint for b in branches if {b.joint.parent, b.joint.child} == ends), None)
        if joint is None or joint.kind not in ("revolute", "continuous"):
            why = f"{wheel} does not turn on {gearbox.reference} by a joint of the tree"
            robot.lost(f"joint {gearbox.name}", why)
            return
        shaft = joint.pose.rotation @ joint.axes[0].joint.axis
        along = float(np.sign(shaft @ gearbox.pose.rotation @ axis.joint.axis))
        factors[joint.name] = weight * along * (1.0 if joint.child == wheel else -1.0)
    robot.add("constraint", gearbox.name, {"type": "joint_coupling", "joints": factors})


def drop_dangling(robot: ImportedRobot) -> None:
    """Leave out motors and couplings of joints that the tree does not have."""
    there = {joint.name for joint in robot.joints}
    for kind, section in (("actuator", robot.actuators), ("constraint", robot.constraints)):
        for name, data in list(section.items()):
            joints = data.get("joints", {data["joint"]: 1.0} if "joint" in data else {})
            assert isinstance(joints, dict)
            missing = sorted(set(joints) - there)
            if missing:
                del section[name]
                why = "closes a loop or is a chain now: it has no coordinate of this name"
                robot.lost(f"{kind} {name}", f"{', '.join(missing)} {why}")


_DRAWN = 1e-5  # m or rad: more than what single precision leaves of zero


@dataclass
class Graph:
    """What is known of a machine; :meth:`build` fills the robot."""

    # gets links, joints, constraints and remarks; its actuators keep joints in the tree
    robot: ImportedRobot
    joints: Sequence[GraphJoint]  # all but gearboxes
    gears: Sequence[GraphJoint]  # gearboxes
    places: Mapping[str, Pose]  # poses of the links in the world, as they are drawn
    first: str  # the link that floats where no joint leads to the world
    # a link and its shapes, both in the frame of the link
    body: Callable[[str], tuple[Link, list[urdf.Visual]]]
    fixed: bool = False  # whether it stands in the world instead
    # Of each link that is there: its frame in the URDF, seen from its frame in the file.
    inside: dict[str, Pose] = field(default_factory=lambda: {WORLD: Pose()})

    def build(self) -> None:
        """Choose the tree, and close the loops."""
        joints = self.joints
        grounded = any(WORLD in (joint.parent, joint.child) for joint in joints)
        self.fixed = self.fixed and not grounded
        root = WORLD if grounded else self.first
        driven = [data.get("joint") for data in self.robot.actuators.values()]
        branches, closing, loose = spanning_tree(joints, list(self.places), root, driven)
        known = {branch.joint.name for branch in branches} | {joint.name for joint in closing}
        for joint in joints:
            if joint.name not in known:
                self.robot.lost(f"joint {joint.name}", f'no counterpart of type "{joint.kind}"')
        self._root(root, floats=not grounded and not loose and not self.fixed)
        for branch in branches:
            if branch.parent not in self.inside:
                self._loose(branch.parent)
            self._branch(branch)
        for link in loose:
            if link not in self.inside:
                self._loose(link)
        for joint in closing:
            close_loop(joint, self.inside, self.robot)
        for gearbox in self.gears:
            couple_gears(gearbox, branches, self.robot)
        drop_dangling(self.robot)

    def _root(self, root: str, *, floats: bool) -> None:
        if floats:
            self.robot.root = "floating"
            place = self.places[root]
            self.robot.place_root("root", place, to_quaternion(place.rotation))
            self.inside[root] = Pose()
            self._body(root, Pose())
            return
        self.robot.links.append(Link(WORLD))
        if root != WORLD:
            self._loose(root)

    def _loose(self, link: str) -> None:
        """A part without a joint to the others floats in the world."""
        place = self.places[link]
        self.inside[link] = Pose()
        if self.fixed and link == self.first:
            self.robot.joints.append(Joint(f"{link}_mount", "fixed", WORLD, link, place))
            self._body(link, Pose())
            held = self.robot.links[-1]
            if np.linalg.eigvalsh(held.inertia)[0] < 0.0:
                self.robot.links[-1] = replace(held, mass=0.0, inertia=np.zeros((3, 3)))
                reason = "its inertia is impossible, and left out: it stands still"
                self.robot.changed(f"link {link}", reason)
            return
        self.robot.joints.append(Joint(f"{link}_free", "floating", WORLD, link, place))
        self.robot.changed(f"link {link}", f"no joint holds it: the floating joint {link}_free")
        self._body(link, Pose())

    def _body(self, name: str, moved: Pose) -> None:
        link, visuals = self.body(name)
        self.robot.links.append(moved_link(link, moved))
        self.robot.visuals += [
            replace(visual, pose=compose(moved, visual.pose)) for visual in visuals
        ]

    def _branch(self, branch: Branch) -> None:
        joint = branch.joint
        self.inside[branch.child] = joint.seen_from(branch.child)
        self._body(branch.child, urdf.inverse(self.inside[branch.child]))
        pose = relative(self.inside[branch.parent], joint.seen_from(branch.parent))
        whole = Joint(joint.name, "fixed", branch.parent, branch.child, pose)
        sign = -1.0 if branch.reversed else 1.0
        if branch.reversed:
            self.robot.changed(f"joint {joint.name}", "parent and child are exchanged in the tree")
        axes = list(single_joints(joint, sign, self.robot))
        if joint.kind == "fixed":
            self.robot.joints.append(whole)
        elif joint.kind == "ball":
            self.robot.add_ball(whole)
        elif len(axes) == 1:
            single = replace(axes[0], parent=whole.parent, child=whole.child, pose=whole.pose)
            self.robot.joints.append(single)
            self._begin(joint)
        else:
            self.robot.add_chain(whole, axes[::-1] if branch.reversed else axes)
        if joint.kind == "screw":
            slide, angle = axes[1].name, axes[0].name
            ratio = -joint.pitch / (2.0 * math.pi)
            data: Data = {"type": "joint_coupling", "joints": {slide: 1.0, angle: ratio}}
            self.robot.add("constraint", joint.name, data)

    def _begin(self, joint: GraphJoint) -> None:
        """Where a joint of one freedom is drawn; where its frames are apart, nowhere."""
        ends = [
            compose(self.places.get(link, Pose()), joint.seen_from(link))
            for link in (joint.parent, joint.child)
        ]
        drawn = relative(*ends)
        turn = so3.log(drawn.rotation)
        (axis,) = (axis.joint.axis for axis in joint.axes)
        slides = joint.kind == "prismatic"
        along, across = (drawn.translation, turn) if slides else (turn, drawn.translation)
        value = float(along @ axis)
        off = max(float(np.abs(along - value * axis).max()), float(np.abs(across).max()))
        if abs(value) > _DRAWN > off:
            self.robot.initial_guess[joint.name] = value
