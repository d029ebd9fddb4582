# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Selections of rows that several kinds share; directions are given in the parent frame.

The child frame is meant to coincide with the parent frame but for the motion that a kind allows.
"""

from collections.abc import Mapping

import numpy as np

from uk_dynamics.constraints.rows.frame_rows import AlignmentRow, AngularRow, LinearRow
from uk_dynamics.constraints.rows.row import Direction, Row

AXES: Mapping[str, Direction] = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
ROTATION_AXES: Mapping[str, Direction] = {f"r{name}": axis for name, axis in AXES.items()}


def across(axis: Direction) -> tuple[Direction, Direction]:
    """Two unit vectors perpendicular to an axis and to each other, right-handed with it.

    For a coordinate axis they are coordinate axes, so that row residuals are easy to read.
    """
    n = np.asarray(axis, dtype=float)
    n = n / np.linalg.norm(n)
    helper = np.zeros(3)
    helper[(int(np.argmax(np.abs(n))) + 1) % 3] = 1.0
    first = helper - (helper @ n) * n
    first /= np.linalg.norm(first)
    (a, b, c), (x, y, z) = first.tolist(), np.cross(n, first).tolist()
    return (a, b, c), (x, y, z)


def origins_meet() -> tuple[Row, ...]:
    """The child's origin is the parent's."""
    return tuple(LinearRow(label, direction) for label, direction in AXES.items())


def on_axis(axis: Direction) -> tuple[Row, ...]:
    """The child's origin is on an axis through the parent's."""
    first, second = across(axis)
    return LinearRow("offset_1", first), LinearRow("offset_2", second)


def no_rotation() -> tuple[Row, ...]:
    """The frames are parallel."""
    return tuple(AngularRow(label, direction) for label, direction in ROTATION_AXES.items())


def aligned(axis: Direction) -> tuple[Row, ...]:
    """The axis has the same direction in both frames."""
    first, second = across(axis)
    return AlignmentRow("tilt_1", first, axis), AlignmentRow("tilt_2", second, axis)
