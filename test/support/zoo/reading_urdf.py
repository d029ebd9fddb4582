# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""URDF in its dialects that close loops, read for free bodies; no code of the package."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import yaml
from scipy.spatial.transform import Rotation

from support.zoo.maximal import WORLD, Body, Coupling, Joint, Pose, Reading

_DRAKE = "{http://drake.mit.edu}"
_MOMENTS = {
    "ixx": (0, 0),
    "iyy": (1, 1),
    "izz": (2, 2),
    "ixy": (0, 1),
    "ixz": (0, 2),
    "iyz": (1, 2),
}


def vector(text: str) -> np.ndarray:
    return np.array([float(word) for word in text.split()])


def pose(xyz: np.ndarray, rpy: np.ndarray) -> Pose:
    return Pose(Rotation.from_euler("xyz", rpy).as_matrix(), xyz)


def read_urdf(path: Path, *, floats: bool = False) -> Reading:
    """A URDF; where a Gepetto YAML lies next to it, with its loops; its root floats or is held."""
    robot = ET.parse(path).getroot()
    read = Reading()
    for link in robot.iterfind("link"):
        read.bodies[link.get("name")] = _body(link.find("inertial"))
    loops = path.with_name("robot.yaml")
    lists = yaml.safe_load(loops.read_text()) if loops.is_file() else {}
    kinds = dict(zip(lists.get("joint_name", []), lists.get("joint_type", []), strict=True))
    for node in robot.iterfind("joint"):
        _joint(node, kinds.get(node.get("name"), ""), read)
    children = {joint.child for joint in read.joints}
    (root,) = [name for name in read.bodies if name not in children]
    if not floats:
        _hold(read, root)
    frames = {joint.name: joint.child for joint in read.joints} | {n: n for n in read.bodies}
    for pair, kind in zip(lists.get("closed_loop", []), lists.get("type", []), strict=True):
        parent, child = (frames[name] for name in pair)
        word = "ball" if kind == "3d" else "fixed"
        read.joints.append(Joint(f"loop {pair}", word, parent, child, Pose(), Pose()))
    _loops(robot, read)
    return read


def _hold(read: Reading, root: str) -> None:
    """Fix the root, which is the world's link or stands on it."""
    if root != WORLD:
        read.joints.append(Joint("root", "fixed", WORLD, root, Pose(), Pose()))
    else:
        del read.bodies[WORLD]


def _body(inertial: ET.Element | None) -> Body:
    if inertial is None:
        return Body()
    origin = _origin(inertial.find("origin"))
    moments = inertial.find("inertia")
    inertia = np.zeros((3, 3))
    for name, (i, j) in _MOMENTS.items():
        inertia[i, j] = inertia[j, i] = float(moments.get(name))
    mass = float(inertial.find("mass").get("value"))
    return Body(mass, origin.p, origin.R @ inertia @ origin.R.T)


def _origin(node: ET.Element | None) -> Pose:
    if node is None:
        return Pose()
    return pose(vector(node.get("xyz", "0 0 0")), vector(node.get("rpy", "0 0 0")))


def _joint(node: ET.Element, other: str, read: Reading) -> None:
    name, kind = node.get("name"), node.get("type")
    axis = node.find("axis")
    axes = (np.array([1.0, 0.0, 0.0]) if axis is None else vector(axis.get("xyz")),)
    if kind == "fixed":
        axes = ()
    if other == "FIXED":
        kind, axes = "fixed", ()
    elif other == "SPHERICAL":
        kind, axes = "ball", ()
    elif other.startswith("UJOINT_"):
        kind, axes = "universal", tuple(np.eye(3)["XYZ".index(letter)] for letter in other[7:])
    ends = [node.find(role).get("link") for role in ("parent", "child")]
    mimic = node.find("mimic")
    if mimic is not None:
        factor = float(mimic.get("multiplier", "1"))
        read.couplings.append(Coupling({name: 1.0, mimic.get("joint"): -factor}))
    if kind != "floating":
        read.joints.append(Joint(name, kind, *ends, _origin(node.find("origin")), Pose(), axes))
    else:
        read.joints.append(Joint(name, "free", *ends, Pose(), Pose()))


def _loops(robot: ET.Element, read: Reading) -> None:
    for node in robot.iterfind("loop"):  # URDF+
        ends = [node.find(role) for role in ("predecessor", "successor")]
        links, poses = ([e.get("link") for e in ends], [_origin(e.find("origin")) for e in ends])
        axis = vector(node.find("axis").get("xyz"))
        read.joints.append(Joint(node.get("name"), node.get("type"), *links, *poses, (axis,)))
    for node in robot.iterfind("coupling"):
        # ratio times the way to the predecessor is the way to the successor
        ways = [_way(node.find(role).get("link"), read) for role in ("predecessor", "successor")]
        common = set(ways[0]) & set(ways[1])
        ratio = float(node.find("ratio").get("value"))
        factors = dict.fromkeys((n for n in ways[0] if n not in common), ratio)
        factors |= dict.fromkeys((n for n in ways[1] if n not in common), -1.0)
        read.couplings.append(Coupling(factors))
    for node in robot.iterfind("gazebo/joint"):  # its pose is in the child; all joints at zero
        parent, child = (node.findtext(role).strip() for role in ("parent", "child"))
        at_child = vector(node.findtext("pose"))
        here = pose(at_child[:3], at_child[3:])
        zero = _zero(child, read) @ here
        at_parent = _zero(parent, read).inverse() @ zero
        read.joints.append(
            Joint(node.get("name"), node.get("type"), parent, child, at_parent, here)
        )
    for node in robot.iterfind(f"{_DRAKE}ball_constraint"):
        tag = f"{_DRAKE}ball_constraint"
        links = [node.find(f"{tag}_body_{side}").get("name") for side in "AB"]
        points = [vector(node.find(f"{tag}_{p}").get("value")) for p in ("p_AP", "p_BQ")]
        poses = [Pose(p=point) for point in points]
        read.joints.append(Joint(f"loop {links}", "ball", *links, *poses))
    frames = {frame.get("name"): frame for frame in robot.iterfind("frame")}
    for node in robot.iterfind(f"{_DRAKE}linear_bushing_rpy"):  # stiff but about z: a hinge
        ends = [frames[node.find(f"{_DRAKE}bushing_frame{side}").get("name")] for side in "AC"]
        links = [frame.get("link") for frame in ends]
        poses = [_origin(frame) for frame in ends]
        stiff = vector(node.find(f"{_DRAKE}bushing_torque_stiffness").get("value"))
        assert (stiff > 0.0).tolist() == [True, True, False]
        read.joints.append(Joint(f"loop {links}", "revolute", *links, *poses, (np.eye(3)[2],)))


def _way(link: str, read: Reading) -> list[str]:
    mover = {joint.child: joint for joint in read.joints}
    found = []
    while link in mover:
        if mover[link].kind in ("revolute", "continuous", "prismatic"):
            found.append(mover[link].name)
        link = mover[link].parent
    return found


def _zero(link: str, read: Reading) -> Pose:
    mover = {joint.child: joint for joint in read.joints}
    if link not in mover:
        return Pose()
    joint = mover[link]
    return _zero(joint.parent, read) @ joint.at_parent @ joint.at_child.inverse()
