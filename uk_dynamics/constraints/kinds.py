"""What each kind of constraint removes: its rows, as constant selections of the relative motion.

Directions are given in the parent frame. Kinds with an axis n use two unit vectors n₁, n₂ across
it. The child frame is meant to coincide with the parent frame but for the motion the kind allows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from uk_dynamics.constraints.rolling_rows import ROLLING_PARTS, RollingRow
from uk_dynamics.constraints.row_types import (
    AlignmentRow,
    AngularRow,
    Direction,
    DistanceRow,
    JointRow,
    LinearRow,
    MassCenterRow,
    RotationVectorRow,
    Row,
)
from uk_dynamics.constraints.vectors import Array
from uk_dynamics.constraints.velocity_rows import FrameVelocityRow
from uk_dynamics.exceptions import UnknownNameError

_X: Direction = (1.0, 0.0, 0.0)
_Y: Direction = (0.0, 1.0, 0.0)
_Z: Direction = (0.0, 0.0, 1.0)
_AXES = {"x": _X, "y": _Y, "z": _Z}
_ROTATION_AXES = {"rx": _X, "ry": _Y, "rz": _Z}


@dataclass(frozen=True)
class KindArguments:
    """What a file may say about a constraint beside its frames.

    Attributes:
        axis: Axis of the kind in the parent frame; of ``no_slip`` the axle in the child frame.
        axes: Selected axes of ``frame``, ``frame_velocity``, ``center_of_mass``.
        distance: Length of ``distance`` in m.
        joints: Joint names with coefficients.
        offset: Right-hand side of ``joint_coupling`` in m or rad.
        normal: Normal of the plane of ``no_slip`` in the parent frame.
        radius: Radius of the wheel of ``no_slip`` in m.
        directions: Selected directions of ``no_slip``.
        in_child: Whether the axes of ``frame_velocity`` are those of the child.
    """

    axis: Direction | None = None
    axes: Sequence[str] = ()
    distance: float | None = None
    joints: tuple[tuple[str, float], ...] = ()
    offset: float = 0.0
    normal: Direction = _Z
    radius: float = 0.0
    directions: Sequence[str] = ()
    in_child: bool = False


def across(axis: Direction) -> tuple[Direction, Direction]:
    """Two unit vectors perpendicular to an axis and to each other, right-handed with it.

    For a coordinate axis they are coordinate axes, so that row residuals are easy to read.
    """
    n = np.asarray(axis, dtype=float)
    n = n / np.linalg.norm(n)
    helper: Array = np.zeros(3)
    helper[(int(np.argmax(np.abs(n))) + 1) % 3] = 1.0
    first = helper - (helper @ n) * n
    first /= np.linalg.norm(first)
    second = np.cross(n, first)
    return _direction(first), _direction(second)


def _direction(x: Array) -> Direction:
    return float(x[0]), float(x[1]), float(x[2])


def _unit(x: Direction) -> Direction:
    n = np.asarray(x, dtype=float)
    return _direction(n / np.linalg.norm(n))


def _axis(arguments: KindArguments) -> Direction:
    return _unit(arguments.axis if arguments.axis is not None else _Z)


def _origins_meet() -> list[Row]:
    return [LinearRow(label, direction) for label, direction in _AXES.items()]


def _on_axis(axis: Direction) -> list[Row]:
    first, second = across(axis)
    return [LinearRow("offset_1", first), LinearRow("offset_2", second)]


def _no_rotation() -> list[Row]:
    return [AngularRow(label, direction) for label, direction in _ROTATION_AXES.items()]


def _aligned(axis: Direction) -> list[Row]:
    first, second = across(axis)
    return [AlignmentRow("tilt_1", first, axis), AlignmentRow("tilt_2", second, axis)]


def _point(_: KindArguments) -> list[Row]:
    return _origins_meet()


def _weld(_: KindArguments) -> list[Row]:
    return _origins_meet() + _no_rotation()


def _hinge(arguments: KindArguments) -> list[Row]:
    return _origins_meet() + _aligned(_axis(arguments))


def _universal(arguments: KindArguments) -> list[Row]:
    # The axis is the shaft's; the arms of the cross are n₁ on the parent and n₂ on the child.
    first, second = across(_axis(arguments))
    return [*_origins_meet(), AlignmentRow("twist", first, second)]


def _cylindrical(arguments: KindArguments) -> list[Row]:
    axis = _axis(arguments)
    return _on_axis(axis) + _aligned(axis)


def _prismatic(arguments: KindArguments) -> list[Row]:
    return _on_axis(_axis(arguments)) + _no_rotation()


def _planar(arguments: KindArguments) -> list[Row]:
    axis = _axis(arguments)
    return [LinearRow("height", axis), *_aligned(axis)]


def _distance(arguments: KindArguments) -> list[Row]:
    return [DistanceRow("distance", arguments.distance or 0.0)]


def _frame(arguments: KindArguments) -> list[Row]:
    # A complete rotation may be judged by the angular velocity; parts of one may not, since
    # ω_x = 0 alone binds no coordinate.
    complete = set(_ROTATION_AXES) <= set(arguments.axes)
    rotation = AngularRow if complete else RotationVectorRow
    return [
        LinearRow(label, _AXES[label]) if label in _AXES else rotation(label, _ROTATION_AXES[label])
        for label in arguments.axes
    ]


def _frame_velocity(arguments: KindArguments) -> list[Row]:
    directions = _AXES | _ROTATION_AXES
    return [
        FrameVelocityRow(label, directions[label], label in _ROTATION_AXES, arguments.in_child)
        for label in arguments.axes
    ]


def _no_slip(arguments: KindArguments) -> list[Row]:
    axle = _axis(arguments) if arguments.axis is not None else _Y
    return [
        RollingRow(part, _unit(arguments.normal), axle, arguments.radius)
        for part in ROLLING_PARTS
        if part in arguments.directions
    ]


def _center_of_mass(arguments: KindArguments) -> list[Row]:
    return [MassCenterRow(label, _AXES[label]) for label in arguments.axes]


def _joint_rows(arguments: KindArguments) -> list[Row]:
    return [JointRow("joint", arguments.joints, arguments.offset)]


_KINDS: dict[str, Callable[[KindArguments], list[Row]]] = {
    "point": _point,
    "hinge": _hinge,
    "weld": _weld,
    "universal": _universal,
    "cylindrical": _cylindrical,
    "prismatic": _prismatic,
    "planar": _planar,
    "distance": _distance,
    "frame": _frame,
    "relative_frame": _frame,
    "frame_velocity": _frame_velocity,
    "no_slip": _no_slip,
    "center_of_mass": _center_of_mass,
    "joint_coupling": _joint_rows,
    "joint": _joint_rows,
}


def rows_of(kind: str, arguments: KindArguments) -> tuple[Row, ...]:
    """Rows that a kind removes.

    Args:
        kind: One of point 3, hinge 5, weld 6, universal 4, cylindrical 4, prismatic 5, planar 3,
            distance 1, joint_coupling 1, joint 1 rows; frame, relative_frame, frame_velocity,
            center_of_mass as many as axes, no_slip as many as directions.
        arguments: Axis, axes, distance, joints … of the kind.

    Raises:
        UnknownNameError: There is no such kind.
    """
    if kind not in _KINDS:
        raise UnknownNameError("constraint type", kind, _KINDS)
    return tuple(_KINDS[kind](arguments))
