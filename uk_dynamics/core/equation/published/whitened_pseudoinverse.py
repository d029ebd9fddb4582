# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""De Falco's (31) and (35): an explicit pseudoinverse of rows whitened by the mass factor.

With M = L Lᵀ and D = A L⁻ᵀ, whose rows are brought to unit length by S first,

    q̈ = a + L⁻ᵀ D⁺ (b − A a),    a = M⁻¹ F.

The length of rows changes nothing in the solution of equations that do not contradict each other,
but it makes one rank tolerance fit heavy and light bodies. Stabilised rows, (32), are inside b.
"""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.core.equation.fundamental_equation import WhitenedCoordinates
from uk_dynamics.core.equation.published.pseudoinverse import PseudoinverseMethod, pseudoinverse
from uk_dynamics.core.linalg.mass_factor import MassFactor
from uk_dynamics.core.linalg.rank_rule import LEAST_RANGE_SPACE_TOLERANCE, inverse_row_scale
from uk_dynamics.core.linalg.row_basis import PseudoinverseRows, projector_basis
from uk_dynamics.exceptions import InputError


class WhitenedPseudoinverse(WhitenedCoordinates):
    """What (31) and (35) share: once D⁺ is known, they are the same."""

    basis: PseudoinverseRows

    def __init__(
        self,
        mass: MassFactor,
        A: Array,
        natural_scale: Array | None,
        rank_tolerance: float,
        algorithm: PseudoinverseMethod,
    ) -> None:
        """Factor; see :func:`uk_dynamics.core.factorization.factorize`."""
        columns = mass.whiten(A.T)
        self._scaling = inverse_row_scale(np.linalg.norm(columns, axis=0), natural_scale)
        self._rows: Array = (columns * self._scaling).T
        self._inverse, rank = self._invert(self._rows, rank_tolerance, algorithm)
        space = PseudoinverseRows(self._rows, self._scaling, self._inverse, rank, rank_tolerance)
        super().__init__(space, mass, A)

    @staticmethod
    @abstractmethod
    def _invert(
        rows: Array, rank_tolerance: float, algorithm: PseudoinverseMethod
    ) -> tuple[Array, int]:
        """D⁺, (n, m), and its rank."""

    def admissible_coordinates(self, X: Array) -> tuple[Array, Array]:
        """K = Zᵀ L⁻¹ with Z an orthonormal basis of the range of I − D⁺D."""
        whitened = self.mass.whiten(X)
        n = len(whitened)
        Z = projector_basis(np.eye(n) - self._inverse @ self._rows, n - self.rank)
        return Z.T @ whitened, np.linalg.norm(whitened, axis=0)

    def correction(self, r: Array) -> Array:
        """L⁻ᵀ D⁺ r."""
        return self.mass.unwhiten(self._inverse @ (self._scaling * r))

    def ideal_force(self, coordinates: Array) -> Array:
        """L z."""
        return self.mass.multiply_factor(coordinates)

    def _accelerate(self, F: Array, b: Array, nonideal: Array | None) -> tuple[Array, Array]:
        free = self.mass.whiten(F)
        force: Array = self._inverse @ (self._scaling * b - self._rows @ free)
        moved = free + force
        if nonideal is not None:
            moved += self._project(self.mass.whiten(nonideal))
        return self.mass.unwhiten(moved), force

    def _rows_to_check(self) -> Indices:
        return np.arange(len(self.A))

    def _contradicting(self, failed: Indices) -> NDArray[np.bool_]:
        return self.basis.contradict(failed)

    def _project(self, x: Array) -> Array:
        projected: Array = x - self._inverse @ (self._rows @ x)
        return projected


class UdwadiaKalabaPseudoinverse(WhitenedPseudoinverse):
    """(31): D⁺ from D itself."""

    method = "udwadia_kalaba_pseudoinverse"

    @staticmethod
    def _invert(
        rows: Array, rank_tolerance: float, algorithm: PseudoinverseMethod
    ) -> tuple[Array, int]:
        found = pseudoinverse(rows, algorithm, rank_tolerance=rank_tolerance)
        return found.matrix, found.rank


class RangeSpace(WhitenedPseudoinverse):
    """(35): D⁺ = Dᵀ Q⁺ with Q = D Dᵀ = A M⁻¹ Aᵀ, (m, m).

    Cheapest where rows are few, but Q has the squares of D's singular values: half of the digits
    are lost near a rank change.
    """

    method = "range_space"

    @staticmethod
    def _invert(
        rows: Array, rank_tolerance: float, algorithm: PseudoinverseMethod
    ) -> tuple[Array, int]:
        if rank_tolerance < LEAST_RANGE_SPACE_TOLERANCE:
            raise InputError(
                f"range_space sees the square of the rank tolerance {rank_tolerance:g}, which is "
                f"rounding: take at least {LEAST_RANGE_SPACE_TOLERANCE:g}, or "
                "udwadia_kalaba_pseudoinverse"
            )
        # Near a rank change one projection leaves fewer digits than Q has: a simulation would see
        # rows appear and vanish from one evaluation to the next.
        found = pseudoinverse(
            rows @ rows.T, algorithm, rank_tolerance=rank_tolerance**2, projections=2
        )
        return rows.T @ found.matrix, found.rank
