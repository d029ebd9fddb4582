# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A rope that is led through points of several links, and over pulleys without friction.

A pulley is a cylinder that a link carries, without ends. Between two points the pulleys of a rope
have parallel axes; across these its way is tangents and arcs, s = Σ t + Σ R w, and unrolled its
length is √(s² + z²), as round a peg. Tension on both sides of a pulley acts through its centre.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from uk_dynamics.arrays import Indices
from uk_dynamics.constraints.kinds.frames.center_of_mass import MassPoints
from uk_dynamics.constraints.kinds.keys import direction, number, unit_axis
from uk_dynamics.constraints.kinds.kind import Data, Kind, SampleRobot, Setting, random_axis
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics
from uk_dynamics.constraints.rows.row import ConstraintTerms, Direction, RobotRow, Row, RowFamily
from uk_dynamics.constraints.rows.vectors import Array, apply, cross, dot
from uk_dynamics.core.linalg import at_least, polar_angle, square_root
from uk_dynamics.exceptions import MechanismFileError, located
from uk_dynamics.model import RobotModel
from uk_dynamics.model.urdf import WORLD

_TINY = 1e-300  # coinciding points give no direction instead of NaN
_PARALLEL = 1e-6  # rad: about the rounding of hand-written angles


@dataclass(frozen=True)
class Rope(Kind):
    """The length of a way through points and over pulleys."""

    length: float  # in m, positive
    links: tuple[str, ...]  # of the points, in the order in which it is led through them
    places: tuple[tuple[float, ...], ...]  # of the points in their links, in m
    radii: tuple[float, ...]  # of the pulleys, in m, negative on the right; 0: a point
    axes: tuple[Direction, ...]  # of the pulleys in their links, unit vectors
    name = "rope"
    removes = 1
    summary = "held: the length of a rope through points of several links, and over pulleys"
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
            " ends; xyz in the link, in m. With a radius it is the centre of a pulley, over which"
            " the rope lies on an arc.",
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "link": {"$ref": "common.schema.json#/definitions/link"},
                    "xyz": {"$ref": "common.schema.json#/definitions/xyz"},
                    "radius": number(
                        "m", "Of a pulley, in m.", 0.1, title="Radius", exclusiveMinimum=0
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
                },
                "required": ["link"],
                "dependencies": {"radius": ["side"], "side": ["radius"], "axis": ["radius"]},
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
        sides = {"left": 1.0, "right": -1.0}
        radii = [sides[x["side"]] * float(x["radius"]) if "radius" in x else 0.0 for x in points]
        for k in (0, -1):
            if radii[k]:
                problem = "a rope begins and ends at points; take radius and side away"
                raise MechanismFileError(problem, place=f"points.{k % len(points)}")
        axes = (
            unit_axis(x.get("axis", (0, 0, 1)), f"points.{k}.axis") for k, x in enumerate(points)
        )
        links = tuple(x["link"] for x in points)
        return cls(float(data["length"]), links, tuple(places), tuple(radii), tuple(axes))

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """The length."""
        model = setting.model
        fixed = {} if WORLD in model.link_names else {WORLD: model.description.root}
        with located(place="points"):
            frame = np.array([model.frame_index(fixed.get(x, x)) for x in self.links], np.intp)
        part, moved = np.full(len(frame), 1.0 / len(frame)), model.ancestor_mask[frame]
        points = MassPoints(frame, part, np.array(self.places), moved)
        ends = np.flatnonzero(np.array(self.radii) == 0.0)
        stretch = np.repeat(np.arange(len(ends) - 1), np.diff(ends))  # of each straight part
        carrier, radius = ends[stretch] + 1, np.array(self.radii)
        for k in np.flatnonzero(radius).tolist():
            if self._reversed(k, int(carrier[k]), points, model):
                radius[k] = -radius[k]
        axis = np.array(self.axes)[carrier] * (radius[carrier] != 0.0)[:, None]
        together = np.equal.outer(np.arange(len(ends) - 1), stretch).astype(float)
        return (RopeRow("length", self.length, points, radius, carrier, axis, together),)

    def _reversed(self, k: int, first: int, points: MassPoints, model: RobotModel) -> bool:
        """Whether the axis of a pulley points against that of the first in its stretch.

        Raises:
            MechanismFileError: They are not parallel in all configurations, or the pulleys overlap.
        """
        workspace = model.workspace()
        turned = workspace.rotation[points.frame[[first, k]]]
        axis, other = apply(turned, np.array(self.axes)[[first, k]])
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
            points.insert(1, {"link": str(rng.choice(list(robot.links))), **pulley})
        return {"length": float(rng.uniform(0.5, 3.0)), "points": points}


class _Way(NamedTuple):
    """Where a rope is, in world axes; k straight parts."""

    points: Array  # it is led through, centres of pulleys among them, (k + 1, 3), in m
    step: Array  # from each to the next, (k, 3)
    axis: Array  # of the pulleys there, (k, 3); zero: there are none
    size: Array  # of each straight part across the axis, (k,)
    e: Array  # its direction across the axis, (k, 3)
    arcs: Array  # angles on the pulleys, (p,)
    lengths: Array  # of the stretches between points: across the axis, along it, unrolled, (3, s)
    pull: Array  # direction of tension, (k, 3)


