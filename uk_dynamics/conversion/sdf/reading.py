"""SDF: a graph of links and joints; joints that close a loop become constraints.

Own parsing: the bindings of sdformat are not on PyPI, and the Python readers that are there take
trees only, or pass over what they do not know, which an import must not do.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree as ET

from uk_dynamics.conversion.robot import poses
from uk_dynamics.conversion.robot.imported_robot import Data, ImportedRobot
from uk_dynamics.conversion.sdf.frames import Frames, is_true, numbers, read_pose
from uk_dynamics.conversion.sdf.joints import SdfJoint, read_joint
from uk_dynamics.conversion.sdf.links import read_link, read_visuals
from uk_dynamics.conversion.sdf.loop_closures import (
    close_loop,
    couple_gears,
    drop_dangling,
    single_joints,
)
from uk_dynamics.conversion.sdf.spanning_tree import Branch, spanning_tree
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.model.urdf import WORLD, Joint, Link, Pose, compose, inverse, relative

_HANDLED = ("link", "joint", "pose", "frame", "static", "self_collide", "allow_auto_disable")
_AXES_IN_JOINT = 5  # since SDF 1.5


def read_sdf(root: ET.Element, directory: Path, model: str | None = None) -> ImportedRobot:
    """Take one model of an SDF file."""
    version = re.fullmatch(r"1\.([0-9]+)", root.get("version", "1.4").strip())
    if version is None:
        raise InputError(f'version "{root.get("version")}" is none of SDF, such as 1.9')
    models = [*root.iterfind("model"), *root.iterfind("world/model")]
    chosen = _choose(models, model)
    robot = ImportedRobot(chosen.get("name", "model"))
    gravity = root.find("world/gravity")
    if gravity is not None:
        robot.gravity = numbers(gravity, 3).tolist()
    for other in models:
        if other is not chosen:
            robot.lost(f"model {other.get('name')}", "one model is imported at a time; --model")
    axes_in_model = int(version.group(1)) < _AXES_IN_JOINT
    _Reader(chosen, directory, robot, axes_in_model=axes_in_model).read()
    return robot


def _choose(models: list[ET.Element], name: str | None) -> ET.Element:
    names = [model.get("name", "") for model in models]
    if name is not None:
        if name not in names:
            raise UnknownNameError("model", name, names)
        return models[names.index(name)]
    if not models:
        raise InputError("there is no <model>; an <include> is not followed: give its file")
    moving = [model for model in models if not is_true(model.findtext("static"))]
    if len(moving) != 1:
        raise InputError(f"there are the models {', '.join(names)}; choose one by --model")
    return moving[0]


class _Reader:
    """One model on its way to a tree with constraints."""

    def __init__(
        self, model: ET.Element, directory: Path, robot: ImportedRobot, *, axes_in_model: bool
    ) -> None:
        self.model = model
        self.directory = directory
        self.robot = robot
        self.axes_in_model = axes_in_model
        self.frames = Frames(model)
        self.placed = self._place()
        self.elements = {node.get("name", ""): node for node in model.iterfind("link")}
        # Of each link that is there: its frame in the URDF, seen from the world.
        self.where: dict[str, Pose] = {WORLD: Pose()}

    def _place(self) -> Pose:
        """Of the model in the world."""
        pose, frame = self.model.find("pose"), self.model.get("placement_frame")
        reference = "" if pose is None else pose.get("relative_to", "")
        if reference not in ("", WORLD):
            self.robot.lost(
                f"model {self.robot.name}", f"its place relative to {reference}, taken as the world"
            )
        if frame is None:
            return read_pose(pose)
        return compose(read_pose(pose), inverse(self.frames.pose(frame)))

    def read(self) -> None:
        self._remark_the_rest()
        read = [self._joint(node) for node in self.model.iterfind("joint")]
        gears = [joint for joint in read if joint.kind == "gearbox"]
        joints = [joint for joint in read if joint.kind != "gearbox"]
        grounded = any(WORLD in (joint.parent, joint.child) for joint in joints)
        first = self.model.get("canonical_link") or next(iter(self.elements), "")
        if first not in self.elements:
            raise InputError(f'there is no <link> "{first}"', place=f"model {self.robot.name}")
        root = WORLD if grounded else first
        driven = [data.get("joint") for data in self.robot.actuators.values()]
        branches, closing, loose = spanning_tree(joints, list(self.elements), root, driven)
        known = {branch.joint.name for branch in branches} | {joint.name for joint in closing}
        for joint in joints:
            if joint.name not in known:
                self.robot.lost(f"joint {joint.name}", f'no counterpart of type "{joint.kind}"')
        self._root(root, floats=not grounded and not loose)
        for branch in branches:
            if branch.parent not in self.where:
                self._loose(branch.parent)
            self._branch(branch)
        for link in loose:
            if link not in self.where:
                self._loose(link)
        for joint in closing:
            close_loop(joint, self.placed, self.where, self.robot)
        for gearbox in gears:
            couple_gears(gearbox, branches, self.robot)
        drop_dangling(self.robot)

    def _joint(self, node: ET.Element) -> SdfJoint:
        try:
            return read_joint(node, self.frames, self.robot, axes_in_model=self.axes_in_model)
        except InputError as error:
            raise error.located(place=f"joint {node.get('name', '')}") from None

    def _remark_the_rest(self) -> None:
        for node in self.model:
            label = f"{node.tag} {node.get('name') or node.findtext('uri') or ''}".strip()
            if node.tag == "plugin":
                self._plugin(node)
            elif node.tag in ("model", "include"):
                self.robot.lost(label, "nested models are not followed: import its own file")
            elif node.tag not in _HANDLED:
                self.robot.lost(label, "has no place here")
        if is_true(self.model.findtext("static")):
            self.robot.lost(f"model {self.robot.name}", "<static>: here it moves")
        if self.model.find("link/collision") is not None:
            self.robot.lost("collision shapes", "contact is out of scope")

    def _plugin(self, node: ET.Element) -> None:
        name = node.get("filename") or node.get("name") or ""
        known = {joint.get("name") for joint in self.model.iterfind("joint")}
        driven = [(item.text or "").strip() for item in node.iter("joint_name")]
        for joint in dict.fromkeys(driven):
            if joint in known and not any(
                d == {"joint": joint} for d in self.robot.actuators.values()
            ):
                guess = f"guess: the plugin {name} names this joint"
                self.robot.add_actuator(joint, {"joint": joint}, guess)
        self.robot.lost(f"plugin {name}", "plugins are programs of the simulator")

    def _root(self, root: str, *, floats: bool) -> None:
        if root == WORLD:
            self.robot.links.append(Link(WORLD))
            return
        if floats:
            self.robot.root = "floating"
            place = compose(self.placed, self.frames.pose(root))
            self.robot.place_root("root", place, poses.quaternion(place.rotation))
            self.where[root] = place
            self._body(root, Pose())
            return
        self.robot.links.append(Link(WORLD))
        self._loose(root)

    def _loose(self, link: str) -> None:
        """A part without a joint to the others floats in the world."""
        place = compose(self.placed, self.frames.pose(link))
        self.where[link] = place
        self.robot.joints.append(Joint(f"{link}_free", "floating", WORLD, link, place))
        self.robot.changed(f"link {link}", f"no joint holds it: the floating joint {link}_free")
        self._body(link, Pose())

    def _body(self, name: str, moved: Pose) -> None:
        node = self.elements[name]
        try:
            link = read_link(node, self.robot)
            visuals = read_visuals(node, self.robot, self.directory)
        except InputError as error:
            raise error.located(place=f"link {name}") from None
        self.robot.links.append(poses.moved_link(link, moved))
        self.robot.visuals += [poses.moved_visual(visual, moved) for visual in visuals]

    def _branch(self, branch: Branch) -> None:
        joint = branch.joint
        place = compose(self.placed, joint.pose)
        self.where[branch.child] = place
        own = compose(self.placed, self.frames.pose(branch.child))
        self._body(branch.child, relative(place, own))
        pose = relative(self.where[branch.parent], place)
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
            self.robot.joints.append(
                replace(axes[0], parent=whole.parent, child=whole.child, pose=whole.pose)
            )
        else:
            self.robot.add_chain(whole, axes[::-1] if branch.reversed else axes)
        if joint.kind == "screw":
            slide, angle = axes[1].name, axes[0].name
            ratio = -joint.pitch / (2.0 * math.pi)
            data: Data = {"type": "joint_coupling", "joints": {slide: 1.0, angle: ratio}}
            self.robot.add_constraint(joint.name, data)
