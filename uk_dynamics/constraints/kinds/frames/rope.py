# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A rope that is led through points of several links, and over pulleys or round pegs."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from uk_dynamics.constraints.kinds.keys import direction, number, unit_axis
from uk_dynamics.constraints.kinds.kind import Data, Kind, SampleRobot, Setting, random_axis
from uk_dynamics.constraints.rows.mass_points import MassPoints
from uk_dynamics.constraints.rows.rope_rows import RopeRow
from uk_dynamics.constraints.rows.row import Direction, Row
from uk_dynamics.constraints.rows.vectors import apply, cross
from uk_dynamics.exceptions import MechanismFileError, inside, located
from uk_dynamics.model import RobotModel
from uk_dynamics.model.urdf import WORLD

_PARALLEL = 1e-6  # rad: about the rounding of hand-written angles
_SIDES = {"left": 1.0, "right": -1.0}


class _Point(NamedTuple):
    """A point of a rope, or a pulley."""

    link: str
    place: tuple[float, ...]  # in the link, in m
    side: float  # where a pulley is, 1: on the left, −1: on the right; 0: it is a point
    radius: float  # in m
    axis: Direction  # of a pulley in the link, a unit vector
    lifts_off: bool  # whether the rope may lift off

    @classmethod
    def from_data(cls, data: Data) -> "_Point":
        """Read one of the points."""
        place, side = map(float, data.get("xyz", (0.0, 0.0, 0.0))), data.get("side")
        radius, lifts_off = float(data.get("radius", 0.0)), data.get("lifts_off", False)
        if side is not None and not (radius or lifts_off):
            problem = "0 is an edge, which keeps no rope; add lifts_off: true, or give a radius"
            raise MechanismFileError(problem, place="radius")
        turn = 0.0 if side is None else _SIDES[side]
        axis = unit_axis(data.get("axis", (0, 0, 1)), "axis")
        return cls(data["link"], tuple(place), turn, radius, axis, lifts_off)


