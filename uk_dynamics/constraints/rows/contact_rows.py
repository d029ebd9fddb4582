# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rows of a point or sphere that touches a plane: it stays on the plane, and does not slide.

With n the normal of the plane (the parent's z axis), c the child's origin and r the radius, the
contact is the point c − r n of the child. Both its arm −r n and the directions of the rows are
fixed in the parent, so the rows have no bias of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from uk_dynamics.constraints.rows.frame_rows import force_through
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics
from uk_dynamics.constraints.rows.row import FrameRow, FrameRows, RowFrames
from uk_dynamics.constraints.rows.vectors import Array, apply, dot

#: Directions in the parent frame, by the label of their rows.
_DIRECTIONS = {"normal": (0.0, 0.0, 1.0), "x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0)}


@dataclass(frozen=True)
class ContactRow(FrameRow):
    """One direction of a contact with a plane, which is its label: normal, x or y."""

    radius: float  # of the sphere, in m; 0: a point

    @property
    def order(self) -> Literal["position", "velocity"]:
        """The distance from the plane is a matter of positions, sliding one of velocities."""
        return "position" if self.label == "normal" else "velocity"

    @classmethod
    def stack(cls, rows: Sequence[ContactRow], frames: RowFrames, length: float) -> ContactRows:
        """See :meth:`FrameRow.stack`."""
        return ContactRows(
            frames,
            direction=np.array([_DIRECTIONS[row.label] for row in rows]),
            radius=np.array([row.radius for row in rows]),
        )


@dataclass(frozen=True)
class ContactRows(FrameRows):
    """Distance from the plane, ψ = nᵀd − r, or velocity of the contact point along x or y."""

    frames: RowFrames  # the plane goes through the parent's origin; the child's is the centre
    direction: Array  # in the parent frame, (m, 3)
    radius: Array  # r, (m,), in m

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (m, 6), and residuals (m,) in m, zero for rows of velocity level."""
        centre, offset = self.frames.origins(kinematics)
        axes = kinematics.rotation.take(self.frames.parent, 0)
        e = apply(axes, self.direction)
        point = centre - self.radius[:, None] * axes[:, :, 2]
        height = self.direction[:, 2] * (dot(e, offset) - self.radius)
        return force_through(point, e), height
