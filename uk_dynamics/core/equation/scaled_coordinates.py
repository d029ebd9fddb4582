"""What the forms share that need no inverse of M.

Coordinates are scaled by √M_jj first, so that neither units nor very different masses decide what
counts as small: with C = diag(1/√M_jj), rows are A C and the mass matrix is C M C.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtrs

from uk_dynamics.core.equation.fundamental_equation import Factorization
from uk_dynamics.core.linalg.mass_factor import Mass, coordinate_scale
from uk_dynamics.core.linalg.reduced_inertia import inertia_factor
from uk_dynamics.core.linalg.row_basis import RowBasis
from uk_dynamics.core.linalg.row_space import RowSpace

Array = NDArray[np.float64]


class ScaledCoordinates(Factorization):
    """A form in scaled coordinates; M may be singular."""

    def __init__(
        self, mass: Mass, A: Array, natural_scale: Array | None, rank_tolerance: float
    ) -> None:
        """Factor; see :func:`uk_dynamics.core.factorization.factorize`."""
        self._M = mass.dense()
        self._scale = coordinate_scale(self._M.diagonal())
        columns: Array = (A * self._scale).T
        super().__init__(self._row_space(columns, natural_scale, rank_tolerance), mass, A)
        self._factorize(columns)

    def admissible_coordinates(self, X: Array) -> tuple[Array, Array]:
        """K = R⁻¹ Zᵀ with R Rᵀ = ZᵀMZ."""
        sizes = np.linalg.norm(self._scale[:, None] * X, axis=0)
        Z, lower = self._reduced
        if Z.shape[1] == 0:
            return np.zeros((0, X.shape[1])), sizes
        return dtrtrs(lower, Z.T @ X, 1)[0], sizes

    def nonideal_force(self, force: Array) -> Array:
        """M N c."""
        result: Array = self._M @ self.admissible(force)
        return result

    def _free_acceleration(self, F: Array) -> Array:
        return self._scale**2 * F

    def _row_space(
        self, columns: Array, natural_scale: Array | None, rank_tolerance: float
    ) -> RowSpace:
        """The rows A C, given as columns, (nv, m)."""
        return RowBasis(columns, natural_scale, rank_tolerance)

    @abstractmethod
    def _factorize(self, columns: Array) -> None:
        """What a form computes once; ``basis`` is known.

        Args:
            columns: The rows A C as columns, (nv, m).
        """

    @abstractmethod
    def _null_basis(self) -> Array:
        """Orthonormal basis of everything orthogonal to the rows A C, (nv, nv − rank)."""

    @cached_property
    def _reduced(self) -> tuple[Array, Array]:
        """Z = C times the null basis, and the lower factor of ZᵀMZ.

        Raises:
            UndeterminedCoordinatesError: [M; A] lacks full column rank.
        """
        Z = self._scale[:, None] * self._null_basis()
        return Z, inertia_factor(Z, self._M)
