# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""From a robot description to Pinocchio's tree of joints."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pinocchio as pin

from uk_dynamics.exceptions import InputError, UnknownNameError, UrdfError, expect_names
from uk_dynamics.model.kinematics.bodies import Ancestry
from uk_dynamics.model.urdf.description import (
    ONE_DOF,
    WORLD,
    AttachedFrame,
    Joint,
    Link,
    Pose,
    RobotDescription,
)
from uk_dynamics.model.urdf.rotation import from_quaternion, turning_to

Root = Literal["fixed", "floating", "planar"]

ROOTS: tuple[Root, ...] = ("fixed", "floating", "planar")
ROOT_JOINT = "root"


class Tree:
    """Pinocchio's model of a description, with frames only for links and attached frames.

    The joints keep the description's depth-first order, so that a joint's subtree is a
    contiguous range of velocities, and ``continuous`` joints are plain angles.
    """

    def __init__(
        self, description: RobotDescription, root: Root, frames: Sequence[AttachedFrame]
    ) -> None:
        # ``pinocchio.Model``; its frame 0 is the universe, frame i + 1 is ``frame_names[i]``
        self.model: Any = pin.Model()
        self.model.name = description.name
        # the moving joints in velocity order, the root joint included
        self.joints: list[Joint] = []
        self.frame_names: list[str] = []  # links, then attached frames
        self._carriers: dict[str, tuple[int, Any]] = {}
        links = {link.name: link for link in description.links}
        if WORLD not in links:
            self._carriers[WORLD] = (0, pin.SE3.Identity())
        self._place_root(description, links[description.root], root)
        for joint in description.joints:
            self._place(joint, links[joint.child])
        for frame in frames:
            self._attach(frame)

    def _place_root(self, description: RobotDescription, link: Link, root: Root) -> None:
        expect_names("root", [root], ROOTS)
        if root == "fixed":
            self._add_body(link, 0, pin.SE3.Identity())
            return
        if any(joint.name == ROOT_JOINT for joint in description.joints):
            raise UrdfError(
                f'the name "{ROOT_JOINT}" belongs to the {root} root joint; rename the joint',
                file=description.source,
                place=f"joint {ROOT_JOINT}",
            )
        z_axis = np.array([0.0, 0.0, 1.0])
        base = Joint(ROOT_JOINT, root, parent="", child=link.name, axis=z_axis)
        self._add_joint(base, link, 0, pin.SE3.Identity())

    def _place(self, joint: Joint, child: Link) -> None:
        carrier, in_carrier = self._carriers[joint.parent]
        placement = in_carrier * se3(joint.pose)
        if joint.type == "fixed":
            self._add_body(child, carrier, placement)
        else:
            self._add_joint(joint, child, carrier, placement)

    def _add_joint(self, joint: Joint, child: Link, carrier: int, placement: Any) -> None:
        tilt = pin.SE3.Identity()
        if joint.type == "planar":
            tilt = pin.SE3(turning_to(np.array([0.0, 0.0, 1.0]), joint.axis), np.zeros(3))
        index = self.model.addJoint(carrier, joint_model(joint), placement * tilt, joint.name)
        self.joints.append(joint)
        self._add_body(child, int(index), tilt.inverse())

    def _add_body(self, link: Link, carrier: int, placement: Any) -> None:
        if carrier and (link.mass or link.inertia.any()):
            inertia = pin.Inertia.Zero()  # its constructor refuses what only a whole body makes up
            inertia.mass = link.mass
            inertia.lever = link.center_of_mass
            inertia.inertia = link.inertia
            self.model.appendBodyToJoint(carrier, inertia, placement)
        self._add_frame(link.name, carrier, placement)

    def _add_frame(self, name: str, carrier: int, placement: Any) -> None:
        self.model.addFrame(pin.Frame(name, carrier, 0, placement, pin.FrameType.BODY))
        self._carriers[name] = (carrier, placement)
        self.frame_names.append(name)

    def _attach(self, frame: AttachedFrame) -> None:
        if frame.name in self._carriers:
            raise InputError(f'two frames are named "{frame.name}"; rename one')
        if frame.link not in self._carriers:
            raise UnknownNameError("link", frame.link, self.frame_names)
        numbers = np.array([*frame.xyz, *frame.quaternion], dtype=float)
        if not np.isfinite(numbers).all() or not numbers[3:].any():
            raise InputError(
                f'the pose of frame "{frame.name}" must be finite, its quaternion not 0'
            )
        pose = Pose(np.asarray(frame.xyz, dtype=float), from_quaternion(frame.quaternion))
        carrier, in_carrier = self._carriers[frame.link]
        self._add_frame(frame.name, carrier, in_carrier * se3(pose))

    def set_armature(self, armature: Mapping[str, float]) -> None:
        """Add rotor inertias, in kg m² or kg by joint name, to the mass matrix."""
        index = {
            joint.name: self.model.joints[number].idx_v
            for number, joint in enumerate(self.joints, start=1)
            if joint.type in ONE_DOF
        }
        values = np.zeros(self.model.nv)
        expect_names("joint", armature, index)
        for name, value in armature.items():
            if not (np.isfinite(value) and value >= 0.0):
                raise InputError(f'armature of "{name}" must be a number >= 0, found {value}')
            values[index[name]] = value
        self.model.armature = values

    def ancestry(self) -> Ancestry:
        """Which velocities move which frames."""
        last = [-1]  # of the universe
        for index in range(1, self.model.njoints):
            joint = self.model.joints[index]
            last.append(int(joint.idx_v) + int(joint.nv) - 1)
        carriers = [last[self._carriers[name][0]] for name in self.frame_names]
        return Ancestry(self.velocity_parents(), carriers)

    def velocity_parents(self) -> tuple[int, ...]:
        """For each velocity the one before it on the way to the root, -1 at the root."""
        parents: list[int] = []
        for index in range(1, self.model.njoints):
            joint = self.model.joints[index]
            before = int(self.model.parents[index])
            carrier = self.model.joints[before]
            parents.append(carrier.idx_v + carrier.nv - 1 if before else -1)
            parents.extend(range(joint.idx_v, joint.idx_v + joint.nv - 1))
        return tuple(parents)


def se3(pose: Pose) -> Any:
    """Pinocchio's form of a pose."""
    return pin.SE3(pose.rotation, pose.translation)


def joint_model(joint: Joint) -> Any:
    """Pinocchio's joint of the same kind; axes along x, y, z get the cheaper special ones."""
    if joint.type == "floating":
        return pin.JointModelFreeFlyer()
    if joint.type == "planar":
        return pin.JointModelPlanar()
    kinds = {
        "revolute": (
            pin.JointModelRX,
            pin.JointModelRY,
            pin.JointModelRZ,
            pin.JointModelRevoluteUnaligned,
        ),
        "prismatic": (
            pin.JointModelPX,
            pin.JointModelPY,
            pin.JointModelPZ,
            pin.JointModelPrismaticUnaligned,
        ),
    }[joint.type]
    for direction, aligned in zip(np.eye(3), kinds, strict=False):
        if np.array_equal(joint.axis, direction):
            return aligned()
    return kinds[3](joint.axis)
