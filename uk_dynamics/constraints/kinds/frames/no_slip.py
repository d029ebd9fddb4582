# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rows of a wheel, disc or blade that touches a plane: it rolls, does not slide, stays on it.

With n the normal of the plane (fixed in the parent) and a the axle (fixed in the child), the wheel
heads along h = a × n / |a × n|, sideways is s = n × h, and the point of the rim that is next to the
plane is c = −r u from the centre, u = (n − a (a·n)) / |a × n|. All of them turn inside both bodies,
so these rows are a family of their own. The body's velocity at the contact is w = u̇ + ω × c.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from uk_dynamics.constraints.kinds.keys import direction, number, several, unit_axis
from uk_dynamics.constraints.kinds.kind import Data, Kind, SampleRobot, Setting, random_axis
from uk_dynamics.constraints.rows.frame_rows import force_through
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics, RelativeTwist
from uk_dynamics.constraints.rows.row import Direction, FrameRow, FrameRows, Row, RowFrames
from uk_dynamics.constraints.rows.vectors import Array, apply, cross, dot
from uk_dynamics.core.linalg import square_root
from uk_dynamics.exceptions import MechanismFileError

#: The directions, in the order of their rows.
_PARTS = ("rolling", "sideways", "height")
_TINY = 1e-300  # a wheel lying flat has no heading: a zero row, which the rank rule reports


@dataclass(frozen=True)
class NoSlip(Kind):
    """A wheel, disc or blade on a plane through the parent's origin."""

    normal: Direction  # Of the plane, in the parent frame, unit
    axle: Direction  # In the child frame, unit
    radius: float  # Of the wheel, in m; 0: a blade
    # Of the contact's velocity that vanish, of rolling, sideways; height: it touches
    directions: tuple[str, ...]
    name = "no_slip"
    removes = "one per direction"
    per = "directions"
    order = "velocity, `height`: position"
    summary = "held: the contact of a wheel or blade, which does not slide and may lean"
    example = (
        "wheel: {type: no_slip, radius: 0.1, axis: [0, 1, 0], parent: {link: world},"
        " child: {link: wheel}}"
    )
    keys: ClassVar = {
        "radius": number(
            "m",
            "Radius of the wheel in m; default 0: a blade or skate, whose contact is the child's"
            " origin.",
            0.1,
            minimum=0,
            default=0.0,
        ),
        "axis": direction(
            "Direction of the axle in the child frame, whose origin is the centre of the wheel (for"
            " a blade: direction across it); default [0, 1, 0]. With normal z and axle y the wheel"
            " heads along x.",
            [0, 1, 0],
            title="Axle",
            default=[0, 1, 0],
        ),
        "normal": direction(
            "Normal of the ground in the parent frame, through whose origin the ground goes;"
            " default [0, 0, 1].",
            [0, 0, 1],
            default=[0, 0, 1],
        ),
        "directions": {
            "description": "rolling and sideways: the contact point does not slide along or across"
            " the heading; height: the wheel stays on the ground, for wheels that may lean. Default"
            " [rolling, sideways], for a blade [sideways].",
            **several({"type": "string", "enum": list(_PARTS)}),
            "examples": [["rolling", "sideways"]],
        },
    }

    @classmethod
    def from_data(cls, data: Data) -> "NoSlip":
        """See :meth:`Kind.from_data`."""
        radius = float(data.get("radius", 0.0))
        directions = data.get("directions", ["rolling", "sideways"] if radius else ["sideways"])
        if not radius and "rolling" in directions:
            problem = "a blade (radius 0) cannot roll; give a radius, such as 0.1, or [sideways]"
            raise MechanismFileError(problem, place="directions")
        return cls(
            normal=unit_axis(data.get("normal", (0, 0, 1)), "normal"),
            axle=unit_axis(data.get("axis", (0, 1, 0)), "axis"),
            radius=radius,
            # The order of the rows is always the same, whatever the order in the file.
            directions=tuple(part for part in _PARTS if part in directions),
        )

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """A row per direction: rolling, sideways, height."""
        return tuple(
            RollingRow(part, self.normal, self.axle, self.radius) for part in self.directions
        )

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """A wheel that leans on a sloping plane."""
        return {
            "radius": float(rng.uniform(0.1, 0.6)),
            "axis": random_axis(rng),
            "normal": random_axis(rng),
            "directions": list(_PARTS),
        }


