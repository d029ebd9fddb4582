# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Links that a floating or planar joint moves as a whole: their pose and twist, and the joint's.

Poses and twists are those of REP 105 and ``nav_msgs/Odometry``: the pose of the link in its parent,
and the velocity of the link relative to the parent, at the link's origin and in the link's axes.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from uk_dynamics.core.linalg import to_quaternion
from uk_dynamics.exceptions import StateError
from uk_dynamics.model.coordinates import VELOCITY_SUFFIXES
from uk_dynamics.model.urdf.description import ONE_DOF, Array, Joint, Pose
from uk_dynamics.model.urdf.rotation import from_quaternion, turning_to

UNIT_TOLERANCE = 1e-3  # of the norm of a quaternion; what is further off is no rounding
PLANE_TOLERANCE = 1e-3  # m, rad, m/s, rad/s, of a planar joint
_LINEAR, _ANGULAR = slice(0, 3), slice(3, 6)
_IN_PLANE = (0, 1, 5)  # of a twist


class FloatingBase:
    """A link that moves relative to its parent with six freedoms, or with three in a plane."""

    def __init__(self, joint: Joint, position: int, velocity: int) -> None:
        """``position`` and ``velocity`` are where the joint's coordinates start."""
        self.name = joint.name
        # links that carry the joint, empty for the world around the first link, and are moved by it
        self.parent, self.link = joint.parent, joint.child
        self.planar = joint.type == "planar"  # whether it moves in a plane only
        self.velocity_names = tuple(f"{joint.name}.{x}" for x in VELOCITY_SUFFIXES[joint.type])
        # its part of q, x y z qx qy qz qw or x y cos sin
        self.position = slice(position, position + (4 if self.planar else 7))
        # its part of v, vx vy vz wx wy wz or vx vy wz in axes of the moving joint
        self.velocity = slice(velocity, velocity + (3 if self.planar else 6))
        self._joint = joint
        # the joint's axes in those of the link, and its frame in the parent
        self._tilt = turning_to(np.eye(3)[2], joint.axis) if self.planar else np.eye(3)
        self._rotation = joint.pose.rotation @ self._tilt
        self._translation = joint.pose.translation
        left = to_quaternion(self._rotation)
        right = to_quaternion(self._tilt.T)
        self._turn = _left_product(left) @ _right_product(right)  # of a joint's quaternion
        same = bool((self._turn == np.eye(4)).all() and not self._translation.any())
        # whether they are pose and twist of the link, number by number
        self.aligned = same and not self.planar

    @property
    def data(self) -> dict[str, Any]:
        """The joint as numbers and names, for :func:`described_bases`."""
        joint = self._joint
        return {
            "type": joint.type,
            "parent": joint.parent,
            "link": joint.child,
            "translation": joint.pose.translation.tolist(),
            "rotation": joint.pose.rotation.tolist(),
            "axis": joint.axis.tolist(),
        }

    def pose(self, q: Array) -> Array:
        """X y z qx qy qz qw of the link in its parent at positions q (nq,)."""
        of_joint = q[self.position]
        if self.aligned:
            return of_joint.copy()
        if self.planar:
            x, y, cosine, sine = of_joint.tolist()
            half = 0.5 * np.arctan2(sine, cosine)
            of_joint = np.array([x, y, 0.0, 0.0, 0.0, np.sin(half), np.cos(half)])
        place = self._translation + self._rotation @ of_joint[:3]
        return np.concatenate([place, self._turn @ of_joint[3:]])

    def twist(self, v: Array) -> Array:
        """Linear and angular velocity of the link in its own axes at velocities v (nv,), (6,).

        The same map takes accelerations q̈ to the rates of these six numbers.
        """
        of_joint = v[self.velocity]
        if not self.planar:
            return of_joint.copy()
        twist = np.zeros(6)
        twist[list(_IN_PLANE)] = of_joint
        return np.concatenate([self._tilt @ twist[_LINEAR], self._tilt @ twist[_ANGULAR]])

    def place(self, q: Array, v: Array, pose: Array, twist: Array) -> None:
        """Write pose (7,) and twist (6,) of the link into q (nq,) and v (nv,).

        Raises:
            StateError: The quaternion is not of unit length within 1e-3, or the link is or moves
                outside its plane by more than 1e-3; nothing is written.
        """
        norm = float(np.sqrt(pose[3:].dot(pose[3:])))
        if not abs(norm - 1.0) <= UNIT_TOLERANCE:
            raise StateError(
                f"the orientation must be a unit quaternion, found one of norm {norm:.6g}",
                place=self.link,
            )
        if self.aligned:
            q[self.position] = pose
            q[self.position][3:] /= norm
            v[self.velocity] = twist
            return
        place = self._rotation.T @ (pose[:3] - self._translation)
        turn = self._turn.T @ pose[3:] / norm
        if not self.planar:
            q[self.position] = np.concatenate([place, turn])
            v[self.velocity] = twist
            return
        motion = np.concatenate([self._tilt.T @ twist[_LINEAR], self._tilt.T @ twist[_ANGULAR]])
        outside = np.array([place[2], *(2.0 * turn[:2]), *np.delete(motion, _IN_PLANE)])
        if np.abs(outside).max() > PLANE_TOLERANCE:
            raise StateError(
                f"{self.name} is a planar joint, found {np.abs(outside).max():.3g} m, rad, m/s or"
                " rad/s out of its plane",
                place=self.link,
            )
        angle = 2.0 * np.arctan2(turn[2], turn[3])
        q[self.position] = *place[:2], np.cos(angle), np.sin(angle)
        v[self.velocity] = motion[list(_IN_PLANE)]


