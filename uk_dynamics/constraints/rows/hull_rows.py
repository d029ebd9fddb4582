# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts of two convex bodies with flat faces; see :mod:`convex_hulls`."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.constraints.rows.convex_hulls import POINTS, HeldFeatures, HullPair
from uk_dynamics.constraints.rows.frame_rows import force_through
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics, RelativeTwist
from uk_dynamics.constraints.rows.row import FrameRow, FrameRows, RowFrames
from uk_dynamics.constraints.rows.vectors import cross, dot
from uk_dynamics.core.linalg import is_symbolic, square_root

_SPLIT = [1, 4, 7, 10, 11]  # of the numbers of a point


@dataclass(frozen=True)
class HullRow(FrameRow):
    """One direction of one point of two hulls, which is its label: normal, x or y."""

    pair: HullPair
    point: int  # from 0 to POINTS − 1
    of_positions: ClassVar[str] = "normal"  # sliding is a matter of velocities

    @classmethod
    def stack(cls, rows: Sequence[Any], frames: RowFrames, length: float) -> "HullRows":
        """See :meth:`FrameRow.stack`."""
        pairs = {row.pair: k for k, row in enumerate(rows)}  # rows of a pair have the same frames
        first = {pair: POINTS * k for k, pair in enumerate(pairs)}
        return HullRows(
            frames,
            tuple(pairs.items()),
            np.array([first[row.pair] + row.point for row in rows]),
            np.array([[row.label == label for label in ("x", "y", "normal")] for row in rows])
            * 1.0,
            [None, None],
        )


class _Touching(NamedTuple):
    """Where rows touch, as :class:`convex_hulls.Touch` has it; arrays (m, 3)."""

    gap: Array  # (m,)
    point: Array
    x: Array
    normal: Array
    of_parent: Array  # (m, 1)
    edge: Array


@dataclass(frozen=True)
class HullRows(FrameRows, of=HullRow):
    """Gaps, or velocities of the child's point across the normal."""

    frames: RowFrames
    pairs: tuple[tuple[HullPair, int], ...]  # with one of their rows
    point: Indices  # among those of all pairs, (m,)
    part: Array  # of x, y and the normal that the row is, (m, 3)
    last: list[Any]  # where it was evaluated last, of which features, and what was found
    turning: ClassVar[bool] = True

    def _places(self, kinematics: FrameKinematics) -> Array:
        both = np.stack((self.frames.parent, self.frames.child), axis=1)
        both = both[[row for _, row in self.pairs]]
        R, p = kinematics.rotation.take(both, 0), kinematics.translation.take(both, 0)
        return np.concatenate((R.reshape(len(both), 2, 9), p), axis=2).reshape(-1, 24)

    def features(self, kinematics: FrameKinematics, before: HeldFeatures) -> HeldFeatures:
        """Those that are nearest now; those of before keep their points."""
        places = zip(self.pairs, self._places(kinematics), strict=True)
        return {pair: pair.features(at, before.get(pair, ())) for (pair, _), at in places}

    def _touching(self, kinematics: FrameKinematics) -> _Touching:
        place = self._places(kinematics)
        given: HeldFeatures = getattr(kinematics, "features", {})
        held = [given.get(pair, ()) for pair, _ in self.pairs]
        key = None if is_symbolic(place) else (place.tobytes(), held)
        found: _Touching
        before, found = self.last
        if key and key == before:
            return found
        pairs = zip(self.pairs, place, held, strict=True)
        every = np.concatenate([pair(at, features) for (pair, _), at, features in pairs])
        gap, point, x, normal, of_parent, edge = np.split(every[self.point], _SPLIT, axis=1)
        found = _Touching(gap[:, 0], point, x, normal, of_parent, edge)
        if key:
            self.last[:] = key, found
        return found

    def _direction(self, at: _Touching) -> Array:
        x, y, n = self.part.T[:, :, None]
        e: Array = x * at.x + y * cross(at.normal, at.x) + n * at.normal
        return e

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (m, 6), and residuals (m,) in m, zero for rows of velocity level."""
        at = self._touching(kinematics)
        return force_through(at.point, self._direction(at)), self.part[:, 2] * at.gap

    def extra_bias(self, kinematics: FrameKinematics, twist: RelativeTwist) -> Array:
        """ė·u + e·(ω × (ṗ − v)), as of :class:`RoundRows`, (m,).

        Where edges touch, the point moves along the child's as that of lines that stay nearest, and
        the normal turns with it; at a corner ``edge`` is zero, and so is all of that.
        """
        at, (_, y, n) = self._touching(kinematics), self.part.T[:, :, None]
        e, b, of_parent = self._direction(at), at.edge, at.of_parent
        v = twist.linear.take(self.frames.pair, 0)
        omega = twist.angular.take(self.frames.pair, 0)
        u = v + cross(omega, at.point - kinematics.translation.take(self.frames.child, 0))
        c, b_rate = dot(at.x, b), cross(omega, b)
        square = 1.0 - c * c
        t_rate = (c * dot(at.x, u) - dot(b, u) - at.gap * dot(b_rate, at.normal)) / square
        p_rate = (1.0 - of_parent) * u + t_rate[:, None] * b
        turned = cross(at.x, b_rate) / square_root(square)[:, None]
        n_rate = turned - dot(at.normal, turned)[:, None] * at.normal
        e_rate = of_parent * cross(omega, e) + y * cross(n_rate, at.x) + n * n_rate
        return dot(e_rate, u) + dot(e, cross(omega, p_rate - v))
