# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A pose as the reference of a frame task."""

import math
from collections.abc import Sequence

import numpy as np

import uk_dynamics.core.linalg.rotations as so3
from uk_dynamics.constraints.kinds.frames import Frame
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.files.constraint_specification import ConstraintSpec
from uk_dynamics.mechanism.resolution.state import Array
from uk_dynamics.model.urdf import from_quaternion

_AXES = ("x", "y", "z")
_ROTATION_AXES = ("rx", "ry", "rz")
_LEFT_OUT = 1e-6  # rad; rotation that a task without this axis cannot be asked for
_UNIT = 1e-2  # how far the length of a quaternion may be from 1


def reference_of_pose(
    task: ConstraintSpec,  # of type ``frame`` or ``relative_frame``
    position: Sequence[float],  # in the link that carries the task's parent frame, (3,), in m
    quaternion: Sequence[float],  # rotation there, (x, y, z, w)
    # values of the rows now, (rows,): of the rotation vectors of one rotation the nearest
    near: Array,
) -> Array:
    """Values of the rows of a frame task whose child frame has a pose, (rows,), in m and rad.

    What the task leaves free does not count; a rotation about other axes is an InputError.
    """
    if not isinstance(task.kind, Frame):
        raise TypeError(f"{task.name}: a task of type {task.type} has no pose")
    axes = task.kind.axes
    if not all(map(math.isfinite, [*position, *quaternion])):
        raise InputError("has numbers that are not finite", place="pose")
    if abs(math.hypot(*quaternion) - 1.0) > _UNIT:
        length = math.hypot(*quaternion)
        raise InputError(f"a quaternion of length {length:g} is no rotation", place="orientation")
    point, rotation = np.array(position), from_quaternion(quaternion)
    if task.parent is not None:
        parent = from_quaternion(task.parent.quaternion)
        point = parent.T @ (point - np.array(task.parent.xyz))
        rotation = parent.T @ rotation
    values = dict(zip(_AXES, point, strict=True))
    if any(axis in axes for axis in _ROTATION_AXES):
        present = dict(zip(axes, near, strict=True))
        vector = _nearest(
            so3.log(rotation), np.array([present.get(axis, 0.0) for axis in _ROTATION_AXES])
        )
        for axis, value in zip(_ROTATION_AXES, vector, strict=True):
            if axis not in axes and abs(value) > _LEFT_OUT:
                problem = f"asks for a rotation of {value:.3g} rad along {axis}, which is free"
                raise InputError(problem, place="orientation")
            values[axis] = value
    return np.array([values[axis] for axis in axes])


def _nearest(vector: Array, near: Array) -> Array:
    """The rotation vector of the same rotation that is nearest to another one."""
    angle = float(np.linalg.norm(vector))
    if angle < 1e-9:
        return vector
    axis = vector / angle
    turns = round((float(near @ axis) - angle) / (2.0 * math.pi))
    return (angle + 2.0 * math.pi * turns) * axis