def in_link_axes(pose: Array, twist: Array) -> Array:
    """A twist (6,) in axes of the parent as one in axes of the link at a pose (7,).

    Both are the velocity of the link's origin and the angular velocity; the simulators' "ground
    truth" often has the axes of the world.
    """
    rotation = from_quaternion(pose[3:].tolist())
    return np.concatenate([twist[_LINEAR] @ rotation, twist[_ANGULAR] @ rotation])


def floating_bases(joints: Sequence[Joint]) -> tuple[FloatingBase, ...]:
    """Those of the moving joints of a tree, in the order of their coordinates."""
    found, position, velocity = [], 0, 0
    for joint in joints:
        if joint.type in ONE_DOF:
            position, velocity = position + 1, velocity + 1
            continue
        found.append(FloatingBase(joint, position, velocity))
        position, velocity = found[-1].position.stop, found[-1].velocity.stop
    return tuple(found)


def described_bases(data: Mapping[str, Any], positions: Iterable[str]) -> tuple[FloatingBase, ...]:
    """Those of a machine of which its positions' names are known, and each joint's data by name.

    In place of data a recording of an earlier release has the link, of joints without origin.
    """
    moving = []
    for name in positions:
        joint, _, part = name.rpartition(".")
        if joint not in data:
            moving.append(Joint(name, "revolute", "", ""))
        elif part == "x":
            moving.append(_joint(joint, data[joint]))
    return floating_bases(moving)


def _joint(name: str, data: Any) -> Joint:
    if isinstance(data, str):
        return Joint(name, "floating", "", data)
    translation, rotation, axis = (np.array(data[x]) for x in ("translation", "rotation", "axis"))
    return Joint(
        name, data["type"], data["parent"], data["link"], Pose(translation, rotation), axis
    )


def _left_product(p: Array) -> Array:
    """The matrix of x ↦ p x, (4, 4)."""
    x, y, z, w = p.tolist()
    return np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])


def _right_product(p: Array) -> Array:
    """The matrix of x ↦ x p, (4, 4)."""
    x, y, z, w = p.tolist()
    return np.array([[w, z, -y, x], [-z, w, x, y], [y, -x, w, z], [-x, -y, -z, w]])
