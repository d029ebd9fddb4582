# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The equations of motion with Lagrange's multipliers, de Falco (23), solved as one system.

    [ M  Aᵀ ] [ q̈ ]   [ F ]
    [ A  0  ] [ −λ ] = [ b ]

on the independent rows, in scaled coordinates. The matrix is symmetric but not definite. For a
direction that rows hold with a small singular value σ it has the eigenvalue σ²: half of the digits
would be lost near a rank change. M and λ are therefore scaled by the smallest pivot of the rows.
"""

import numpy as np
from scipy.linalg.lapack import dgecon, dgetrf, dgetrs

from uk_dynamics.arrays import Array
from uk_dynamics.core.equation.nullspace import OnRowBasis

# Reciprocal condition below which the reduced inertia is asked whether the motion is determined.
_SUSPECT = 1e-10


class Kkt(OnRowBasis):
    """Factorisation of the saddle-point matrix; M may be singular."""

    method = "kkt"

    def _factorize(self, columns: Array) -> None:
        M, scale, basis = self._M, self._scale, self.basis
        n, rank = len(M), basis.rank
        rows = columns[:, basis.independent]
        self._row_size = 1.0 / np.linalg.norm(rows, axis=0)
        self._weight = weight = float(basis.residual_norm[basis.independent].min(initial=1.0))
        saddle = np.zeros((n + rank, n + rank), order="F")
        saddle[:n, :n] = (weight * scale)[:, None] * M * scale
        saddle[:n, n:] = rows * self._row_size
        saddle[n:, :n] = saddle[:n, n:].T
        if len(saddle) == 0:
            self._factors = self._pivots = np.empty(0)
            return
        self._factors, self._pivots, singular = dgetrf(saddle)
        if singular or not dgecon(self._factors, float(np.linalg.norm(saddle, 1)))[0] > _SUSPECT:
            _ = self._reduced  # raises, unless only the rows are ill-conditioned

    def admissible(self, X: Array) -> Array:
        """N X: the motion that the forces X cause while b is zero."""
        scale = self._scale if X.ndim == 1 else self._scale[:, None]
        return scale * self._solve(scale * X, np.zeros((self.rank, *X.shape[1:])))[0]

    def correction(self, r: Array) -> Array:
        """The motion that r causes while F is zero."""
        independent = r[self.basis.independent] * self._row_size
        return self._scale * self._solve(np.zeros(len(self._M)), independent)[0]

    def _accelerate(self, F: Array, b: Array, nonideal: Array | None) -> tuple[Array, Array]:
        x, negative = self._solve(self._scale * F, b[self.basis.independent] * self._row_size)
        rows = (self.A[self.basis.independent] * self._scale).T * self._row_size
        coordinates = self.basis.rotate(-(rows @ negative))[: self.rank]
        qdd = self._scale * x
        if nonideal is not None:
            qdd += self.admissible(nonideal)
        return qdd, coordinates

    def _solve(self, top: Array, bottom: Array) -> tuple[Array, Array]:
        if self._factors.size == 0:
            return top, bottom
        x = dgetrs(self._factors, self._pivots, np.concatenate((self._weight * top, bottom)))[0]
        return x[: len(top)], x[len(top) :] / self._weight
