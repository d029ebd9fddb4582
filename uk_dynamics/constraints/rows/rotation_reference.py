"""References of rotating rows: a rotation vector over time becomes a rotation with its rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import uk_dynamics.core.linalg.rotations as so3
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.constraints.rows.vectors import Array, apply, dot


@dataclass(frozen=True)
class RotationReference:
    """The reference rotation of each row and what it asks of the geometric rates."""

    rotation: Array  # Reference rotation in the parent frame, per row, (m, 3, 3)
    rate: Array  # Reference of cᵀω, (m,), rad/s times the declared length
    acceleration: Array  # Reference of its derivative, (m,), rad/s² times the declared length
    omega: Array  # Angular velocity of the reference in the parent frame, (m, 3), rad/s
    alpha: Array  # Its derivative, (m, 3), rad/s²

    def part(self, rows: slice) -> RotationReference:
        """The reference of some of the rows."""
        return RotationReference(
            self.rotation[rows],
            self.rate[rows],
            self.acceleration[rows],
            self.omega[rows],
            self.alpha[rows],
        )


@dataclass(frozen=True)
class RotationGroups:
    """Angular rows of one constraint share one reference rotation vector."""

    group: NDArray[np.intp]  # Constraint of each angular row, (m,), counted from 0 without gaps
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
