# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts of points and spheres with boxes, on their faces, edges and corners.

The box is about its frame's origin, and may be rounded by a radius. Outside, the gap is the
distance from the nearest point of the box; what has come inside is pushed out of the nearest face.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from uk_dynamics.constraints.rows.relative_motion import FrameKinematics
from uk_dynamics.constraints.rows.round_rows import Nearest, RoundRow, RoundRows
from uk_dynamics.constraints.rows.row import Direction, RowFrames
from uk_dynamics.constraints.rows.vectors import Array, apply, dot
from uk_dynamics.core.linalg import above, at_least, below, square_root, where

_ON_A_FACE = 1e-9  # m: what is nearer to the box is on the face that it is least behind
_TINY = 1e-300


@dataclass(frozen=True)
class BoxRow(RoundRow):
    """One direction of a contact with a box, which is its label: normal, x or y."""

    half: Direction  # lengths of half its edges, in m

    @classmethod
    def stack(cls, rows: Sequence[Any], frames: RowFrames, length: float) -> "BoxRows":
        """See :meth:`FrameRow.stack`."""
        round_ = RoundRow.stack(rows, frames, length)
        return BoxRows(**vars(round_), half=np.array([row.half for row in rows]))


@dataclass(frozen=True)
class BoxRows(RoundRows):
    """Gaps, or velocities of the contact point across the normal."""

    half: Array  # (m, 3), in m

    def _nearest(self, kinematics: FrameKinematics) -> Nearest:
        _, d = self.frames.origins(kinematics)
        axes = kinematics.rotation.take(self.frames.parent, 0)
        local = apply(axes.transpose(0, 2, 1), d)
        sign = where(below(local, 0.0), -1.0, 1.0)
        behind = sign * local - self.half  # below zero: between both faces
        out = where(above(behind, 0.0), behind, 0.0 * behind)
        far = square_root(dot(out, out) + _TINY)
        x, y, z = behind.T
        depth = at_least(at_least(x, y), z)
        first = where(below(x, depth), 0.0, 1.0)
        second = where(below(y, depth), 0.0, 1.0) * (1.0 - first)
        face = sign * np.stack((first, second, 1.0 - first - second), axis=1)
        outside = above(far, _ON_A_FACE)
        bend = where(outside, 1.0 / far, 0.0 * far)
        normal = np.stack(
            [where(outside, sign[:, i] * out[:, i] / far, face[:, i]) for i in range(3)], axis=1
        )
        none = 0.0 * far
        return Nearest(
            a=axes,
            b=d,
            cosine=none,
            t=none,
            inner_s=where(above(behind, 0.0), 1.0, 0.0 * behind),
            inner_t=none,
            w=d,
            distance=where(outside, far, depth),
            normal=apply(axes, normal),
            bend=bend,
        )

    def _moving(self, near: Nearest, v: Array, omega: Array) -> tuple[Array, Array]:
        """Along edges and faces the nearest point of the box follows."""
        local = apply(near.a.transpose(0, 2, 1), v)
        return apply(near.a, near.inner_s * local), v
