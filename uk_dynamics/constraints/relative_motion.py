"""The one primitive of all frame-based kinds: how a child frame moves relative to a parent frame.

Spatial vectors are taken at the world's origin, linear part first. With V the spatial velocity and
G = J̇ v the velocity-dependent spatial acceleration, the point of interest of a pair is the
child's origin p. A row is a wrench w = (f, n) fixed in the parent body; its rate is
w · (V_child − V_parent), so its Jacobian is w J with the columns of joints that move both frames
cancelled exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.vectors import Array, apply, motion_cross, skew


class FrameKinematics(Protocol):
    """What the rows need to know of a robot at one state (the model's workspace has it)."""

    @property
    def jacobian(self) -> Array:
        """World Jacobian of all joints, (6, nv): m/s or rad/s per unit of joint velocity."""

    @property
    def jacobian_rate(self) -> Array:
        """Time derivative of ``jacobian``, (6, nv)."""

    @property
    def rotation(self) -> Array:
        """Rotations of all frames, (frames, 3, 3)."""

    @property
    def translation(self) -> Array:
        """Origins of all frames in the world, (frames, 3), in m."""


@dataclass(frozen=True)
class FramePairs:
    """K pairs of frames.

    Attributes:
        parent: Frame indices, (K,).
        child: Frame indices, (K,).
        parent_mask: 1 where a velocity coordinate moves the parent frame, (K, nv).
        child_mask: The same for the child frame, (K, nv).
    """

    parent: NDArray[np.intp]
    child: NDArray[np.intp]
    parent_mask: Array
    child_mask: Array

    @property
    def sign(self) -> Array:
        """Sign with which each coordinate moves the child relative to the parent, (K, nv)."""
        return self.child_mask - self.parent_mask


class RelativePose(NamedTuple):
    """Poses of K pairs.

    Attributes:
        parent_rotation: (K, 3, 3).
        child_rotation: (K, 3, 3).
        point: Child origins in the world, (K, 3), in m.
        offset: Child origin minus parent origin in the world, (K, 3), in m.
    """

    parent_rotation: Array
    child_rotation: Array
    point: Array
    offset: Array


class RelativeTwist(NamedTuple):
    """Velocities of K pairs and the acceleration they have at zero joint acceleration.

    Attributes:
        angular: Angular velocity of the child relative to the parent, in the world, (K, 3), rad/s.
        linear: Velocity of the child's origin as seen from the parent body, (K, 3), m/s.
        bias: Spatial vector (K, 6) whose product with a wrench row fixed in the parent frame is the
            second derivative of that row at zero joint acceleration, m/s² and rad/s².
    """

    angular: Array
    linear: Array
    bias: Array


def relative_pose(pairs: FramePairs, kinematics: FrameKinematics) -> RelativePose:
    """Pose of each child frame relative to its parent frame."""
    rotation, translation = kinematics.rotation, kinematics.translation
    point = translation.take(pairs.child, 0)
    return RelativePose(
        parent_rotation=rotation.take(pairs.parent, 0),
        child_rotation=rotation.take(pairs.child, 0),
        point=point,
        offset=point - translation.take(pairs.parent, 0),
    )


def relative_twist(
    pairs: FramePairs,
    sign: Array,
    pose: RelativePose,
    kinematics: FrameKinematics,
    v: Array,
) -> RelativeTwist:
    """Relative velocities and acceleration bias of the pairs.

    A wrench fixed in the parent body changes by V_p ×* w, and the line of action of a force follows
    the child's origin, which moves with velocity u in the parent body. Collecting both:
    bias = ΔG − V_p × ΔV + (ω_rel × u, 0).

    Args:
        pairs: The frame pairs.
        sign: ``pairs.sign``, kept by the caller, (K, nv).
        pose: Result of :func:`relative_pose` at the same state.
        kinematics: Arrays of the model at the state.
        v: Joint velocities, (nv,), rad/s or m/s.
    """
    world = kinematics.jacobian.T
    parent = np.dot(pairs.parent_mask * v, world)
    signed = sign * v
    delta = np.dot(signed, world)
    bias = np.dot(signed, kinematics.jacobian_rate.T) - motion_cross(parent, delta)
    angular = delta[:, 3:]
    linear = delta[:, :3] - apply(skew(pose.point), angular)
    bias[:, :3] += apply(skew(angular), linear)
    return RelativeTwist(angular=angular, linear=linear, bias=bias)
