# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Length of a rope from the parent's origin round a peg to the child's origin.

The peg is a cylinder along the parent's z axis, without ends and friction. Where the rope touches
it, its way across the axis is a tangent, an arc and a tangent, s = t₀ + R w + t, else the straight
line; unrolled, the length is √(s² + z²). The arc grows from zero and up to half a turn.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from uk_dynamics.constraints.rows.frame_rows import force_through
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics, RelativeTwist
from uk_dynamics.constraints.rows.row import FrameRow, FrameRows, RowFrames
from uk_dynamics.constraints.rows.vectors import Array, apply, dot
from uk_dynamics.core.linalg import above, at_least, cosine, polar_angle, sine, square_root, where

_TINY = 1e-300  # coinciding points give a zero row, which the rank rule reports, instead of NaN


@dataclass(frozen=True)
class Peg:
    """A cylinder along the z axis of the frame where a rope begins."""

    x: float  # of its axis, in m
    y: float
    radius: float  # in m; 0: an edge
    side: float  # 1: the rope leaves it on its left, seen from its beginning against z; −1: right


@dataclass(frozen=True)
class WrappedRow(FrameRow):
    """Length of the rope, in m."""

    length: float
    peg: Peg

    @classmethod
    def stack(cls, rows: "Sequence[WrappedRow]", frames: RowFrames, length: float) -> "WrappedRows":
        """See :meth:`FrameRow.stack`."""
        pegs = [row.peg for row in rows]
        return WrappedRows(
            frames,
            length=np.array([row.length for row in rows]),
            centre=np.array([(peg.x, peg.y) for peg in pegs]),
            radius=np.array([peg.radius for peg in pegs]),
            side=np.array([peg.side for peg in pegs]),
        )


class _Way(NamedTuple):
    """The way of the ropes, in the parent's axes; (m,) each."""

    axes: Array  # of the parent, (m, 3, 3)
    across: Array  # length across the axis, in m
    last: Array  # of its last straight part
    height: Array  # along the axis
    length: Array  # of the rope
    direction: Array  # of the last straight part, across the axis, (m, 2)


@dataclass(frozen=True)
class WrappedRows(FrameRows, of=WrappedRow):
    """ψ = √(s² + z²) − L."""

    frames: RowFrames
    length: Array  # L, (m,), in m
    centre: Array  # of the peg in the plane of the parent's x and y, (m, 2), in m
    radius: Array  # (m,), in m
    side: Array  # 1 or −1, (m,)
    turning: ClassVar[bool] = True

    def _way(self, kinematics: FrameKinematics) -> _Way:
        axes, local = self.frames.in_parent(kinematics)
        begin, end = -self.centre, local[:, :2] - self.centre
        straight = square_root(dot(local[:, :2], local[:, :2]) + _TINY)
        square = at_least(dot(end, end) - self.radius**2, 0.0) + _TINY
        last = square_root(square)
        first = np.sqrt(np.maximum(dot(begin, begin) - self.radius**2, 0.0))
        # angle from where the rope meets the peg to where it leaves it, between −π and π
        met = np.arctan2(begin[:, 1], begin[:, 0]) + self.side * np.arctan2(first, self.radius)
        left = polar_angle(end[:, 1], end[:, 0]) - self.side * polar_angle(last, self.radius)
        angle = self.side * (left - met)
        arc = polar_angle(sine(angle), cosine(angle))
        wraps = above(arc, 0.0)
        across = where(wraps, first + self.radius * arc + last, straight)
        turned = np.stack((-end[:, 1], end[:, 0]), axis=1)
        tangent = last[:, None] * end + (self.side * self.radius)[:, None] * turned
        tangent = tangent / (square + self.radius**2)[:, None]
        direction = np.stack(
            [where(wraps, tangent[:, i], local[:, i] / straight) for i in (0, 1)], axis=1
        )
        total = square_root(across * across + local[:, 2] * local[:, 2] + _TINY)
        last = where(wraps, last, straight)
        return _Way(axes, across, last, local[:, 2], total, direction)

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (m, 6) and residuals (m,) in m."""
        way = self._way(kinematics)
        plane = (way.across / way.length)[:, None] * way.direction
        e = np.concatenate((plane, (way.height / way.length)[:, None]), axis=1)
        point, _ = self.frames.origins(kinematics)
        return force_through(point, apply(way.axes, e)), way.length - self.length

    def extra_bias(self, kinematics: FrameKinematics, twist: RelativeTwist) -> Array:
        """((ṡ² + ż² + s u²/t) − ℓ̇²)/ℓ, with u the velocity across the last part, (m,)."""
        way = self._way(kinematics)
        v = apply(way.axes.transpose(0, 2, 1), twist.linear.take(self.frames.pair, 0))
        along = dot(way.direction, v[:, :2])
        square = dot(v[:, :2], v[:, :2])
        bend = way.across / way.last * (square - along * along)
        rate = (way.across * along + way.height * v[:, 2]) / way.length
        return (along * along + v[:, 2] * v[:, 2] + bend - rate * rate) / way.length
