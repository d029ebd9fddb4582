# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rows selected from the relative motion of frame pairs, family by family, all vectorised.

Each family turns frames into wrenches (f, n), (m, 6), and residuals (m,), and twists into the
second-derivative term that the wrench alone does not carry (where there is one).

Of a rotation vector some components may be free: ψ = cᵀ log(E). Three angular rows together may use
the angular velocity as their rate, since all three vanish at once. One or two may not: cᵀω = 0
constrains a velocity, but no coordinate of the body. There the rate is that of the rotation vector
φ itself, φ̇ = J⁻¹(φ) ω_E with the left Jacobian J of SO(3), so ψ is exact at any angle below π.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

import uk_dynamics.core.linalg.rotations as so3
from uk_dynamics.arrays import Array, Indices
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics, RelativeTwist
from uk_dynamics.constraints.rows.row import Direction, FrameRow, FrameRows, RowFrames
from uk_dynamics.constraints.rows.vectors import Bilinear, apply, cross, dot

_AS_COUPLE = np.eye(6)[3:]  # a moment as a wrench without force
_MOMENT = Bilinear((3, 0, 0))  # point × force where a wrench has its moment


@dataclass(frozen=True)
class LinearRow(FrameRow):
    """Child origin along ``direction`` of the parent frame."""

    direction: Direction


@dataclass(frozen=True)
class LinearRows(FrameRows, of=LinearRow):
    """Child origin in the parent frame along constant directions: ψ = eᵀ d."""

    frames: RowFrames
    direction: Array  # Unit vectors in the parent frame, (m, 3)

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (m, 6) and residuals (m,) in m."""
        point, offset = self.frames.origins(kinematics)
        e = apply(kinematics.rotation.take(self.frames.parent, 0), self.direction)
        return force_through(point, e), dot(e, offset)


@dataclass(frozen=True)
class AngularRow(FrameRow):
    """Rotation vector of the child along ``direction`` of the parent frame."""

    direction: Direction
    rotation: ClassVar[bool] = True
    exact_rate: ClassVar[bool] = False
    of_length: ClassVar[str] = "direction"


@dataclass(frozen=True)
class AngularRows(FrameRows, of=AngularRow):
    """Rotation vector of the child in the parent frame along constant directions: ψ = cᵀ log(R).

    The rate is cᵀ ω, the geometric rate; it equals ψ̇ where the rotation vanishes, and for three
    rows d|ψ|²/dt = 2 ψᵀω everywhere, so stabilisation converges from any angle below π.
    """

    frames: RowFrames
    # Vectors in the parent frame with the declared length as their norm, (m, 3), m
    direction: Array

    def position(
        self, kinematics: FrameKinematics, reference_rotation: Array | None = None
    ) -> tuple[Array, Array]:
        """Wrenches (m, 6) and residuals (m,) in rad times the declared length."""
        parent, error = self.frames.turned(kinematics, reference_rotation)
        return couple(apply(parent, self.direction)), dot(self.direction, so3.log(error))


@dataclass(frozen=True)
class AlignmentRow(FrameRow):
    """``child`` direction stays perpendicular to ``parent`` direction."""

    parent: Direction
    child: Direction
    of_length: ClassVar[str] = "parent"

    def reference_scale(self, length: float) -> float:
        """The declared length, as for every angle."""
        return length


@dataclass(frozen=True)
class AlignmentRows(FrameRows, of=AlignmentRow):
    """A direction of the child stays perpendicular to one of the parent: ψ = aᵀ R c."""

    frames: RowFrames
    parent: Array  # a in the parent frame, with the declared length as norm, (m, 3), m
    child: Array  # c in the child frame, unit, (m, 3)
    turning: ClassVar[bool] = True

    def _directions(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        rotation = kinematics.rotation
        a = apply(rotation.take(self.frames.parent, 0), self.parent)
        return a, apply(rotation.take(self.frames.child, 0), self.child)

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (m, 6) and residuals (m,), the sine of the misalignment times the length."""
        a, c = self._directions(kinematics)
        return couple(cross(c, a)), dot(a, c)

    def extra_bias(self, kinematics: FrameKinematics, twist: RelativeTwist) -> Array:
        """((ω × c) × a) · ω: the child's direction turns inside the parent frame, (m,)."""
        a, c = self._directions(kinematics)
        omega = twist.angular.take(self.frames.pair, 0)
        return dot(cross(cross(omega, c), a), omega)


def force_through(point: Array, force: Array) -> Array:
    """Wrenches of forces along lines through points, (m, 6)."""
    wrench = _MOMENT(point, force)
    wrench[:, :3] = force
    return wrench


def couple(moment: Array) -> Array:
    """Wrenches of moments without force, (m, 6)."""
    wrench: Array = moment.dot(_AS_COUPLE)
    return wrench


