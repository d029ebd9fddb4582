# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rows of some components of a rotation vector, the others being free: ψ = cᵀ log(E).

Three angular rows together may use the angular velocity as their rate, since all three vanish at
once. One or two may not: cᵀω = 0 constrains a velocity, but no coordinate of the body. Here the
rate is that of the rotation vector φ itself, φ̇ = J⁻¹(φ) ω_E with the left Jacobian J of SO(3), so
ψ is exact at any angle below π.
"""

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

import uk_dynamics.core.linalg.rotations as so3
from uk_dynamics.arrays import Array, Indices
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.constraints.rows.frame_rows import couple
from uk_dynamics.constraints.rows.relative_motion import FrameKinematics, RelativeTwist
from uk_dynamics.constraints.rows.row import Direction, FrameRow, FrameRows, RowFrames
from uk_dynamics.constraints.rows.vectors import apply, cross, dot


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
