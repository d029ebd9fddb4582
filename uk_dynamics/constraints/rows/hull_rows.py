# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts of two convex bodies with flat faces; see :mod:`convex_hulls`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.constraints.rows.convex_hulls import Hull, Placed, Touch, touches
from uk_dynamics.constraints.rows.frame_rows import force_through
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics, RelativeTwist
from uk_dynamics.constraints.rows.row import FrameRow, FrameRows, RowFrames
from uk_dynamics.constraints.rows.vectors import cross, dot
from uk_dynamics.exceptions import InputError

_SPARE = 1e3  # m: how far away those points are that there are none of
_LABELS = ("x", "y", "normal")


@dataclass(frozen=True)
class HullRow(FrameRow):
    """One direction of one point of two hulls, which is its label: normal, x or y."""

    parent: Hull
    child: Hull
    point: int  # from 0 to POINTS − 1
    of_positions: ClassVar[str] = "normal"  # sliding is a matter of velocities

    @classmethod
    def stack(cls, rows: Sequence[Any], frames: RowFrames, length: float) -> "HullRows":
        """See :meth:`FrameRow.stack`."""
        pairs: dict[tuple[int, int], list[int]] = {}
        for k, row in enumerate(rows):  # hulls are of one entry, whose frames are alike
            pairs.setdefault((id(row.parent), id(row.child)), []).append(k)
        return HullRows(
            frames,
            tuple((rows[k[0]].parent, rows[k[0]].child, np.array(k)) for k in pairs.values()),
            np.array([row.point for row in rows]),
            np.array([_LABELS.index(row.label) for row in rows]),
            [b"", []],
        )


@dataclass(frozen=True)
class HullRows(FrameRows, of=HullRow):
    """Gaps, or velocities of the child's point across the normal."""

    frames: RowFrames
    pairs: tuple[tuple[Hull, Hull, Indices], ...]  # with their rows
    point: Indices  # (m,)
    direction: Indices  # of x, y and normal, (m,)
    last: list[Any]  # where it was evaluated last, and what was found
    turning: ClassVar[bool] = True

    def _touches(self, kinematics: FrameKinematics) -> list[Touch]:
        """The pair of each row; points that there are none of are far away."""
        frames = np.concatenate((self.frames.parent, self.frames.child))
        R, p = kinematics.rotation.take(frames, 0), kinematics.translation.take(frames, 0)
        if R.dtype == object:
            problem = (
                "points at which convex hulls touch come and go: there are no derivatives of them"
            )
            raise InputError(problem)
        place = R.tobytes() + p.tobytes()
        known: list[Touch]
        before, known = self.last
        if place == before:
            return known
        rows: list[Any] = [None] * len(self.point)
        for parent, child, own in self.pairs:
            places = [
                Placed(hull.corners @ R[k].T + p[k], hull.normals @ R[k].T, hull, R[k])
                for hull, k in ((parent, own[0]), (child, own[0] + len(rows)))
            ]
            found = touches(*places)
            lowest = min(found, key=lambda one: one.gap)
            spare = lowest._replace(gap=_SPARE, axes=np.zeros((3, 3)), edges=None)
            for k in own.tolist():
                rows[k] = found[self.point[k]] if self.point[k] < len(found) else spare
        self.last[:] = place, rows
        return rows

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (m, 6), and residuals (m,) in m, zero for rows of velocity level."""
        found = self._touches(kinematics)
        e = np.array([one.axes[k] for one, k in zip(found, self.direction, strict=True)])
        gap = np.array([one.gap for one in found])
        return force_through(np.array([one.point for one in found]), e), (self.direction == 2) * gap

    def extra_bias(self, kinematics: FrameKinematics, twist: RelativeTwist) -> Array:
        """ė·u + e·(ω × (ṗ − v)), as of :class:`RoundRows`."""
        found = self._touches(kinematics)
        v = twist.linear.take(self.frames.pair, 0)
        omega = twist.angular.take(self.frames.pair, 0)
        e = np.array([one.axes[k] for one, k in zip(found, self.direction, strict=True)])
        arm = np.array([one.point for one in found]) - kinematics.translation.take(
            self.frames.child, 0
        )
        u = v + cross(omega, arm)
        p_rate, e_rate = u.copy(), np.zeros_like(e)
        for k, one in enumerate(found):
            if one.turns == "child":  # a corner of the parent
                p_rate[k], e_rate[k] = 0.0, cross(omega[k], e[k])
            elif one.edges is not None:
                a, b, w = one.edges
                b_rate = cross(omega[k], b)
                c = a @ b
                # of the place along the child's edge, as that of lines that stay nearest
                t_rate = (-(b @ u[k]) - b_rate @ w + c * (a @ u[k])) / (1.0 - c * c)
                p_rate[k] = u[k] + t_rate * b
                n = one.axes[2]
                turned = cross(a, b_rate) * np.sign(n @ cross(a, b)) / np.sqrt(1.0 - c * c)
                n_rate = turned - (n @ turned) * n
                e_rate[k] = (0.0 * n, cross(n_rate, a), n_rate)[self.direction[k]]
        return dot(e_rate, u) + dot(e, cross(omega, p_rate - v))