@dataclass(frozen=True, eq=False)
class RopeRow(RobotRow):
    """Length of a rope, in m."""

    length: float
    points: MassPoints
    radius: Array  # of pulleys, (k + 1,), negative on the right, seen against the axis; 0: a point
    carrier: Indices  # which of the points carries the axis of each straight part, (k,)
    axis: Array  # of the pulleys at each straight part in that link, (k, 3); zero: there are none
    together: Array  # which straight parts are one stretch between two points, (s, k)

    @classmethod
    def collect(cls, rows: "Sequence[tuple[str, RopeRow]]", nq: int, nv: int) -> "RopeRows":
        """See :meth:`RobotRow.collect`."""
        return RopeRows(tuple(row for _, row in rows))

    def way(self, kinematics: FrameKinematics) -> _Way:
        """Where it is: d = t e + (Rₖ₊₁ − Rₖ) n × e across the axes n, and w from part to part."""
        points = self.points.places(kinematics)
        step, offset = points[1:] - points[:-1], self.radius[1:] - self.radius[:-1]
        turned = kinematics.rotation.take(self.points.frame[self.carrier], 0)
        axis = apply(turned, self.axis)
        height = dot(axis, step)
        flat = step - height[:, None] * axis
        square = at_least(dot(flat, flat) - offset**2, 0.0) + _TINY
        size = square_root(square)
        e = size[:, None] * flat - offset[:, None] * cross(axis, flat)
        e = e / (square + offset**2)[:, None]
        across, arcs = self.together @ size, size[:0]
        if (pulley := np.flatnonzero(self.radius)).size:
            met, left, radius = e[pulley - 1], e[pulley], self.radius[pulley]
            sine = np.sign(radius) * dot(axis[pulley], cross(met, left))
            arcs = polar_angle(-dot(met, left), sine) + 0.5 * np.pi  # between −π/2 and 3π/2
            across = across + self.together[:, pulley] @ (np.abs(radius) * arcs)
        along = self.together @ height
        total = square_root(across * across + along * along + _TINY)
        parts = self.together.T
        pull = (parts @ (across / total))[:, None] * e + (parts @ (along / total))[:, None] * axis
        return _Way(points, step, axis, size, e, arcs, np.stack((across, along, total)), pull)

    def pulled(self, kinematics: FrameKinematics, points: Array, forces: Array) -> Array:
        """Generalized force of forces on the points, (k + 1, 3) each: (nv,)."""
        wrenches = np.concatenate((forces, cross(points, forces)), axis=1)
        found: Array = ((self.points.moved.T @ wrenches) * kinematics.jacobian.T).sum(axis=1)
        return found

    def row(self, kinematics: FrameKinematics, way: _Way) -> Array:
        """A, (nv,): the rope does not turn the link whose pulleys keep it across their axes."""
        none = np.zeros((1, 3))
        forces = np.concatenate((none, way.pull)) - np.concatenate((way.pull, none))
        moments = self._carried.T @ cross(way.step, way.pull)
        turned: Array = (moments * kinematics.jacobian[3:].T).sum(axis=1)
        return self.pulled(kinematics, way.points, forces) - turned

    @property
    def _carried(self) -> Array:
        """1 where a velocity moves the link that carries the axis of a straight part, (k, nv)."""
        found: Array = self.points.moved[self.carrier] * np.any(self.axis, axis=1, keepdims=True)
        return found

    def evaluate(self, kinematics: FrameKinematics, v: Array) -> tuple[Array, Array, Array]:
        """Row (nv,), residual, and ψ̈ at q̈ = 0: Σ (s s̈ + ṡ² + z z̈ + ż² − ℓ̇²)/ℓ of stretches.

        Motions are seen from the links that carry the axes. A straight part adds
        e·Δa + (|u|² − (e·u)²)/t to s̈, with u = Δv across the axis.
        """
        way = self.way(kinematics)
        jacobian, moving = kinematics.jacobian, self.points.moved * v
        velocity = moving @ jacobian[:3].T + cross(moving @ jacobian[3:].T, way.points)
        _, _, acceleration = self.points.motion(kinematics, v)
        carried = self._carried * v
        spin, turning = carried @ jacobian[3:].T, carried @ kinematics.jacobian_rate[3:].T
        seen = velocity[1:] - velocity[:-1] - cross(spin, way.step)
        twice = cross(turning, way.step) + cross(spin, cross(spin, way.step) + 2.0 * seen)
        change = acceleration[1:] - acceleration[:-1] - twice
        climb = dot(way.axis, seen)
        u = seen - climb[:, None] * way.axis
        along = dot(way.e, u)
        bend = dot(way.e, change) + (dot(u, u) - along * along) / way.size
        rates = np.stack((along, bend, climb, dot(way.axis, change)), axis=1)
        (s, z, length), (s_1, s_2, z_1, z_2) = way.lengths, (self.together @ rates).T
        rate = (s * s_1 + z * z_1) / length
        bias = (s * s_2 + s_1 * s_1 + z * z_2 + z_1 * z_1 - rate * rate) / length
        return self.row(kinematics, way), length.sum() - self.length, bias.sum()


@dataclass(frozen=True)
class RopeRows(RowFamily):
    """Rows of all ropes of a set, in their order: ψ = Σ ℓ − L."""

    ropes: tuple[RopeRow, ...]

    def position(self, kinematics: FrameKinematics, t: float, q: Array) -> tuple[Array, Array]:
        """A and residuals in m; see :class:`RowFamily`."""
        found = [(rope, rope.way(kinematics)) for rope in self.ropes]
        psi = [way.lengths[2].sum() - rope.length for rope, way in found]
        return np.stack([rope.row(kinematics, way) for rope, way in found]), np.stack(psi)

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
            way = rope.way(kinematics)
            ends = np.zeros((2, *way.points.shape))
            ends[0, 1:], ends[1, :-1] = way.pull, way.pull
            found.append(sum(np.abs(rope.pulled(kinematics, way.points, end)) for end in ends))
        return np.array(found)
