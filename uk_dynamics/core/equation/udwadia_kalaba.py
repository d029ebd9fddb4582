# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The Udwadia–Kalaba form of the fundamental equation, for positive definite M.

With M = L Lᵀ, B = A L⁻ᵀ and an orthonormal basis Q₁ of the rows of B,

    q̈ = L⁻ᵀ ((I − Q₁Q₁ᵀ) L⁻¹ (F + c) + Q₁ y),    B Q₁ y = b on the independent rows,

which is a + M^{-1/2} B⁺ (b − A a) of the review's (36), extended by the servo paper's (13).
"""

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.core.equation.fundamental_equation import WhitenedCoordinates
from uk_dynamics.core.linalg.mass_factor import DenseMass
from uk_dynamics.core.linalg.row_basis import RowBasis


class UdwadiaKalaba(WhitenedCoordinates):
    """Factorisation in coordinates whitened by the mass factor."""

    method = "udwadia_kalaba"
    basis: RowBasis

    def __init__(
        self, mass: DenseMass, A: Array, natural_scale: Array | None, rank_tolerance: float | Array
    ) -> None:
        """Factor; see :func:`uk_dynamics.core.solver_methods.factorize`."""
        super().__init__(RowBasis(mass.whiten(A.T), natural_scale, rank_tolerance), mass, A)

    def admissible_coordinates(self, X: Array) -> tuple[Array, Array]:
        """K = Q₂ᵀ L⁻¹ with Q₂ orthogonal to the rows."""
        whitened = self.mass.whiten(X)
        return self.basis.rotate(whitened)[self.basis.rank :], np.linalg.norm(whitened, axis=0)

    def correction(self, r: Array) -> Array:
        """L⁻ᵀ Q₁ y with B Q₁ y = r."""
        return self.mass.unwhiten(self.basis.basis_product(self.basis.coordinates(r)))

    def ideal_force(self, coordinates: Array) -> Array:
        """L Q₁ z."""
        return self.mass.multiply_factor(self.basis.basis_product(coordinates))

    def _accelerate(self, F: Array, b: Array, nonideal: Array | None) -> tuple[Array, Array]:
        basis = self.basis
        rank = basis.rank
        rotated = basis.rotate(self.mass.whiten(F))
        y = basis.coordinates(b)
        coordinates = y - rotated[:rank]
        if nonideal is not None:
            rotated += basis.rotate(self.mass.whiten(nonideal))
        rotated[:rank] = y
        return self.mass.unwhiten(basis.rotate_back(rotated)), coordinates

    def _project(self, x: Array) -> Array:
        rotated = self.basis.rotate(x)
        rotated[: self.basis.rank] = 0.0
        return self.basis.rotate_back(rotated)
