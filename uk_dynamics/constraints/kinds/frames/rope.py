# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A rope that is led through points of several links, as over small pulleys without friction."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uk_dynamics.constraints.kinds.frames.center_of_mass import MassPoints
from uk_dynamics.constraints.kinds.keys import number
from uk_dynamics.constraints.kinds.kind import Data, Kind, SampleRobot, Setting
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics
from uk_dynamics.constraints.rows.row import ConstraintTerms, RobotRow, Row, RowFamily
from uk_dynamics.constraints.rows.vectors import Array, cross, dot
from uk_dynamics.core.linalg import square_root
from uk_dynamics.exceptions import located
from uk_dynamics.model.urdf import WORLD

_TINY = 1e-300  # coinciding points give no direction instead of NaN


@dataclass(frozen=True)
class Rope(Kind):
    """The length of a way through points."""

    length: float  # in m, positive
    links: tuple[str, ...]  # of the points, in the order in which it is led through them
    places: tuple[tuple[float, ...], ...]  # of the points in their links, in m
    name = "rope"
    removes = 1
    summary = "held: the length of a rope through points of several links"
    example = (
        "hoist: {type: rope, length: 2.5, one_sided: at_most,"
        " points: [{link: base}, {link: hook, xyz: [0, 0, 0.1]}, {link: base}, {link: drum}]}"
    )
    frames = ()
    keys: ClassVar = {
        "length": number(
            "m",
            "Of the rope, in m: the sum of the distances from each point to the next. With"
            " one_sided: at_most it can be slack.",
            2.5,
            exclusiveMinimum=0,
        ),
        "points": {
            "description": "Where it begins, what it is led through without friction, and where it"
            " ends; xyz in the link, in m.",
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "link": {"$ref": "common.schema.json#/definitions/link"},
                    "xyz": {"$ref": "common.schema.json#/definitions/xyz"},
                },
                "required": ["link"],
                "additionalProperties": False,
            },
            "minItems": 2,
            "x-unit": "m",
            "examples": [[{"link": "base"}, {"link": "hook", "xyz": [0.0, 0.0, 0.1]}]],
        },
    }
    number = "length"
    required = ("length", "points")

    @classmethod
    def from_data(cls, data: Data) -> "Rope":
        """See :meth:`Kind.from_data`."""
        points = data["points"]
        places = (tuple(map(float, point.get("xyz", (0.0, 0.0, 0.0)))) for point in points)
        return cls(float(data["length"]), tuple(x["link"] for x in points), tuple(places))

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The length."""
        model = setting.model
        fixed = {} if WORLD in model.link_names else {WORLD: model.description.root}
        with located(place="points"):
            frame = np.array([model.frame_index(fixed.get(x, x)) for x in self.links], np.intp)
        part, moved = np.full(len(frame), 1.0 / len(frame)), model.ancestor_mask[frame]
        return (
            RopeRow("length", self.length, MassPoints(frame, part, np.array(self.places), moved)),
        )

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """Any length through two to four points."""
        links = rng.choice(list(robot.links), int(rng.integers(2, 5)))
        points = [{"link": str(x), "xyz": rng.uniform(-0.5, 0.5, 3).tolist()} for x in links]
        return {"length": float(rng.uniform(0.5, 3.0)), "points": points}


@dataclass(frozen=True, eq=False)
class RopeRow(RobotRow):
    """Length of a rope, in m."""

    length: float
    points: MassPoints

    @classmethod
    def collect(cls, rows: "Sequence[tuple[str, RopeRow]]", nq: int, nv: int) -> "RopeRows":
        """See :meth:`RobotRow.collect`."""
        return RopeRows(tuple(row for _, row in rows))

    def way(self, kinematics: FrameKinematics) -> tuple[Array, Array, Array]:
        """Points (n, 3) in the world, directions (n − 1, 3) and lengths (n − 1,) between them."""
        points = self.points.places(kinematics)
        step = points[1:] - points[:-1]
        size: Array = square_root(dot(step, step) + _TINY)
        return points, step / size[:, None], size

    def pulled(self, kinematics: FrameKinematics, points: Array, forces: Array) -> Array:
        """Generalized force of forces on the points, (n, 3) each: (nv,)."""
        wrenches = np.concatenate((forces, cross(points, forces)), axis=1)
        found: Array = ((self.points.moved.T @ wrenches) * kinematics.jacobian.T).sum(axis=1)
        return found

    def evaluate(self, kinematics: FrameKinematics, v: Array | None) -> tuple[Array, Array, Array]:
        """Row (nv,), residual, and what is left of ψ̈: (|u|² − (e·u)²)/d of each part and e·Δa."""
        points, e, size = self.way(kinematics)
        none = np.zeros((1, 3))
        A = self.pulled(kinematics, points, np.concatenate((none, e)) - np.concatenate((e, none)))
        if v is None:
            return A, size.sum() - self.length, A[:0]
        jacobian, moving = kinematics.jacobian, self.points.moved * v
        velocity = moving @ jacobian[:3].T + cross(moving @ jacobian[3:].T, points)
        u, acceleration = velocity[1:] - velocity[:-1], self.points.motion(kinematics, v)[2]
        along = dot(e, u)
        turning = (dot(u, u) - along * along) / size
        bias = dot(e, acceleration[1:] - acceleration[:-1]) + turning
        return A, size.sum() - self.length, bias.sum()


@dataclass(frozen=True)
class RopeRows(RowFamily):
    """Rows of all ropes of a set, in their order: ψ = Σ |dᵢ| − L."""

    ropes: tuple[RopeRow, ...]

    def position(self, kinematics: FrameKinematics, t: float, q: Array) -> tuple[Array, Array]:
        """A and residuals in m; see :class:`RowFamily`."""
        found = [rope.evaluate(kinematics, None) for rope in self.ropes]
        return np.stack([A for A, _, _ in found]), np.stack([psi for _, psi, _ in found])

    def evaluate(
        self, kinematics: FrameKinematics, t: float, q: Array, v: Array
    ) -> ConstraintTerms:
        """The rows at a state; see :class:`RowFamily`."""
        found = [rope.evaluate(kinematics, v) for rope in self.ropes]
        A, residual, bias = (np.stack(part) for part in zip(*found, strict=True))
        return ConstraintTerms(A, bias, residual, A @ v)

    def natural_scale(self, kinematics: FrameKinematics, q: Array) -> Array:
        """Magnitudes of both ends of each part, added."""
        found = []
        for rope in self.ropes:
            points, e, _ = rope.way(kinematics)
            ends = np.zeros((2, *points.shape))
            ends[0, 1:], ends[1, :-1] = e, e
            found.append(sum(np.abs(rope.pulled(kinematics, points, end)) for end in ends))
        return np.array(found)
