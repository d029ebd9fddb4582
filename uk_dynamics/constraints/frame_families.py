"""Which rows of frame pairs there are, and the arrays that evaluate all rows of one type."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uk_dynamics.constraints.rolling_rows import RollingRow, RollingRows
from uk_dynamics.constraints.rotation_vector_rows import RotationVectorRows
from uk_dynamics.constraints.row_types import (
    AlignmentRow,
    AngularRow,
    DistanceRow,
    LinearRow,
    RotationVectorRow,
    Row,
)
from uk_dynamics.constraints.rows import (
    AlignmentRows,
    AngularRows,
    DistanceRows,
    LinearRows,
    RowFrames,
)
from uk_dynamics.constraints.velocity_rows import FrameVelocityRow, FrameVelocityRows

FrameRows = (
    LinearRows
    | AngularRows
    | RotationVectorRows
    | AlignmentRows
    | DistanceRows
    | RollingRows
    | FrameVelocityRows
)
# Families whose directions turn on the way, so that the wrench alone is not all of the bias.
TURNING_ROWS = (AlignmentRows, DistanceRows, RollingRows, FrameVelocityRows)

# In order of evaluation: RowLayout counts on angular rows before those of rotation vectors.
FRAME_ROWS = (
    LinearRow,
    AngularRow,
    RotationVectorRow,
    AlignmentRow,
    DistanceRow,
    RollingRow,
    FrameVelocityRow,
)


def frame_family(rows: Sequence[Row], frames: RowFrames, length: float) -> FrameRows:
    """Stack rows of one type.

    Args:
        rows: All of the same type, one of ``FRAME_ROWS``, at least one.
        frames: Their frames.
        length: Declared length that scales angular rows, in m.
    """
    first = rows[0]
    if isinstance(first, LinearRow):
        return LinearRows(frames, np.array([r.direction for r in rows if isinstance(r, LinearRow)]))
    if isinstance(first, AngularRow):
        directions = np.array([r.direction for r in rows if isinstance(r, AngularRow)])
        return AngularRows(frames, length * directions)
    if isinstance(first, RotationVectorRow):
        directions = np.array([r.direction for r in rows if isinstance(r, RotationVectorRow)])
        return RotationVectorRows(frames, length * directions)
    if isinstance(first, AlignmentRow):
        parents = np.array([r.parent for r in rows if isinstance(r, AlignmentRow)])
        children = np.array([r.child for r in rows if isinstance(r, AlignmentRow)])
        return AlignmentRows(frames, length * parents, children)
    if isinstance(first, RollingRow):
        return RollingRows.of(frames, [r for r in rows if isinstance(r, RollingRow)])
    if isinstance(first, FrameVelocityRow):
        velocities = [r for r in rows if isinstance(r, FrameVelocityRow)]
        return FrameVelocityRows.of(frames, velocities, length)
    return DistanceRows(frames, np.array([r.distance for r in rows if isinstance(r, DistanceRow)]))


def reference_scale(row: Row, length: float) -> float:
    """What a reference value counts in a row: 0 where it is a rotation, see RotationGroups."""
    if isinstance(row, AngularRow | RotationVectorRow):
        return 0.0
    angular = isinstance(row, AlignmentRow) or (isinstance(row, FrameVelocityRow) and row.angular)
    return length if angular else 1.0
