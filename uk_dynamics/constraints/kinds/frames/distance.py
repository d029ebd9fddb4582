# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A rod with a ball joint at each end: two points keep their distance."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uk_dynamics.constraints.kinds.keys import number
from uk_dynamics.constraints.kinds.kind import Kind, SampleRobot, Setting
from uk_dynamics.constraints.rows.frame_rows import force_through
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics, RelativeTwist
from uk_dynamics.constraints.rows.row import FrameRow, FrameRows, Row, RowFrames
from uk_dynamics.constraints.rows.vectors import Array, dot
from uk_dynamics.core.linalg import square_root

_TINY = 1e-300  # coinciding origins give a zero row, which the rank rule reports, instead of NaN


@dataclass(frozen=True)
class Distance(Kind):
    """The distance of two origins."""

    distance: float  # In m, positive
    name = "distance"
    removes = 1
    summary = "held: the distance of the origins"
    example = (
        "rod: {type: distance, distance: 0.4, parent: {link: crank, xyz: [0.1, 0, 0]},"
        " child: {link: slider}}"
    )
    keys: ClassVar = {
        "distance": number(
            "m",
            "Distance between the origins of the two frames, in m; above 0 (for 0 use type point).",
            0.5,
            exclusiveMinimum=0,
        ),
    }
    number = "distance"
    required = ("distance",)
    foreign_names: ClassVar = {"Drake": ("DistanceConstraint",)}

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The distance."""
        return (DistanceRow("distance", self.distance),)

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """Any distance."""
        return {"distance": float(rng.uniform(0.2, 2.0))}


@dataclass(frozen=True)
class DistanceRow(FrameRow):
    """Distance of the two origins, in m."""

    distance: float


@dataclass(frozen=True)
class DistanceRows(FrameRows, of=DistanceRow):
    """Distance of the two origins: ψ = |d| − L."""

    frames: RowFrames
    distance: Array  # L, (m,), in m, positive
    turning: ClassVar[bool] = True

    def _line(self, kinematics: FrameKinematics) -> tuple[Array, Array, Array]:
        point, offset = self.frames.origins(kinematics)
        norm: Array = square_root(dot(offset, offset) + _TINY)
        return point, offset / norm[:, None], norm

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (m, 6) and residuals (m,) in m."""
        point, e, norm = self._line(kinematics)
        return force_through(point, e), norm - self.distance

    def extra_bias(self, kinematics: FrameKinematics, twist: RelativeTwist) -> Array:
        """(|u|² − (eᵀu)²)/|d|: the direction turns with the motion across it, (m,)."""
        _, e, norm = self._line(kinematics)
        u = twist.linear.take(self.frames.pair, 0)
        along = dot(e, u)
        return (dot(u, u) - along * along) / norm
