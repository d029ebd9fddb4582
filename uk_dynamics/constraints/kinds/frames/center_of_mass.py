# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rows that hold a centre of mass: ψ = eᵀ (c − p), e and p fixed in the parent frame."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.constraints.kinds.frames.frame import random_axes
from uk_dynamics.constraints.kinds.keys import several
from uk_dynamics.constraints.kinds.kind import Kind, SampleRobot, Setting
from uk_dynamics.constraints.kinds.selections import AXES
from uk_dynamics.constraints.rows import FrameKinematics, MassPoints, cross
from uk_dynamics.constraints.rows.row import ConstraintTerms, Direction, RobotRow, Row, RowFamily
from uk_dynamics.exceptions import located


@dataclass(frozen=True)
class CenterOfMass(Kind):
    """The centre of mass of some links, or of all that move."""

    axes: tuple[str, ...]  # The constrained directions, of x y z, in declared order
    links: tuple[str, ...] = ()  # Whose masses count; empty: all that move
    name = "center_of_mass"
    removes = "one per axis"
    per = "axes"
    summary = "held: centre of mass in the parent frame, by default in the world"
    example = "balance: {type: center_of_mass, axes: [x, y], parent: {link: left_foot}}"
    frames = ()
    optional_frames = ("parent",)
    keys: ClassVar = {
        "axes": {
            "description": "Directions of the parent frame along which the centre of mass is held,"
            " of x y z; each at most once.",
            **several({"type": "string", "enum": ["x", "y", "z"]}),
            "examples": [["x", "y"]],
        },
        "links": {
            "description": "Links whose masses count; left out: all that move.",
            **several({"$ref": "common.schema.json#/definitions/link"}),
            "examples": [["left_arm", "right_arm"]],
        },
    }
    required = ("axes",)

    def rows(self, setting: Setting) -> tuple[Row, ...]:
        """A row per axis, in declared order."""
        with located(place="links"):
            masses = MassPoints.of(self.links, setting.model)
        parent = setting.frames.get("parent")
        moved = np.zeros(setting.model.nv)
        if parent is not None:
            moved = setting.model.ancestor_mask[parent]
        center = MassCenter(masses, parent, moved)
        return tuple(MassCenterRow(label, AXES[label], center) for label in self.axes)

    @classmethod
    def sample(cls, rng: np.random.Generator, robot: SampleRobot) -> dict[str, Any]:
        """Some axes in any order, and some of the links."""
        links = rng.permutation(list(robot.links))[: rng.integers(1, len(robot.links) + 1)]
        return {"axes": random_axes(rng, "xyz", "xyz"), "links": [str(link) for link in links]}


@dataclass(frozen=True, eq=False)
class MassCenter:
    """A centre of mass and where it is seen from."""

    masses: MassPoints  # Whose centre
    parent: int | None  # Frame index; None: the world
    parent_moved: Array  # 1 where a velocity coordinate moves the parent, (nv,)


@dataclass(frozen=True)
class MassCenterRow(RobotRow):
    """Centre of mass along ``direction`` of the parent frame, from its origin; in m."""

    direction: Direction
    center: MassCenter

    @classmethod
    def collect(
        cls, rows: "Sequence[tuple[str, MassCenterRow]]", nq: int, nv: int
    ) -> "MassCenterRows":
        """See :meth:`RobotRow.collect`."""
        directions: dict[MassCenter, list[Direction]] = {}
        for _, row in rows:
            directions.setdefault(row.center, []).append(row.direction)
        members = [_Member(center, np.array(found)) for center, found in directions.items()]
        return MassCenterRows(tuple(members))


@dataclass(frozen=True)
class _Member:
    """The rows of one constraint."""

    center: MassCenter
    direction: Array  # In the parent frame, (k, 3)

    def frame(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Directions in the world, (k, 3), and origin of the parent, (3,)."""
        parent = self.center.parent
        if parent is None:
            return self.direction, np.zeros(3)
        return self.direction @ kinematics.rotation[parent].T, kinematics.translation[parent]

    def carried(self, jacobian: Array, point: Array) -> Array:
        """Velocity of a point that moves with the parent, per joint velocity, (3, nv)."""
        return (jacobian[:3] + cross(jacobian[3:].T, point).T) * self.center.parent_moved

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """A (k, nv) and residual (k,) in m."""
        direction, origin = self.frame(kinematics)
        center = self.center.masses.position(kinematics)
        relative = self.center.masses.jacobian(kinematics) - self.carried(
            kinematics.jacobian, center
        )
        return direction @ relative, direction @ (center - origin)

    def evaluate(self, kinematics: FrameKinematics, v: Array) -> ConstraintTerms:
        """The second derivative takes in that directions turn with the parent, at Ω.

        With u = ċ − v_P(c), the velocity seen from the parent, it is e·(c̈ − d v_P(c)/dt − Ω × u).
        """
        A, residual = self.position(kinematics)
        direction, _ = self.frame(kinematics)
        center = self.center.masses.position(kinematics)
        velocity = self.center.masses.jacobian(kinematics) @ v
        carried = self.carried(kinematics.jacobian, center) @ v
        spin = kinematics.jacobian[3:] @ (self.center.parent_moved * v)
        carried_rate = self.carried(kinematics.jacobian_rate, center) @ v + cross(spin, velocity)
        seen = cross(spin, velocity - carried)
        acceleration = self.center.masses.bias(kinematics, v) - carried_rate - seen
        return ConstraintTerms(A, direction @ acceleration, residual, A @ v)

    def natural_scale(self, kinematics: FrameKinematics) -> Array:
        direction, _ = self.frame(kinematics)
        center = self.center.masses.position(kinematics)
        own = direction @ self.center.masses.jacobian(kinematics)
        return np.abs(own) + np.abs(direction @ self.carried(kinematics.jacobian, center))


@dataclass(frozen=True)
class MassCenterRows(RowFamily):
    """Rows of all ``center_of_mass`` constraints of a set, in their order."""

    members: tuple[_Member, ...]

    def position(self, kinematics: FrameKinematics, t: float, q: Array) -> tuple[Array, Array]:
        """A and residuals in m; see :class:`RowFamily`."""
        found = [member.position(kinematics) for member in self.members]
        return np.concatenate([A for A, _ in found]), np.concatenate([psi for _, psi in found])

    def evaluate(
        self, kinematics: FrameKinematics, t: float, q: Array, v: Array
    ) -> ConstraintTerms:
        """The rows at a state; see :class:`RowFamily`."""
        found = [member.evaluate(kinematics, v) for member in self.members]
        return ConstraintTerms(*map(np.concatenate, zip(*found, strict=True)))

    def natural_scale(self, kinematics: FrameKinematics, q: Array) -> Array:
        """Magnitudes of the centre's and the parent's part, added."""
        return np.concatenate([member.natural_scale(kinematics) for member in self.members])
