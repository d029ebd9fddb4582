# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Centroidal momentum: of links as a whole, and angular about their centre of mass.

With c the centre of mass, r = cᵢ − c and the twist of each link, p = Σ mᵢ ċᵢ and
L = Σ r × mᵢ ċᵢ + Iᵢ ωᵢ in axes of the world (Orin, Goswami and Lee, Autonomous Robots 35, 2013).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.constraints.kinds import keys
from uk_dynamics.constraints.kinds.frames.center_of_mass import CenterOfMass
from uk_dynamics.constraints.kinds.frames.frame import random_axes
from uk_dynamics.constraints.kinds.kind import Kind, SampleRobot, Setting
from uk_dynamics.constraints.rows import FrameKinematics, MassPoints, apply, cross
from uk_dynamics.constraints.rows.row import ConstraintTerms, RobotRow, Row, RowFamily
from uk_dynamics.exceptions import located

_LABELS = ("x", "y", "z", "rx", "ry", "rz")


@dataclass(frozen=True)
class Momentum(Kind):
    """Linear and angular momentum of some links, or of all that move."""

    axes: tuple[str, ...]  # of x y z rx ry rz, in declared order
    links: tuple[str, ...] = ()  # whose momentum it is; empty: all that move
    name = "momentum"
    removes = "one per axis"
    per = "axes"
    order = "velocity"
    summary = "held: linear momentum, and angular momentum about the centre of mass, in the world"
    example = "calm: {type: momentum, axes: [rx, ry, rz]}"
    frames = ()
    keys: ClassVar = {
        "axes": keys.AXES
        | {
            "title": "Components",
            "description": "Components in axes of the world: x y z of the linear momentum in kg"
            " m/s, rx ry rz of the angular momentum about the centre of mass in kg m²/s; each at"
            " most once. Rotors of `armature` do not count.",
            "examples": [["rx", "ry", "rz"]],
        },
        "links": {
            **CenterOfMass.keys["links"],
            "description": "Links whose momentum it is; left out: all that move.",
        },
    }
    required = ("axes",)

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """A row per component, in declared order."""
        with located(place="links"):
            bodies = _Bodies.of(self.links, setting)
        return tuple(MomentumRow(label, bodies) for label in self.axes)

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """Some components in any order, and some of the links."""
        found = CenterOfMass.sample(rng, robot)
        return {"axes": random_axes(rng, _LABELS, _LABELS), "links": found["links"]}


@dataclass(frozen=True, eq=False)
class _Bodies:
    """Bodies and their momentum."""

    points: MassPoints
    mass: Array  # (n,), in kg
    inertia: Array  # about centres of mass in axes of the links, (n, 3, 3), in kg m²

    @classmethod
    def of(cls, names: Sequence[str], setting: Setting) -> "_Bodies":
        points = MassPoints.of(names, setting.model)
        named = {setting.model.frame_index(x.name): x for x in setting.model.description.links}
        links = [named[int(frame)] for frame in points.frame]
        return cls(points, np.array([x.mass for x in links]), np.array([x.inertia for x in links]))

    def at(self, kinematics: FrameKinematics) -> tuple[Array, Array, Array]:
        """Centres of mass from that of all, (n, 3), that one, (3,), and inertias, (n, 3, 3)."""
        places, center = self.points.places(kinematics), self.points.position(kinematics)
        rotation = kinematics.rotation.take(self.points.frame, 0)
        return places - center, center, rotation @ self.inertia @ rotation.transpose(0, 2, 1)

    def matrix(self, kinematics: FrameKinematics) -> tuple[Array, Array, Array]:
        """Momentum per velocity: linear, and the two parts of the angular one, (3, nv) each.

        A coordinate moves the links beyond it as one body, whose mass is away from the centre of
        all (first part), and is spread about it (second part).
        """
        away, center, inertia = self.at(kinematics)
        moved = self.points.moved
        linear, angular = kinematics.jacobian[:3].T, kinematics.jacobian[3:].T
        squares = (away * away).sum(axis=1)[:, None, None] * np.eye(3)
        spread = inertia + self.mass[:, None, None] * (
            squares - away[:, :, None] * away[:, None, :]
        )
        first = moved.T @ (self.mass[:, None] * away)
        second = (moved.T @ spread.reshape(-1, 9)).reshape(-1, 3, 3)
        there = linear + cross(angular, np.broadcast_to(center, angular.shape))
        return (
            self.mass.sum() * self.points.jacobian(kinematics),
            cross(first, there).T,
            apply(second, angular).T,
        )

    def bias(self, kinematics: FrameKinematics, v: Array) -> Array:
        """Rate of the momentum at zero joint acceleration, (6,), in N and N m."""
        away, _, inertia = self.at(kinematics)
        spin, turning, acceleration = self.points.motion(kinematics, v)
        pull = self.mass[:, None] * acceleration
        turn = apply(inertia, turning) + cross(spin, apply(inertia, spin))
        return np.concatenate((pull.sum(axis=0), (cross(away, pull) + turn).sum(axis=0)))


@dataclass(frozen=True)
class MomentumRow(RobotRow):
    """One component, in kg m/s or kg m²/s."""

    bodies: _Bodies
    of_positions: ClassVar[str] = ""  # no row has this label

    @classmethod
    def collect(cls, rows: "Sequence[tuple[str, MomentumRow]]", nq: int, nv: int) -> "MomentumRows":
        """See :meth:`RobotRow.collect`."""
        places: dict[_Bodies, list[int]] = {}
        for _, row in rows:
            places.setdefault(row.bodies, []).append(_LABELS.index(row.label))
        return MomentumRows(tuple((bodies, np.array(x)) for bodies, x in places.items()))


@dataclass(frozen=True)
class MomentumRows(RowFamily):
    """Rows of all ``momentum`` constraints of a set, in their order."""

    members: tuple[tuple[_Bodies, Indices], ...]  # with places among the components

    def position(self, kinematics: FrameKinematics, t: float, q: Array) -> tuple[Array, Array]:
        """A, and zeros; see :class:`RowFamily`."""
        found = []
        for bodies, places in self.members:
            linear, first, second = bodies.matrix(kinematics)
            found.append(np.concatenate((linear, first + second)).take(places, 0))
        A = np.concatenate(found)
        return A, np.zeros(len(A), dtype=A.dtype)

    def evaluate(
        self, kinematics: FrameKinematics, t: float, q: Array, v: Array
    ) -> ConstraintTerms:
        """The rows at a state; see :class:`RowFamily`."""
        A, zeros = self.position(kinematics, t, q)
        found = [bodies.bias(kinematics, v).take(places, 0) for bodies, places in self.members]
        return ConstraintTerms(A, np.concatenate(found), zeros, A @ v)

    def natural_scale(self, kinematics: FrameKinematics, q: Array) -> Array:
        """Magnitudes of the parts, added."""
        found = []
        for bodies, places in self.members:
            linear, first, second = bodies.matrix(kinematics)
            sizes = np.abs(linear), np.abs(first) + np.abs(second)
            found.append(np.concatenate(sizes).take(places, 0))
        return np.concatenate(found)