@dataclass(frozen=True)
class Rope(Kind):
    """The length of a way through points and over pulleys."""

    length: float  # in m, positive
    points: tuple[_Point, ...]  # in the order in which it is led through them
    name = "rope"
    removes = 1
    summary = "held: the length of a rope through points, over pulleys and round pegs"
    example = (
        "hoist: {type: rope, length: 2.5, one_sided: at_most,"
        " points: [{link: base}, {link: hook, xyz: [0, 0, 0.1]}, {link: base}, {link: drum}]}"
    )
    frames = ()
    keys: ClassVar = {
        "length": number(
            "m",
            "Of the rope, in m: the sum of the distances from each point to the next, along pulleys"
            " where it lies on them. With one_sided: at_most it can be slack.",
            2.5,
            exclusiveMinimum=0,
        ),
        "points": {
            "description": "Where it begins, what it is led through without friction, and where it"
            " ends; xyz in the link, in m. With a radius it is the centre of a pulley or peg, over"
            " which the rope lies on an arc.",
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "link": {"$ref": "common.schema.json#/definitions/link"},
                    "xyz": {"$ref": "common.schema.json#/definitions/xyz"},
                    "radius": number(
                        "m",
                        "Of a pulley, in m; 0, with lifts_off: an edge.",
                        0.1,
                        title="Radius",
                        minimum=0,
                    ),
                    "axis": direction(
                        "Of a pulley, in the link; any length but zero. Pulleys between the same"
                        " two points have parallel axes, and keep them in all motions.",
                        [0, 1, 0],
                        title="Axis",
                        default=[0, 0, 1],
                    ),
                    "side": {
                        "title": "Side",
                        "description": "Where the pulley is, seen along the rope from its first"
                        " point with the axis up.",
                        "enum": ["left", "right"],
                        "examples": ["right"],
                    },
                    "lifts_off": {
                        "title": "Lifts off",
                        "description": "Whether the rope lifts off where it would be bent away,"
                        " as off a peg; default: the pulley keeps it.",
                        "type": "boolean",
                        "default": False,
                    },
                },
                "required": ["link"],
                "dependencies": {
                    **{key: ["radius"] for key in ("side", "axis", "lifts_off")},
                    "radius": ["side"],
                },
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
        points: list[_Point] = []
        for k, one in enumerate(data["points"]):
            with inside("", f"points.{k}"):
                points.append(_Point.from_data(one))
        for k in (0, len(points) - 1):
            if points[k].side:
                problem = "a rope begins and ends at points; take radius and side away"
                raise MechanismFileError(problem, place=f"points.{k}")
        for k, (one, other) in enumerate(pairwise(points)):
            if one.lifts_off and other.lifts_off:
                problem = f"it lifts off both this and points.{k}; put a point between them"
                raise MechanismFileError(problem, place=f"points.{k + 1}.lifts_off")
        return cls(float(data["length"]), tuple(points))

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The length."""
        model = setting.model
        fixed = {} if WORLD in model.link_names else {WORLD: model.description.root}
        with located(place="points"):
            names = [fixed.get(one.link, one.link) for one in self.points]
            frame = np.array([model.frame_index(name) for name in names], np.intp)
        part, moved = np.full(len(frame), 1.0 / len(frame)), model.ancestor_mask[frame]
        points = MassPoints(frame, part, np.array([one.place for one in self.points]), moved)
        side, axes = (
            np.array([x.side for x in self.points]),
            np.array([x.axis for x in self.points]),
        )
        ends = np.flatnonzero(side == 0.0)
        stretch = np.repeat(np.arange(len(ends) - 1), np.diff(ends))  # of each straight part
        carrier, pulleys = ends[stretch] + 1, np.flatnonzero(side)
        for k in pulleys.tolist():
            if self._reversed(k, int(carrier[k]), points, model):
                side[k] = -side[k]
        lifts = np.flatnonzero([self.points[k].lifts_off for k in pulleys])
        steps = np.eye(len(stretch))
        row = RopeRow(
            "length",
            length=self.length,
            points=points,
            radius=side * [one.radius for one in self.points],
            pulleys=pulleys,
            side=side[pulleys],
            middle=np.where([self.points[k].lifts_off for k in pulleys], 0.0, 0.5 * np.pi),
            lifts=lifts,
            past=steps[pulleys[lifts] - 1] + steps[pulleys[lifts]],
            carrier=carrier,
            axis=axes[carrier] * (side[carrier] != 0.0)[:, None],
            together=np.equal.outer(np.arange(len(ends) - 1), stretch).astype(float),
        )
        return (row,)

    def _reversed(self, k: int, first: int, points: MassPoints, model: RobotModel) -> bool:
        """Whether the axis of a pulley points against that of the first in its stretch.

        Raises:
            MechanismFileError: They are not parallel in all configurations, or the pulleys overlap.
        """
        workspace = model.workspace()
        turned = workspace.rotation[points.frame[[first, k]]]
        axis, other = apply(turned, np.array([self.points[k].axis for k in (first, k)]))
        turning = (points.moved[k] - points.moved[first])[:, None] * workspace.jacobian[3:].T
        for tilt, why in (
            (cross(axis, other), "is not parallel to"),
            (cross(turning, axis), "turns in some motions against"),
        ):
            if np.abs(tilt).max(initial=0.0) > _PARALLEL:
                raise MechanismFileError(
                    f"the axis of this pulley {why} that of points.{first}; give the rope a point"
                    " between them, or parallel axes",
                    place=f"points.{k}.axis",
                )
        return bool(axis @ other < 0.0)

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """Any length through two to four points, some with a pulley between them."""
        links = rng.choice(list(robot.links), int(rng.integers(2, 5)))
        points = [{"link": str(x), "xyz": rng.uniform(-0.5, 0.5, 3).tolist()} for x in links]
        if rng.uniform() < 0.5:
            axis, side = random_axis(rng), str(rng.choice(["left", "right"]))
            pulley = {"radius": float(rng.uniform(0.01, 0.05)), "side": side, "axis": axis}
            pulley["lifts_off"] = bool(rng.uniform() < 0.5)
            points.insert(1, {"link": str(rng.choice(list(robot.links))), **pulley})
        return {"length": float(rng.uniform(0.5, 3.0)), "points": points}
