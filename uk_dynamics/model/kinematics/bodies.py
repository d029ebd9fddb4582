# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The tree as plain numbers: bodies, joints, frames, for evaluators that do not use Pinocchio.

Which velocities move which frames is kept as a tree instead of a matrix.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from uk_dynamics.arrays import Indices
from uk_dynamics.model.urdf.description import Array, RobotDescription

JointKind = Literal["revolute", "prismatic", "floating", "planar"]


@dataclass(frozen=True)
class Body:
    """A body with the joint that moves it."""

    parent: int  # number of the body that carries the joint, −1 for the world
    # of the joint; a floating joint has positions x y z qx qy qz qw, a planar one x y cos sin, and
    # both have velocities in the moving frame
    kind: JointKind
    axis: Array  # of a joint with one freedom, in its frame, unit, (3,)
    rotation: Array  # of the joint's frame in the parent's, (3, 3)
    translation: Array  # of the joint's frame in the parent's, (3,), in m
    position: int  # where its positions start in q
    velocity: int  # where its velocities start in v
    mass: float  # in kg
    center: Array  # centre of mass in the joint's frame, (3,), in m
    inertia: Array  # about the centre of mass, (3, 3), in kg m²


@dataclass(frozen=True)
class BodyFrame:
    """A named frame fixed in a body."""

    body: int  # number of the body, −1 for the world
    rotation: Array  # in the body, (3, 3)
    translation: Array  # in the body, (3,), in m


def bodies_of(tree: Any, description: RobotDescription) -> tuple[Body, ...]:
    """The moving bodies of a ``pinocchio.Model`` and the description it was built from."""
    declared = {joint.name: joint for joint in description.joints}
    found = []
    for index in range(1, tree.njoints):
        joint, placement, inertia = (
            tree.joints[index],
            tree.jointPlacements[index],
            tree.inertias[index],
        )
        axis = np.zeros(3)
        if joint.nv == 1:
            source = declared[tree.names[index]]
            axis = np.array(source.axis, dtype=float)
            kind: JointKind = "revolute" if source.type == "revolute" else "prismatic"
        else:
            kind = "floating" if joint.nv == 6 else "planar"
        found.append(
            Body(
                parent=int(tree.parents[index]) - 1,
                kind=kind,
                axis=axis,
                rotation=np.array(placement.rotation),
                translation=np.array(placement.translation),
                position=int(joint.idx_q),
                velocity=int(joint.idx_v),
                mass=float(inertia.mass),
                center=np.array(inertia.lever),
                inertia=np.array(inertia.inertia),
            )
        )
    return tuple(found)


def by_freedom(bodies: Sequence[Body]) -> tuple[Body, ...]:
    """Split a tree into one body for each velocity; joints but a floating root have one freedom.

    The six of a floating root stand in the same place, and all but the last have no mass: ``axis``
    is that of one freedom in the moving frame. The first three are translations.
    """
    if not bodies or bodies[0].kind != "floating":
        return tuple(bodies)
    root = bodies[0]
    massless = replace(root, mass=0.0, center=np.zeros(3), inertia=np.zeros((3, 3)))
    floating = []
    for k in range(6):
        body = replace(root if k == 5 else massless, parent=k - 1, axis=np.eye(3)[k % 3])
        body = replace(body, velocity=k)
        if k:
            body = replace(body, rotation=np.eye(3), translation=np.zeros(3))
        floating.append(body)
    others = [replace(body, parent=body.parent + 5 * (body.parent >= 0)) for body in bodies[1:]]
    return (*floating, *others)


def frames_of(tree: Any) -> tuple[BodyFrame, ...]:
    """The frames of a ``pinocchio.Model`` but its own universe, in its order."""
    return tuple(
        BodyFrame(
            int(frame.parentJoint) - 1,
            np.array(frame.placement.rotation),
            np.array(frame.placement.translation),
        )
        for frame in list(tree.frames)[1:]
    )


class Ancestry:
    """The rows of an ancestor mask, made when they are asked for."""

    def __init__(self, parents: Sequence[int], carriers: Sequence[int]) -> None:
        # for each velocity the one before it towards the root, or −1, (nv,)
        self.parents: Indices = np.array(parents, dtype=np.intp)
        # the last velocity that moves each frame, or −1, (nframes,)
        self.carriers: Indices = np.array(carriers, dtype=np.intp)

    @property
    def shape(self) -> tuple[int, int]:
        """Frames and velocities."""
        return len(self.carriers), len(self.parents)

    def __getitem__(self, frames: Indices) -> Array:
        """1 where a velocity moves a frame, else 0, (frames, nv)."""
        mask = np.zeros((len(frames), len(self.parents)))
        for row, frame in zip(mask, frames, strict=True):
            row[self.path(int(frame))] = 1.0
        return mask

    def path(self, frame: int) -> list[int]:
        """Velocities that move a frame, the last first."""
        found = []
        velocity = int(self.carriers[frame])
        while velocity >= 0:
            found.append(velocity)
            velocity = int(self.parents[velocity])
        return found

    def between(self, parent: int, child: int) -> tuple[list[int], list[int]]:
        """Velocities that move a frame relative to another, ascending, and their signs.

        child: Frame that is seen; what moves it alone has sign 1.
        """
        one, other = int(self.carriers[child]), int(self.carriers[parent])
        sign: dict[int, int] = {}
        while one != other:  # numbers grow away from the root
            if one > other:
                sign[one] = 1
                one = int(self.parents[one])
            else:
                sign[other] = -1
                other = int(self.parents[other])
        moving = sorted(sign)
        return moving, [sign[velocity] for velocity in moving]
