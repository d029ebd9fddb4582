"""Rows that hold a centre of mass: ψ = eᵀ (c − p), e and p fixed in the parent frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from uk_dynamics.constraints.constraint import Constraint
from uk_dynamics.constraints.mass_points import MassPoints
from uk_dynamics.constraints.relative_motion import FrameKinematics
from uk_dynamics.constraints.row_family import Rows
from uk_dynamics.constraints.row_types import MassCenterRow
from uk_dynamics.constraints.vectors import Array


@dataclass(frozen=True)
class _Member:
    """The rows of one constraint.

    Attributes:
        masses: Whose centre.
        direction: In the parent frame, (k, 3).
        parent: Frame, None for the world.
        parent_moved: 1 where a velocity coordinate moves the parent, (nv,).
    """

    masses: MassPoints
    direction: Array
    parent: int | None
    parent_moved: Array

    def frame(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Directions in the world, (k, 3), and origin of the parent, (3,)."""
        if self.parent is None:
            return self.direction, np.zeros(3)
        return (
            self.direction @ kinematics.rotation[self.parent].T,
            kinematics.translation[self.parent],
        )

    def carried(self, jacobian: Array, point: Array) -> Array:
        """Velocity of a point that moves with the parent, per joint velocity, (3, nv)."""
        columns: Array = jacobian[:3] + np.cross(jacobian[3:].T, point).T
        return columns * self.parent_moved

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """A (k, nv) and residual (k,) in m."""
        direction, origin = self.frame(kinematics)
        center = self.masses.position(kinematics)
        relative = self.masses.jacobian(kinematics) - self.carried(kinematics.jacobian, center)
        return direction @ relative, direction @ (center - origin)

    def evaluate(self, kinematics: FrameKinematics, v: Array) -> Rows:
        """The second derivative takes in that directions turn with the parent, at Ω.

        With u = ċ − v_P(c), the velocity seen from the parent, it is e·(c̈ − d v_P(c)/dt − Ω × u).
        """
        A, residual = self.position(kinematics)
        direction, _ = self.frame(kinematics)
        center = self.masses.position(kinematics)
        velocity = self.masses.jacobian(kinematics) @ v
        carried = self.carried(kinematics.jacobian, center) @ v
        spin = kinematics.jacobian[3:] @ (self.parent_moved * v)
        carried_rate = self.carried(kinematics.jacobian_rate, center) @ v + np.cross(spin, velocity)
        seen = np.cross(spin, velocity - carried)
        acceleration = self.masses.bias(kinematics, v) - carried_rate - seen
        return Rows(A, direction @ acceleration, residual, A @ v)

    def natural_scale(self, kinematics: FrameKinematics) -> Array:
        direction, _ = self.frame(kinematics)
        center = self.masses.position(kinematics)
        own = direction @ self.masses.jacobian(kinematics)
        return np.abs(own) + np.abs(direction @ self.carried(kinematics.jacobian, center))


@dataclass(frozen=True)
class MassCenterRows:
    """Rows of all ``center_of_mass`` constraints of a set, in their order."""

    members: tuple[_Member, ...]

    @classmethod
    def of(cls, constraints: tuple[Constraint, ...], nq: int, nv: int) -> MassCenterRows:
        """Collect the rows of constraints that have a centre of mass."""
        members = []
        for constraint in constraints:
            rows = [row for row in constraint.rows if isinstance(row, MassCenterRow)]
            if rows and constraint.masses is not None:
                parent_moved = constraint.parent_moved
                members.append(
                    _Member(
                        masses=constraint.masses,
                        direction=np.array([row.direction for row in rows]),
                        parent=constraint.parent,
                        parent_moved=np.zeros(nv) if parent_moved is None else parent_moved,
                    )
                )
        return cls(tuple(members))

    @property
    def time_dependent(self) -> bool:
        """False: only references bring time in."""
        return False

    @property
    def linear_in_rates(self) -> bool:
        """True: rates are A v."""
        return True

    def position(self, kinematics: FrameKinematics, t: float, q: Array) -> tuple[Array, Array]:
        """A and residuals in m; see :class:`RowFamily`."""
        found = [member.position(kinematics) for member in self.members]
        return np.concatenate([A for A, _ in found]), np.concatenate([psi for _, psi in found])

    def evaluate(self, kinematics: FrameKinematics, t: float, q: Array, v: Array) -> Rows:
        """The rows at a state; see :class:`RowFamily`."""
        found = [member.evaluate(kinematics, v) for member in self.members]
        return Rows(*map(np.concatenate, zip(*found, strict=True)))

    def natural_scale(self, kinematics: FrameKinematics, q: Array) -> Array:
        """Magnitudes with centre and parent taken apart."""
        return np.concatenate([member.natural_scale(kinematics) for member in self.members])
