# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts of round bodies: spheres, capsules, hollows; and of points and spheres with boxes.

Each body is what is nearer than a radius to a segment of its frame's z axis: a sphere where the
segment is a point, a cylinder without ends where it is long. With the nearest points of both
segments, w from the parent's to the child's, the gap is |w| − R − r, and in a hollow parent, as a
pin in its bearing has it, R − r − |w|. The nearest points move along the segments, and the normal
turns with them.

A box is about its frame's origin, and may be rounded by a radius. Outside, the gap is the distance
from the nearest point of the box; what has come inside is pushed out of the nearest face.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from uk_dynamics.constraints.rows.frame_rows import force_through
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics, RelativeTwist
from uk_dynamics.constraints.rows.row import Direction, FrameRow, FrameRows, RowFrames
from uk_dynamics.constraints.rows.vectors import Array, apply, cross, dot
from uk_dynamics.core.linalg import above, at_least, below, square_root, where

_TINY = 1e-300  # segments that meet give a zero row, which the rank rule reports, instead of NaN
# Squared sine, less of which the middle of the child's segment is as near as other points, and
# 1 + cosine, less of which the normal is opposite to the parent's z axis.
_PARALLEL = 1e-12


@dataclass(frozen=True)
class Round:
    """What is within a radius of a segment of a frame's z axis."""

    radius: float  # in m; 0: a point or a line
    half_length: float = 0.0  # of the segment, whose middle is the frame's origin, in m
    hollow: bool = False  # it is all else instead


@dataclass(frozen=True)
class RoundRow(FrameRow):
    """One direction of a contact of two round bodies, which is its label: normal, x or y."""

    parent: Round
    child: Round

    @property
    def radius(self) -> float:
        """Of the child, in m, as of contacts with planes."""
        return self.child.radius

    of_positions: ClassVar[str] = "normal"  # sliding is a matter of velocities

    @classmethod
    def stack(cls, rows: Sequence[Any], frames: RowFrames, length: float) -> "RoundRows":
        """See :meth:`FrameRow.stack`."""
        return RoundRows(
            frames,
            radii=np.array([(row.parent.radius, row.child.radius) for row in rows]),
            ends=np.array([(row.parent.half_length, row.child.half_length) for row in rows]),
            side=np.array([-1.0 if row.parent.hollow else 1.0 for row in rows]),
            part=np.array([[row.label == label for label in ("x", "y", "normal")] for row in rows])
            * 1.0,
        )


class Nearest(NamedTuple):
    """Nearest points of both bodies; arrays (m,) and (m, 3)."""

    arm: Array  # from the child's origin to its nearest point, in m
    distance: Array  # of both points, in m; below zero inside a box
    normal: Array  # towards the child's inside
    bend: Array  # of the normal, per metre that the child moves across it; zero on a face
    # of v and ω of the child within the parent: velocities of the way from the parent's nearest
    # point to the child's, and of the child's nearest point
    moving: Callable[[Array, Array], tuple[Array, Array]]


