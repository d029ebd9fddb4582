# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A rope that is led through points of several links, and over pulleys or round pegs."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.constraints.kinds.keys import direction, number, unit_axis
from uk_dynamics.constraints.kinds.kind import Data, Kind, SampleRobot, Setting, random_axis
from uk_dynamics.constraints.rows import MassPoints, RopeRow, apply, cross
from uk_dynamics.constraints.rows.row import Direction, Row
from uk_dynamics.exceptions import MechanismFileError, inside, located
from uk_dynamics.model import RobotModel
from uk_dynamics.model.urdf import WORLD

_PARALLEL = 1e-6  # rad: about the rounding of hand-written angles
_SIDES = {"left": 1.0, "right": -1.0}
_OF_PULLEYS = ("side", "axis", "lifts_off", "turns")


class _Point(NamedTuple):
    """A point of a rope, or a pulley."""

    link: str
    place: tuple[float, ...]  # in the link, in m
    side: float  # where a pulley is, 1: on the left, −1: on the right; 0: it is a point
    radius: float  # in m
    axis: Direction  # of a pulley in the link, a unit vector
    lifts_off: bool  # whether the rope may lift off, as off every drum
    turns: float | None  # on a drum while all joints are at 0; None: it is none

    @classmethod
    def from_data(cls, data: Data) -> "_Point":
        """Read one of the points."""
        place, side = map(float, data.get("xyz", (0.0, 0.0, 0.0))), data.get("side")
        radius, lifts_off = float(data.get("radius", 0.0)), data.get("lifts_off", False)
        if side is not None and not radius and (not lifts_off or "turns" in data):
            problem = "0 is an edge, which keeps no rope; give a radius, or lifts_off: true alone"
            raise MechanismFileError(problem, place="radius")
        turn, turns = 0.0 if side is None else _SIDES[side], data.get("turns")
        axis, off = unit_axis(data.get("axis", (0, 0, 1)), "axis"), lifts_off or turns is not None
        return cls(data["link"], tuple(place), turn, radius, axis, off, turns)


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
        " points: [{link: base}, {link: hook, xyz: [0, 0, 0.1]}, {link: base}, {link: load}]}"
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
            " which the rope lies on an arc. An end with turns is a drum, which a joint turns.",
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "link": {"$ref": "common.schema.json#/definitions/link"},
                    "xyz": {"$ref": "common.schema.json#/definitions/xyz"},
                    "radius": number("m", "Of a pulley, in m.", 0.1, title="Radius", minimum=0),
                    "axis": direction(
                        "Of a pulley, in the link; any length but zero. Between the same two points"
                        " all axes are parallel in all motions.",
                        [0, 1, 0],
                        title="Axis",
                        default=[0, 0, 1],
                    ),
                    "side": {
                        "title": "Side",
                        "description": "Where it is, seen along the rope with the axis up.",
                        "enum": ["left", "right"],
                        "examples": ["right"],
                    },
                    "lifts_off": {
                        "title": "Lifts off",
                        "description": "Whether the rope leaves it where the straight way clears"
                        " it, as a peg, or an edge, of radius 0; default: the pulley keeps it.",
                        "type": "boolean",
                        "default": False,
                    },
                    "turns": number(
                        "turns", "The turns on it, with joints at 0.", 5.0, title="Turns", minimum=0
                    ),
                },
                "required": ["link"],
                "dependencies": {"radius": ["side"]} | {key: ["radius"] for key in _OF_PULLEYS},
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
            end = k in (0, len(data["points"]) - 1)
            if points[k].side and end == (points[k].turns is None):
                problem = "take turns away; drums are where a rope begins or ends"
                if end:
                    problem = "ends are points, or drums: take radius and side away, or add turns"
                raise MechanismFileError(problem, place=f"points.{k}")
        if all(one.side for one in points):
            problem = "between its two drums it needs a point; or couple them by a joint_coupling"
            raise MechanismFileError(problem, place="points")
        for k, (one, other) in enumerate(pairwise(points)):
            if one.lifts_off and other.lifts_off:
                problem = f"it lifts off both this and points.{k}; put a point between them"
                raise MechanismFileError(problem, place=f"points.{k + 1}.lifts_off")
        return cls(float(data["length"]), tuple(points))

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The length."""
        model = setting.model
        fixed = {} if WORLD in model.link_names else {WORLD: model.description.root}
        # a drum is followed by the end on its rim, whose place comes of where the rope leaves it
        rims = [[x._replace(side=0.0)] * (x.turns is not None) for x in self.points]
        route = [*rims[0], *self.points, *rims[-1]]
        with located(place="points"):
            names = [fixed.get(one.link, one.link) for one in route]
            frame = np.array([model.frame_index(name) for name in names], np.intp)
        part, moved = np.full(len(frame), 1.0 / len(frame)), model.ancestor_mask[frame]
        points = MassPoints(frame, part, np.array([one.place for one in route]), moved)
        side, axes = (np.array([getattr(x, key) for x in route]) for key in ("side", "axis"))
        ends, pulleys = np.flatnonzero(side == 0.0), np.flatnonzero(side)
        stretch = np.repeat(np.arange(len(ends) - 1), np.diff(ends))  # of each straight part
        carrier = ends[stretch] + 1
        drums = [k for k in pulleys.tolist() if route[k].turns is not None]
        for k in drums:
            carrier[stretch == stretch[k]] = k
        for k in pulleys.tolist():
            with inside("", f"points.{k - len(rims[0])}.axis"):
                side[k] *= _along(axes, points, [int(carrier[k]), k], model)
        lifting = np.array([route[k].lifts_off for k in pulleys], dtype=bool)
        left_out, steps = pulleys[lifting], np.eye(len(stretch))
        row = RopeRow(
            "length",
            length=self.length,
            points=points,
            radius=side * [one.radius for one in route],
            pulleys=pulleys,
            side=side[pulleys],
            middle=np.where(lifting, 0.0, 0.5 * np.pi),
            winding=np.zeros((len(pulleys), model.nq)),
            lifts=lifting,
            past=steps[left_out - 1] + steps[left_out],
            carrier=carrier,
            axis=axes[carrier] * (side[carrier] != 0.0)[:, None],
            mark=np.zeros((len(stretch), 3)),
            together=np.equal.outer(np.arange(len(ends) - 1), stretch).astype(float),
        )
        for k in drums:
            with inside("", f"points.{k - len(rims[0])}"):
                _wind(row, k, k > len(rims[0]), route[k].turns or 0.0, model)
        return (row,)

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


def _along(axes: Array, points: MassPoints, two: list[int], model: RobotModel) -> float:
    """1 where the axes of two pulleys point the same way, −1 where against each other."""
    workspace = model.workspace()
    axis, other = apply(workspace.rotation[points.frame[two]], axes[two])
    turning = (points.moved[two[1]] - points.moved[two[0]])[:, None] * workspace.jacobian[3:].T
    for tilt, why in ((cross(axis, other), "not"), (cross(turning, axis), "in some motions not")):
        if np.abs(tilt).max(initial=0.0) > _PARALLEL:
            problem = f"{why} parallel to that of another pulley of the same part of the rope; give"
            raise MechanismFileError(f"{problem} it a point between them, or parallel axes")
    return 1.0 if axis @ other > 0.0 else -1.0


def _wind(row: RopeRow, k: int, last: bool, turns: float, model: RobotModel) -> None:
    """Tie a new rope to the rim of a drum, its point k, with turns on it at zero positions."""
    frame, workspace = model.body_frames[row.points.frame[k]], model.workspace()
    straight, rim, sense = (k - 1, k, 1.0) if last else (k, 0, -1.0)
    way = row.way(workspace, model.neutral())
    n, e, pulley = way.axis[k], way.e[straight], np.flatnonzero(row.pulleys == k)
    sense *= float(row.side[pulley[0]])
    if frame.body >= 0 and (body := model.bodies[frame.body]).kind == "revolute":
        row.winding[pulley, body.position] = sense * n @ workspace.jacobian[3:, body.velocity]
    if abs(np.abs(row.winding[pulley]).sum() - 1.0) > _PARALLEL**2:
        problem = "no joint of its own turns the link of this drum about its axis; correct the axis"
        raise MechanismFileError(f"{problem}, or name the link that turns", place="axis")
    if np.linalg.norm(e) < 1.0 - _PARALLEL:
        problem = "while all joints are at 0 the rope comes from inside of this drum, where its"
        raise MechanismFileError(f"{problem} turns cannot be counted; move a joint or the drum")
    row.middle[pulley] = angle = 2.0 * np.pi * turns
    direction = np.cos(angle) * e + sense * np.sin(angle) * np.cross(n, e)
    row.mark[rim] = workspace.rotation[row.points.frame[k]].T @ direction
    from_center = -row.radius[k] * np.cross(row.axis[rim], row.mark[rim])
    row.points.center[k + 1 if last else 0] += from_center