@dataclass(frozen=True)
class RollingRow(FrameRow):
    """One direction of a wheel's contact with a plane, which is its label."""

    normal: Direction  # Of the plane, in the parent frame, unit
    axle: Direction  # In the child frame, unit
    radius: float  # In m; zero for a blade
    of_positions: ClassVar[str] = "height"  # sliding is a matter of velocities

    @property
    def selection(self) -> Array:
        """1 for its direction among those of a wheel, (3,)."""
        chosen: Array = np.eye(3)[_PARTS.index(self.label)]
        return chosen


class _Contact(NamedTuple):
    """Vectors of m rows in the world, (m, 3), and numbers, (m, 1)."""

    normal: Array  # n
    axle: Array  # a
    cosine: Array  # a·n, 0 for an upright wheel
    lean: Array  # |a × n|, 1 for an upright wheel
    heading: Array  # h
    sideways: Array  # s = n × h = (a − n (a·n)) / |a × n|
    up: Array  # u, from the contact to the centre
    arm: Array  # c, from the centre to the contact, in m


@dataclass(frozen=True)
class RollingRows(FrameRows, of=RollingRow):
    """Velocity of the contact point along h or s (ψ̇ = h·w), or its height (ψ = n·d − r|a × n|).

    The height's rate is n·w, since the contact is the lowest point of the rim. A blade or skate is
    a wheel of radius zero, of which only the sideways row is meant.
    """

    # Frames of the rows: the plane goes through the parent's origin, the child's origin is the
    # centre of the wheel
    frames: RowFrames
    normal: Array  # n in the parent frame, unit, (m, 3)
    axle: Array  # a in the child frame, unit, (m, 3)
    radius: Array  # r, (m,), in m
    selection: Array  # 1 for the direction of the row among h, s, n, (m, 3)
    turning: ClassVar[bool] = True

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (m, 6), and residuals (m,) in m, zero for rows of velocity level."""
        point, offset = self.frames.origins(kinematics)
        contact = self._contact(kinematics)
        force = self._directions(contact.heading, contact.sideways, contact.normal)
        height = dot(contact.normal, offset) - self.radius * contact.lean[:, 0]
        return force_through(point + contact.arm, force), self.selection[:, 2] * height

    def extra_bias(self, kinematics: FrameKinematics, twist: RelativeTwist) -> Array:
        """h'·w + h·(ω × c') with ' the derivative seen from the parent, (m,), in m/s².

        In it a' = ω × a, (a·n)' = a'·n and |a × n|' = −(a·n)(a·n)'/|a × n|.
        """
        n, a, cosine, lean, h, s, up, arm = self._contact(kinematics)
        pair = self.frames.pair
        omega = twist.angular.take(pair, 0)
        velocity = twist.linear.take(pair, 0) + cross(omega, arm)
        axle_rate = cross(omega, a)
        cosine_rate = dot(axle_rate, n)[:, None]
        growth = cosine * cosine_rate / lean
        heading_rate = (cross(axle_rate, n) + growth * h) / lean
        sideways_rate = (axle_rate - cosine_rate * n + growth * s) / lean
        up_rate = (growth * up - cosine * axle_rate - cosine_rate * a) / lean
        arm_rate = -self.radius[:, None] * up_rate
        direction_rate = self._directions(heading_rate, sideways_rate, np.zeros_like(n))
        direction = self._directions(h, s, n)
        return dot(direction_rate, velocity) + dot(direction, cross(omega, arm_rate))

    def _directions(self, heading: Array, sideways: Array, normal: Array) -> Array:
        chosen = self.selection[:, :, None]
        return chosen[:, 0] * heading + chosen[:, 1] * sideways + chosen[:, 2] * normal

    def _contact(self, kinematics: FrameKinematics) -> _Contact:
        rotation = kinematics.rotation
        n = apply(rotation.take(self.frames.parent, 0), self.normal)
        a = apply(rotation.take(self.frames.child, 0), self.axle)
        ahead = cross(a, n)
        cosine = dot(a, n)[:, None]
        lean = square_root(dot(ahead, ahead) + _TINY)[:, None]
        up = (n - cosine * a) / lean
        return _Contact(
            normal=n,
            axle=a,
            cosine=cosine,
            lean=lean,
            heading=ahead / lean,
            sideways=(a - cosine * n) / lean,
            up=up,
            arm=-self.radius[:, None] * up,
        )