@dataclass(frozen=True)
class RoundRows(FrameRows, of=RoundRow):
    """Gaps, or velocities of the contact point across the normal.

    The directions x and y are those of the parent, turned with its z axis to the normal by the
    shortest way.
    """

    frames: RowFrames
    radii: Array  # of parent and child, (m, 2), in m
    ends: Array  # half lengths, (m, 2), in m
    side: Array  # −1 where the parent is hollow, (m,)
    part: Array  # of x, y and the normal that the row is, (m, 3)
    turning: ClassVar[bool] = True

    def _nearest(self, kinematics: FrameKinematics) -> Nearest:
        _, d = self.frames.origins(kinematics)
        a = kinematics.rotation.take(self.frames.parent, 0)[:, :, 2]
        b = kinematics.rotation.take(self.frames.child, 0)[:, :, 2]
        c, along_a, along_b = dot(a, b), dot(a, d), dot(b, d)
        t = inner_s = inner_t = np.zeros(len(c))
        w = d
        if self.ends.any():
            most_s, most_t = self.ends.T
            sine = 1.0 - c * c
            skew = above(sine, _PARALLEL)
            free = where(skew, (c * along_a - along_b) / where(skew, sine, 1.0), 0.0)
            s, _ = within(along_a + c * within(free, most_t)[0], most_s)
            t, inner_t = within(c * s - along_b, most_t)
            s, inner_s = within(along_a + c * t, most_s)
            inner_t = where(skew, inner_t, inner_t * (1.0 - inner_s))
            w = d + t[:, None] * b - s[:, None] * a
        arm = t[:, None] * b

        def moving(v: Array, omega: Array) -> tuple[Array, Array]:
            turned = cross(omega, b)
            along = dot(a, v) + t * dot(a, turned)
            back = -dot(b, v) - dot(turned, w)
            t_rate = inner_t * (back + c * inner_s * along) / (1.0 - inner_s * inner_t * c * c)
            s_rate = inner_s * (along + c * t_rate)
            moved = v + t_rate[:, None] * b + t[:, None] * turned
            return moved - s_rate[:, None] * a, moved

        distance = square_root(dot(w, w) + _TINY)
        bend = self.side / distance
        return Nearest(arm, distance, bend[:, None] * w, bend, moving)

    def _directions(self, axes: Array, normal: Array) -> tuple[Array, Array, Array]:
        """The row's direction; κ (m,) and z + n (m, 3) that turn x or y."""
        chosen = (axes @ self.part[:, :, None])[:, :, 0]
        across = 1.0 - self.part[:, 2]
        z = axes[:, :, 2]
        kappa = across * dot(chosen, normal) / at_least(1.0 + dot(z, normal), _PARALLEL)
        both = z + normal
        tangent = across[:, None] * chosen - kappa[:, None] * both
        return tangent + self.part[:, 2:] * normal, kappa, both

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (m, 6), and residuals (m,) in m, zero for rows of velocity level."""
        near = self._nearest(kinematics)
        centre = kinematics.translation.take(self.frames.child, 0)
        point = centre + near.arm - self.radii[:, 1:] * near.normal
        e, _, _ = self._directions(kinematics.rotation.take(self.frames.parent, 0), near.normal)
        gap = self.side * (near.distance - self.radii[:, 0]) - self.radii[:, 1]
        return force_through(point, e), self.part[:, 2] * gap

    def extra_bias(self, kinematics: FrameKinematics, twist: RelativeTwist) -> Array:
        """ė·u + e·(ω × (ṗ − v)): direction and point move within the parent, (m,).

        With u the velocity of the child's material at the contact p, and v that of its origin.
        """
        near = self._nearest(kinematics)
        v = twist.linear.take(self.frames.pair, 0)
        omega = twist.angular.take(self.frames.pair, 0)
        w_rate, moved = near.moving(v, omega)
        n = near.normal
        n_rate = near.bend[:, None] * (w_rate - dot(n, w_rate)[:, None] * n)
        p_rate = moved - self.radii[:, 1:] * n_rate
        u = v + cross(omega, near.arm - self.radii[:, 1:] * n)
        axes = kinematics.rotation.take(self.frames.parent, 0)
        e, kappa, both = self._directions(axes, n)
        chosen = (axes @ self.part[:, :, None])[:, :, 0]
        lean = at_least(1.0 + dot(axes[:, :, 2], n), _PARALLEL)
        kappa_rate = (dot(chosen, n_rate) - kappa * dot(axes[:, :, 2], n_rate)) / lean
        across = 1.0 - self.part[:, 2]
        e_rate = self.part[:, 2:] * n_rate - across[:, None] * (
            kappa_rate[:, None] * both + kappa[:, None] * n_rate
        )
        return dot(e_rate, u) + dot(e, cross(omega, p_rate - v))


def within(x: Array, most: Array) -> tuple[Array, Array]:
    """X between −most and most, and 1 where that leaves it as it is, (m,) each."""
    inner = where(below(x, most), where(above(x, -most), 1.0, 0.0), 0.0)
    return where(above(x, most), most, where(below(x, -most), -most, x)), inner


_ON_A_FACE = 1e-9  # m: what is nearer to the box is on the face that it is least behind


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
class BoxRows(RoundRows, of=BoxRow):
    """Gaps, or velocities of the contact point across the normal."""

    half: Array  # (m, 3), in m

    def _nearest(self, kinematics: FrameKinematics) -> Nearest:
        axes, local = self.frames.in_parent(kinematics)
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
        follows = where(above(behind, 0.0), 1.0, 0.0 * behind)

        def moving(v: Array, omega: Array) -> tuple[Array, Array]:
            """Along edges and faces the nearest point of the box follows."""
            return apply(axes, follows * apply(axes.transpose(0, 2, 1), v)), v

        distance = where(outside, far, depth)
        return Nearest(np.zeros(local.shape), distance, apply(axes, normal), bend, moving)