#: Directions in the parent frame, by the label of their rows.
_DIRECTIONS = {"normal": (0.0, 0.0, 1.0), "x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0)}


@dataclass(frozen=True)
class ContactRow(FrameRow):
    """One direction of a contact with a plane, which is its label: normal, x or y."""

    radius: float  # of the sphere, in m; 0: a point
    of_positions: ClassVar[str] = "normal"  # sliding is a matter of velocities

    @property
    def direction(self) -> Direction:
        """In the parent frame."""
        return _DIRECTIONS[self.label]


@dataclass(frozen=True)
class ContactRows(FrameRows, of=ContactRow):
    """Distance from the plane, ψ = nᵀd − r, or velocity of the contact point along x or y.

    With n the normal of the plane (the parent's z axis), c the child's origin and r the radius, the
    contact is the point c − r n of the child. Both its arm −r n and the directions of the rows are
    fixed in the parent, so the rows have no bias of their own.
    """

    frames: RowFrames  # the plane goes through the parent's origin; the child's is the centre
    direction: Array  # in the parent frame, (m, 3)
    radius: Array  # r, (m,), in m

    def position(self, kinematics: FrameKinematics) -> tuple[Array, Array]:
        """Wrenches (m, 6), and residuals (m,) in m, zero for rows of velocity level."""
        centre, offset = self.frames.origins(kinematics)
        axes = kinematics.rotation.take(self.frames.parent, 0)
        e = apply(axes, self.direction)
        point = centre - self.radius[:, None] * axes[:, :, 2]
        return force_through(point, e), self.direction[:, 2] * (dot(e, offset) - self.radius)


class RotationReference(NamedTuple):
    """The reference rotation of each row and what it asks of the geometric rates."""

    rotation: Array  # Reference rotation in the parent frame, per row, (m, 3, 3)
    rate: Array  # Reference of cᵀω, (m,), rad/s times the declared length
    acceleration: Array  # Reference of its derivative, (m,), rad/s² times the declared length
    omega: Array  # Angular velocity of the reference in the parent frame, (m, 3), rad/s
    alpha: Array  # Its derivative, (m, 3), rad/s²

    def part(self, rows: slice) -> "RotationReference":
        """The reference of some of the rows."""
        return RotationReference(*(array[rows] for array in self))


@dataclass(frozen=True)
class RotationGroups:
    """Angular rows of one constraint share one reference rotation vector."""

    group: Indices  # Constraint of each angular row, (m,), numbered from 0
    direction: Array  # Vectors of the rows in the parent frame, (m, 3), the declared length as norm
    length: float  # The declared length, in m

    def sample(self, rows: ReferenceSample) -> RotationReference:
        """Rotation exp(ρ) of the rotation vector ρ(t) whose components the rows name.

        With J the left Jacobian of SO(3): ω = J(ρ) ρ̇ and ω̇ = J ρ̈ + J̇ ρ̇.
        """
        rho = self._vectors(rows.value)
        rho_rate = self._vectors(rows.rate)
        jacobian = so3.left_jacobian(rho)
        omega = apply(jacobian, rho_rate)
        alpha = apply(jacobian, self._vectors(rows.acceleration))
        alpha = alpha + apply(so3.left_jacobian_rate(rho, rho_rate), rho_rate)
        return RotationReference(
            rotation=so3.exp(rho)[self.group],
            rate=dot(self.direction, omega[self.group]),
            acceleration=dot(self.direction, alpha[self.group]),
            omega=omega[self.group],
            alpha=alpha[self.group],
        )

    def _vectors(self, values: Array) -> Array:
        vectors = np.zeros((int(self.group.max()) + 1, 3), dtype=values.dtype)
        np.add.at(vectors, self.group, values[:, None] * self.direction / self.length)
        return vectors


@dataclass(frozen=True)
class RotationVectorRow(FrameRow):
    """Component of the rotation vector along ``direction``, others being free."""

    direction: Direction
    rotation: ClassVar[bool] = True
    of_length: ClassVar[str] = "direction"


@dataclass(frozen=True)
class RotationVectorRows(FrameRows, of=RotationVectorRow):
    """Components of φ = log(E), E = R R_refᵀ, with R the child's rotation in the parent frame."""

    frames: RowFrames
    direction: Array  # c in the parent frame with the declared length as norm, (m, 3), in m

    def position(
        self, kinematics: FrameKinematics, reference_rotation: Array | None = None
    ) -> tuple[Array, Array]:
        """Wrenches (m, 6), couples J⁻ᵀc, and residuals (m,) in rad times the declared length."""
        parent, error = self.frames.turned(kinematics, reference_rotation)
        phi = so3.log(error)
        inverse = so3.left_jacobian_inverse(phi)
        moment = apply(parent, apply(inverse.transpose(0, 2, 1), self.direction))
        return couple(moment), dot(self.direction, phi)

    def motion(
        self,
        kinematics: FrameKinematics,
        twist: RelativeTwist,
        reference: RotationReference | None = None,
    ) -> tuple[Array, Array]:
        """What A v and the wrench's bias leave out of ψ̇ and ψ̈, (m,) each.

        With ω_E = ω − E ω_ref it is φ̈ = J⁻¹(ω̇ − ω_E × E ω_ref − E ω̇_ref − J̇ φ̇).
        """
        rotation = None if reference is None else reference.rotation
        parent, error = self.frames.turned(kinematics, rotation)
        relative = apply(parent.transpose(0, 2, 1), twist.angular.take(self.frames.pair, 0))
        phi = so3.log(error)
        inverse = so3.left_jacobian_inverse(phi)
        carried = np.zeros_like(relative)
        if reference is not None:
            carried = apply(error, reference.omega)
        relative = relative - carried
        rate = apply(inverse, relative)
        lost = apply(so3.left_jacobian_rate(phi, rate), rate) + cross(relative, carried)
        if reference is not None:
            lost = lost + apply(error, reference.alpha)
        return (
            -dot(self.direction, apply(inverse, carried)),
            -dot(self.direction, apply(inverse, lost)),
        )
