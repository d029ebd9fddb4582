# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""De Falco's forms with explicit pseudoinverses: (31), (35), and for singular M too (41), (43).

With M = L Lᵀ, D = A L⁻ᵀ and a = M⁻¹ F

    (31)  q̈ = a + L⁻ᵀ D⁺ (b − A a)
    (35)  the same with D⁺ = Dᵀ (D Dᵀ)⁺

and, in scaled coordinates, with G = A⁺ and the projector E = I − G A on the motions that
constraints leave,

    (41)  q̈ = Q F + (I − Q M) G b,    Q = (E M E)⁺
    (43)  q̈ = [E M; A]⁺ [F; b]

which exist where [M; A] has full column rank; the rank of E M E is then known to be nv − rank A,
and what falls below is no inertia. Rows are brought to unit length first: that changes nothing in
the solution of equations that do not contradict each other, but it makes one rank tolerance fit
heavy and light bodies. Stabilised rows, (32), are inside b.
"""

from abc import abstractmethod

import numpy as np

from uk_dynamics.arrays import Array, Flags, Indices, largest
from uk_dynamics.core.equation.fundamental_equation import Factorization, WhitenedCoordinates
from uk_dynamics.core.equation.nullspace import ScaledCoordinates
from uk_dynamics.core.equation.published.pseudoinverse import (
    Pseudoinverse,
    PseudoinverseMethod,
    pseudoinverse,
)
from uk_dynamics.core.linalg.mass_factor import NO_INERTIA, DenseMass, Mass
from uk_dynamics.core.linalg.rank_rule import LEAST_RANGE_SPACE_TOLERANCE, inverse_row_scale
from uk_dynamics.core.linalg.row_basis import PseudoinverseRows, RowBasis, projector_basis
from uk_dynamics.exceptions import InputError

# Motion of a force (nv, nv), of a right-hand side (nv, m), and the rank of the former.
_Maps = tuple[Array, Array, int]

_ROOM = 10.0  # how much larger than the defect of the projector what counts as inertia must be


class ByPseudoinverse(Factorization):
    """What these forms share: no row is preferred, so that all may fail to hold."""

    basis: PseudoinverseRows

    def _rows_to_check(self) -> Indices:
        return np.arange(len(self.A))

    def _contradicting(self, failed: Indices) -> Flags:
        return self.basis.contradict(failed)


class WhitenedPseudoinverse(ByPseudoinverse, WhitenedCoordinates):
    """What (31) and (35) share: once D⁺ is known, they are the same."""

    def __init__(
        self,
        mass: DenseMass,
        A: Array,
        natural_scale: Array | None,
        rank_tolerance: float,
        algorithm: PseudoinverseMethod,
    ) -> None:
        """Factor; see :func:`uk_dynamics.core.solver_methods.factorize`."""
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

    def _project(self, x: Array) -> Array:
        return x - self._inverse @ (self._rows @ x)


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


class ExplicitPseudoinverse(ByPseudoinverse, ScaledCoordinates):
    """What (41) and (43) share: linear maps from forces and from right-hand sides to motions."""

    def __init__(
        self,
        mass: Mass,
        A: Array,
        natural_scale: Array | None,
        rank_tolerance: float,
        algorithm: PseudoinverseMethod,
    ) -> None:
        """Invert; see :func:`uk_dynamics.core.solver_methods.factorize`."""
        self._algorithm: PseudoinverseMethod = algorithm
        super().__init__(mass, A, natural_scale, rank_tolerance)

    def _row_space(
        self, columns: Array, natural_scale: Array | None, rank_tolerance: float | Array
    ) -> PseudoinverseRows:
        self._scaling = inverse_row_scale(np.linalg.norm(columns, axis=0), natural_scale)
        rows: Array = (columns * self._scaling).T
        if isinstance(rank_tolerance, np.ndarray):  # it knows one for all rows
            rank_tolerance = float(rank_tolerance.min())
        found = pseudoinverse(rows, self._algorithm, rank_tolerance=rank_tolerance)
        self._found = found
        return PseudoinverseRows(rows, self._scaling, found.matrix, found.rank, rank_tolerance)

    def _factorize(self, columns: Array) -> None:
        M, scale, found = self._M, self._scale, self._found
        E = np.eye(len(M)) - found.matrix @ found.truncated
        self._projector: Array = 0.5 * (E + E.T)
        # Where G is inaccurate, E is no exact projector and motions that are held seem to be free.
        defect = max(largest(E @ E - E), largest(found.truncated @ E))
        tolerance = max(NO_INERTIA, _ROOM * defect)
        scaled_mass = scale[:, None] * M * scale
        self._of_force, self._of_rows, rank = self._maps(scaled_mass, found, tolerance)
        if rank != len(M) - found.rank:
            _ = self._reduced  # raises where some motion has no inertia at all
            raise InputError(
                f"{self.method} by {self._algorithm} cannot tell the inertia of the free motions "
                'from rounding here; use method "nullspace", or another pseudoinverse'
            )

    @abstractmethod
    def _maps(self, mass: Array, rows: Pseudoinverse, tolerance: float) -> _Maps:
        """Motion of a force (nv, nv), of a right-hand side (nv, m), and the rank of the former."""

    def admissible(self, X: Array) -> Array:
        """N X."""
        scale = self._scale if X.ndim == 1 else self._scale[:, None]
        return scale * (self._of_force @ (scale * X))

    def correction(self, r: Array) -> Array:
        """The motion that r causes while F is zero."""
        return self._scale * (self._of_rows @ (self._scaling * r))

    def ideal_force(self, coordinates: Array) -> Array:
        """The force back in the units of the coordinates."""
        return coordinates / self._scale

    def _accelerate(self, F: Array, b: Array, nonideal: Array | None) -> tuple[Array, Array]:
        qdd = self.admissible(F) + self.correction(b)
        force = self._scale * (self._M @ qdd - F)
        force -= self._projector @ force  # rounding, which no row can cause
        if nonideal is not None:
            qdd += self.admissible(nonideal)
        return qdd, force

    def _null_basis(self) -> Array:
        return projector_basis(self._projector, len(self._M) - self.rank)


class AugmentedPseudoinverse(ExplicitPseudoinverse):
    """(41), from the pseudoinverse (40) of the matrix of (23)."""

    method = "augmented_pseudoinverse"

    def _maps(self, mass: Array, rows: Pseudoinverse, tolerance: float) -> _Maps:
        E, G = self._projector, rows.matrix
        inertia = E @ mass @ E
        # Small relative to the unit diagonal of the mass, not to E M E itself.
        size = largest(inertia)
        if size <= 2.0 * tolerance:
            return np.zeros_like(inertia), G, 0
        Q, rank = _inverse(inertia, self._algorithm, tolerance / size)
        return Q, G - Q @ (mass @ G), rank


class UdwadiaPhohomsiri(ExplicitPseudoinverse):
    """(43), Udwadia and Phohomsiri (2006); nothing is left for its arbitrary vector."""

    method = "udwadia_phohomsiri"

    def _maps(self, mass: Array, rows: Pseudoinverse, tolerance: float) -> _Maps:
        stacked = np.vstack((self._projector @ mass, rows.truncated))
        inverse, rank = _inverse(stacked, self._algorithm, tolerance)
        n = len(mass)
        # E F instead of F is the same, but then the equations have an exact solution: rounding
        # grows with the condition number and not, as in least squares, with its square.
        return inverse[:, :n] @ self._projector, inverse[:, n:], rank - rows.rank


def _inverse(
    matrix: Array, algorithm: PseudoinverseMethod, rank_tolerance: float
) -> tuple[Array, int]:
    """Pseudoinverse with the independent rows first, and the rank."""
    # A projector has rows of all lengths; Greville's recursion, which takes them as they come,
    # would build on the rounding of a short one
    order = RowBasis(np.asfortranarray(matrix.T), np.ones(len(matrix)), 0.0).order
    found = pseudoinverse(matrix[order], algorithm, rank_tolerance=rank_tolerance)
    inverse = np.empty_like(found.matrix)
    inverse[:, order] = found.matrix
    return inverse, found.rank
