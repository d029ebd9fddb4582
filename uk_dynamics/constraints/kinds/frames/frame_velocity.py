# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Velocity and angular velocity of one frame seen from another, or some of their components."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uk_dynamics.arrays import Array, Flags
from uk_dynamics.constraints.kinds import keys
from uk_dynamics.constraints.kinds.frames.frame import random_axes
from uk_dynamics.constraints.kinds.kind import Kind, SampleRobot, Setting
from uk_dynamics.constraints.kinds.selections import AXES, ROTATION_AXES
from uk_dynamics.constraints.rows import FrameKinematics, RelativeTwist, apply, cross, dot
from uk_dynamics.constraints.rows.frame_rows import couple, force_through
from uk_dynamics.constraints.rows.row import Direction, FrameRow, FrameRows, Row, RowFrames


@dataclass(frozen=True)
class FrameVelocity(Kind):
    """Twist of the child relative to the parent."""

    axes: tuple[str, ...]  # The constrained components, of x y z rx ry rz, in declared order
    expressed_in: str = "parent"  # Or "child": whose axes they are
    name = "frame_velocity"
    removes = "one per axis"
    per = "axes"
    order = "velocity"
    summary = "held: velocity and angular velocity of the child seen from the parent"
    example = (
        "forwards: {type: frame_velocity, axes: [x], expressed_in: child, parent: {link: world},"
        " child: {link: chassis}}"
    )
    keys: ClassVar = {
        "axes": keys.AXES,
        "expressed_in": {
            "description": "Whose axes they are: parent (default), or child, so that x is forwards"
            " for a robot that turns; the velocity is always that of the child's origin seen from"
            " the parent.",
            "type": "string",
            "enum": ["parent", "child"],
            "default": "parent",
            "examples": ["child"],
        },
    }
    required = ("axes",)

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """A row per axis, in declared order."""
        directions, in_child = {**AXES, **ROTATION_AXES}, self.expressed_in == "child"
        return tuple(
            FrameVelocityRow(label, directions[label], label in ROTATION_AXES, in_child)
            for label in self.axes
        )

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """Some axes in any order, of either frame."""
        labels = ("x", "y", "z", "rx", "ry", "rz")
        frame = str(rng.choice(["parent", "child"]))
        return {"axes": random_axes(rng, labels, labels), "expressed_in": frame}


@dataclass(frozen=True)
class FrameVelocityRow(FrameRow):
    """One component of a relative twist."""

    direction: Direction  # In the parent or child frame, unit
    angular: bool  # Of the angular velocity, not of the origin's velocity
    in_child: bool  # Whether the direction is fixed in the child
    of_positions: ClassVar[str] = ""  # no row has this label

    def reference_scale(self, length: float) -> float:
        """The declared length for angular velocities."""
        return length if self.angular else 1.0

    @classmethod
    def stack(
        cls, rows: "Sequence[FrameVelocityRow]", frames: RowFrames, length: float
    ) -> "FrameVelocityRows":
        """See :meth:`FrameRow.stack`."""
        angular = np.array([row.angular for row in rows])
        direction = np.array([row.direction for row in rows])
        return FrameVelocityRows(
            frames,
            direction=np.where(angular[:, None], length * direction, direction),
            in_child=np.array([row.in_child for row in rows]),
            angular=angular,
        )


@dataclass(frozen=True)
class FrameVelocityRows(FrameRows, of=FrameVelocityRow):
    """ψ̇ = e·u or e·ω: velocity of the child's origin or of its rotation, seen from the parent."""

    frames: RowFrames
    # e in the parent frame, or in the child frame where ``in_child``, (m, 3); of length one, for
    # angular rows of the declared length in m
    direction: Array
    # Rows whose direction turns with the child, as a robot's "forwards" does, (m,)
    in_child: Flags
    angular: Flags  # Rows of the angular velocity, (m,)
    turning: ClassVar[bool] = True

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (m, 6), and zeros (m,): there is nothing to measure in positions."""
        point, _ = self.frames.origins(kinematics)
        e = self._directions(kinematics)
        wrench = np.where(self.angular[:, None], couple(e), force_through(point, e))
        return wrench, np.zeros(len(e), dtype=e.dtype)

    def extra_bias(self, kinematics: FrameKinematics, twist: RelativeTwist) -> Array:
        """(ω × e)·u where e turns with the child, (m,), in m/s²."""
        pair = self.frames.pair
        turning = cross(twist.angular.take(pair, 0), self._directions(kinematics))
        moves = self.in_child & ~self.angular
        return np.where(moves, dot(turning, twist.linear.take(pair, 0)), 0.0)

    def _directions(self, kinematics: FrameKinematics) -> Array:
        frame = np.where(self.in_child, self.frames.child, self.frames.parent)
        return apply(kinematics.rotation.take(frame, 0), self.direction)
