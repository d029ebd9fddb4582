"""The null-space form of the fundamental equation, which needs no inverse of M.

With an orthonormal basis Q₁ of the rows of A and Z of everything orthogonal to them,

    q̈ = x₀ + N (F + c − M x₀),    N = Z (ZᵀMZ)⁻¹ Zᵀ,    x₀ = Q₁ y,  A Q₁ y = b,

the same motion as de Falco's (41) and (43). It exists when ZᵀMZ is positive definite, that is
when [M; A] has full column rank. Coordinates are scaled by √M_jj first, so that neither units nor
very different masses decide what counts as small.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtrs

from uk_dynamics.core.fundamental_equation import Factorization
from uk_dynamics.core.mass_factor import MassFactor, SingularMass, coordinate_scale
from uk_dynamics.core.row_basis import RowBasis
from uk_dynamics.exceptions import UndeterminedMotionError

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Pivots of ZᵀMZ, with the diagonal of M scaled to one, that carry no digit any more.
_NO_INERTIA = 1e-12
# Entries of a null vector of [M; A], relative to its largest, that are rounding.
_NOT_INVOLVED = 1e-6


class UndeterminedCoordinatesError(UndeterminedMotionError):
    """[M; A] lacks full column rank, said by index.

    Attributes:
        coordinates: Velocity coordinates that take part in the undetermined motion.
    """

    def __init__(self, coordinates: Sequence[int]) -> None:
        self.coordinates = tuple(coordinates)
        super().__init__(f"coordinate {index}" for index in self.coordinates)

    def named(self, names: Sequence[str]) -> UndeterminedMotionError:
        """The same error with the names of the velocity coordinates.

        Args:
            names: All nv names.
        """
        return UndeterminedMotionError(names[index] for index in self.coordinates)


class NullSpace(Factorization):
    """Factorisation on the null space of A; M may be singular."""

    def __init__(
        self,
        mass: MassFactor | SingularMass,
        A: Array,
        natural_scale: Array | None,
        rank_tolerance: float,
    ) -> None:
        """Factor; see :func:`uk_dynamics.core.factorization.factorize`."""
        self._M = mass.dense()
        self._scale = coordinate_scale(self._M)
        super().__init__(RowBasis((A * self._scale).T, natural_scale, rank_tolerance), mass, A)
        self._Z = self._scale[:, None] * self.basis.complement()
        inertia = self._Z.T @ self._M @ self._Z
        if len(inertia) == 0:
            return
        self._lower, failed = dpotrf(inertia, 1, 0)
        if failed or not (self._lower.diagonal() ** 2 > _NO_INERTIA).all():
            raise UndeterminedCoordinatesError(self._without_inertia(inertia))

    def admissible(self, X: Array) -> Array:
        """N X = Z (ZᵀMZ)⁻¹ Zᵀ X."""
        if self._Z.shape[1] == 0:
            return np.zeros(X.shape)
        result: Array = self._Z @ dpotrs(self._lower, self._Z.T @ X, 1)[0]
        return result

    def admissible_coordinates(self, X: Array) -> tuple[Array, Array]:
        """K = R⁻¹ Zᵀ with R Rᵀ = ZᵀMZ."""
        scaled = self._scale[:, None] * X
        if self._Z.shape[1] == 0:
            return np.zeros((0, X.shape[1])), np.linalg.norm(scaled, axis=0)
        reduced = dtrtrs(self._lower, self._Z.T @ X, 1)[0]
        return reduced, np.linalg.norm(scaled, axis=0)

    def correction(self, r: Array) -> Array:
        """(I − N M) Q₁ y with A Q₁ y = r."""
        x = self._particular(self.basis.coordinates(r))
        return x - self.admissible(self._M @ x)

    def ideal_force(self, coordinates: Array) -> Array:
        """Q₁ z, back in the units of the coordinates."""
        return self.basis.basis_product(coordinates) / self._scale

    def nonideal_force(self, force: Array) -> Array:
        """M N c."""
        result: Array = self._M @ self.admissible(force)
        return result

    def _accelerate(self, F: Array, b: Array, nonideal: Array | None) -> tuple[Array, Array]:
        x = self._particular(self.basis.coordinates(b))
        qdd = x + self.admissible(F - self._M @ x)
        ideal = self._scale * (self._M @ qdd - F)
        coordinates = self.basis.rotate(ideal)[: self.basis.rank]
        if nonideal is not None:
            qdd += self.admissible(nonideal)
        return qdd, coordinates

    def _free_acceleration(self, F: Array) -> Array:
        return self._scale**2 * F

    def _particular(self, y: Array) -> Array:
        return self._scale * self.basis.basis_product(y)

    def _without_inertia(self, inertia: Array) -> list[int]:
        """Velocity coordinates that take part in the null vectors of ZᵀMZ."""
        values, vectors = np.linalg.eigh(inertia)
        null = vectors[:, values <= max(_NO_INERTIA, values[0])]
        motion = np.abs(self._Z @ null)
        involved = (motion > _NOT_INVOLVED * motion.max(axis=0)).any(axis=1)
        return [int(index) for index in np.flatnonzero(involved)]
