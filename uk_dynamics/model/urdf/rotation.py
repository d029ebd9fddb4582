# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rotations in the two notations of the files: roll-pitch-yaw and quaternion."""

import math
from collections.abc import Sequence

import numpy as np

import uk_dynamics.core.linalg.rotations as so3
from uk_dynamics.exceptions import InputError
from uk_dynamics.model.urdf.description import Array, Pose

_ROUNDING = 1e-14  # of entries of a rotation matrix


def from_rpy(rpy: Sequence[float]) -> Array:
    """Matrix of URDF's fixed-axis roll, pitch, yaw in rad: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    (cr, cp, cy), (sr, sp, sy) = map(math.cos, rpy), map(math.sin, rpy)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def from_quaternion(quaternion: Sequence[float]) -> Array:
    """Rotation matrix, (3, 3), of a quaternion (x, y, z, w) of any finite length above zero."""
    values = np.asarray(quaternion, dtype=float)
    largest = np.abs(values).max()
    if not 0.0 < largest < np.inf:
        shown = " ".join(f"{value:g}" for value in values)
        raise InputError(f"a quaternion has to be finite and not zero, found {shown}")
    scaled = values / largest
    return np.array(so3.of_unit_quaternion(*(scaled / np.linalg.norm(scaled)).tolist()))


def turning_to(first: Array, second: Array) -> Array:
    """The shortest rotation that takes one unit vector to another, (3, 3)."""
    cosine = float(first @ second)
    if cosine <= -1.0 + 1e-12:  # half a turn about any direction across them
        across = np.cross(first, np.eye(3)[np.argmin(np.abs(first))])
        return about_axis(across / np.linalg.norm(across), math.pi)
    cross = so3.skew(np.cross(first, second))
    return np.eye(3) + cross + cross @ cross / (1.0 + cosine)


def about_axis(axis: Array, angle: float) -> Array:
    """Rotation by an angle in rad about a unit vector, (3, 3)."""
    return so3.exp(angle * axis)


def to_rpy(rotation: Array) -> Array:
    """Roll, pitch, yaw of a rotation matrix in rad, (3,); yaw is 0 where pitch is ±90°.

    Near ±90° roll alone is ill-defined; yaw is taken from what roll leaves, so that both together
    give the matrix to rounding.
    """
    flat = math.hypot(rotation[0, 0], rotation[1, 0])
    pitch = math.atan2(-rotation[2, 0], flat)
    if flat < _ROUNDING:
        roll = math.atan2(-rotation[1, 2], rotation[1, 1])
        return np.array([roll, pitch, 0.0])
    roll = math.atan2(rotation[2, 1], rotation[2, 2])
    sin, cos = math.sin(roll), math.cos(roll)
    across = rotation[:2, 1] * cos - rotation[:2, 2] * sin
    return np.array([roll, pitch, math.atan2(-across[0], across[1])])


def compose(first: Pose, second: Pose) -> Pose:
    """The pose ``second`` of a frame that is given in ``first``, seen from where that is given."""
    return Pose(
        first.translation + first.rotation @ second.translation, first.rotation @ second.rotation
    )


def inverse(pose: Pose) -> Pose:
    """The pose of the parent in the frame."""
    return Pose(-pose.rotation.T @ pose.translation, pose.rotation.T)


def relative(frame: Pose, seen: Pose) -> Pose:
    """Pose of ``seen`` in ``frame``, both given in the same frame."""
    return compose(inverse(frame), seen)
