# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A rod with a ball joint at each end: two points keep their distance; or a rope round a peg."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uk_dynamics.constraints.kinds.keys import number
from uk_dynamics.constraints.kinds.kind import Data, Kind, SampleRobot, Setting
from uk_dynamics.constraints.rows.frame_rows import force_through
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics, RelativeTwist
from uk_dynamics.constraints.rows.row import FrameRow, FrameRows, Row, RowFrames
from uk_dynamics.constraints.rows.vectors import Array, dot
from uk_dynamics.constraints.rows.wrapped_rows import Peg, WrappedRow
from uk_dynamics.core.linalg import square_root
from uk_dynamics.exceptions import MechanismFileError

_TINY = 1e-300  # coinciding origins give a zero row, which the rank rule reports, instead of NaN


@dataclass(frozen=True)
class Distance(Kind):
    """The distance of two origins."""

    distance: float  # In m, positive
    peg: Peg | None = None  # what it leads round, as a rope does; None: it is straight
    name = "distance"
    removes = 1
    summary = "held: the distance of the origins, straight or round a peg"
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
        "peg": {
            "description": "What a rope leads round: a round peg without friction along the"
            " parent's z axis. The distance counts along the rope, which touches the peg or not.",
            "type": "object",
            "properties": {
                "xy": {
                    "title": "Place",
                    "description": "Of its axis in the parent frame, in m.",
                    "type": "array",
                    "items": {"type": "number"},
                    "minItems": 2,
                    "maxItems": 2,
                    "x-unit": "m",
                    "examples": [[0.0, -0.5]],
                },
                "radius": number(
                    "m", "In m; default 0: an edge.", 0.05, title="Radius", minimum=0, default=0.0
                ),
                "side": {
                    "title": "Side",
                    "description": "Where the peg is, seen along the rope from the parent's origin"
                    " with the z axis up.",
                    "enum": ["left", "right"],
                    "examples": ["left"],
                },
            },
            "required": ["xy", "side"],
            "additionalProperties": False,
            "examples": [{"xy": [0.0, -0.5], "radius": 0.05, "side": "left"}],
        },
    }
    number = "distance"
    required = ("distance",)
    foreign_names: ClassVar = {"Drake": ("DistanceConstraint",)}

    @classmethod
    def from_data(cls, data: Data) -> "Distance":
        """See :meth:`Kind.from_data`."""
        peg = data.get("peg")
        if peg is None:
            return cls(float(data["distance"]))
        (x, y), radius = map(float, peg["xy"]), float(peg.get("radius", 0.0))
        if np.hypot(x, y) <= radius:
            problem = "the rope begins inside the peg; move it away from the parent's origin"
            raise MechanismFileError(problem, place="peg.xy")
        side = 1.0 if peg["side"] == "left" else -1.0
        return cls(float(data["distance"]), Peg(x, y, radius, side))

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The distance."""
        if self.peg is not None:
            return (WrappedRow("distance", self.distance, self.peg),)
        return (DistanceRow("distance", self.distance),)

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """Any distance, round a peg or not."""
        found: dict[str, Any] = {"distance": float(rng.uniform(0.2, 2.0))}
        if rng.uniform() < 0.5:
            xy, side = rng.uniform(0.3, 0.6, 2).tolist(), str(rng.choice(["left", "right"]))
            found["peg"] = {"xy": xy, "radius": float(rng.uniform(0.0, 0.2)), "side": side}
        return found


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
