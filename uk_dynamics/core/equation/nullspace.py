"""The null-space form of the fundamental equation, which needs no inverse of M.

With an orthonormal basis Q₁ of the rows of A and Z of everything orthogonal to them,

    q̈ = x₀ + N (F + c − M x₀),    N = Z (ZᵀMZ)⁻¹ Zᵀ,    x₀ = Q₁ y,  A Q₁ y = b,

the same motion as de Falco's (41) and (43). It exists when ZᵀMZ is positive definite, that is
when [M; A] has full column rank.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrs

from uk_dynamics.core.equation.scaled_coordinates import ScaledCoordinates
from uk_dynamics.core.linalg.row_basis import RowBasis

Array = NDArray[np.float64]


class NullSpace(ScaledCoordinates):
    """Factorisation on the null space of A; M may be singular."""

    method = "nullspace"
    basis: RowBasis

    def _factorize(self, columns: Array) -> None:
        self._Z, self._lower = self._reduced

    def admissible(self, X: Array) -> Array:
        """N X = Z (ZᵀMZ)⁻¹ Zᵀ X."""
        if self._Z.shape[1] == 0:
            return np.zeros(X.shape)
        result: Array = self._Z @ dpotrs(self._lower, self._Z.T @ X, 1)[0]
        return result

    def correction(self, r: Array) -> Array:
        """(I − N M) Q₁ y with A Q₁ y = r."""
        x = self._particular(self.basis.coordinates(r))
        return x - self.admissible(self._M @ x)

    def ideal_force(self, coordinates: Array) -> Array:
        """Q₁ z, back in the units of the coordinates."""
        return self.basis.basis_product(coordinates) / self._scale

    def _accelerate(self, F: Array, b: Array, nonideal: Array | None) -> tuple[Array, Array]:
        x = self._particular(self.basis.coordinates(b))
        qdd = x + self.admissible(F - self._M @ x)
        ideal = self._scale * (self._M @ qdd - F)
        coordinates = self.basis.rotate(ideal)[: self.basis.rank]
        if nonideal is not None:
            qdd += self.admissible(nonideal)
        return qdd, coordinates

    def _null_basis(self) -> Array:
        return self.basis.complement()

    def _particular(self, y: Array) -> Array:
        return self._scale * self.basis.basis_product(y)
