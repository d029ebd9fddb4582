"""Rows that are components of the relative twist of two frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.relative_motion import FrameKinematics, RelativeTwist
from uk_dynamics.constraints.rows import RowFrames
from uk_dynamics.constraints.vectors import Array, apply, cross, dot, skew

Direction = tuple[float, float, float]


@dataclass(frozen=True)
class FrameVelocityRow:
    """One component of a relative twist.

    Attributes:
        label: x y z rx ry or rz.
        direction: In the parent or child frame, unit.
        angular: Of the angular velocity, not of the origin's velocity.
        in_child: Whether the direction is fixed in the child.
    """

    label: str
    direction: Direction
    angular: bool
    in_child: bool

    @property
    def order(self) -> Literal["velocity"]:
        """Of velocities."""
        return "velocity"


@dataclass(frozen=True)
class FrameVelocityRows:
    """ψ̇ = e·u or e·ω: velocity of the child's origin or of its rotation, seen from the parent.

    Attributes:
        frames: Frames of the rows.
        direction: e in the parent frame, or in the child frame where ``in_child``, (m, 3); of
            length one, for angular rows of the declared length in m.
        in_child: Rows whose direction turns with the child, as a robot's "forwards" does, (m,).
        angular: Rows of the angular velocity, (m,).
    """

    frames: RowFrames
    direction: Array
    in_child: NDArray[np.bool_]
    angular: NDArray[np.bool_]

    @classmethod
    def of(
        cls, frames: RowFrames, rows: Sequence[FrameVelocityRow], length: float
    ) -> FrameVelocityRows:
        """Stack rows; the declared length, in m, makes angular ones comparable."""
        angular = np.array([row.angular for row in rows])
        direction = np.array([row.direction for row in rows])
        return cls(
            frames,
            direction=np.where(angular[:, None], length * direction, direction),
            in_child=np.array([row.in_child for row in rows]),
            angular=angular,
        )

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (m, 6), and zeros (m,): there is nothing to measure in positions."""
        point, _ = self.frames.origins(kinematics)
        e = self._directions(kinematics)
        turning = self.angular[:, None]
        force = np.where(turning, 0.0, e)
        moment = np.where(turning, e, apply(skew(point), e))
        return np.concatenate((force, moment), axis=1), np.zeros(len(e), dtype=e.dtype)

    def extra_bias(self, kinematics: FrameKinematics, twist: RelativeTwist) -> Array:
        """(ω × e)·u where e turns with the child, (m,), in m/s²."""
        pair = self.frames.pair
        turning = cross(twist.angular.take(pair, 0), self._directions(kinematics))
        moves = self.in_child & ~self.angular
        return np.where(moves, dot(turning, twist.linear.take(pair, 0)), 0.0)

    def _directions(self, kinematics: FrameKinematics) -> Array:
        frame = np.where(self.in_child, self.frames.child, self.frames.parent)
        return apply(kinematics.rotation.take(frame, 0), self.direction)
