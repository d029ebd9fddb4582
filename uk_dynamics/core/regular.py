"""The fundamental equation where all rows are independent by a safe margin, in few operations.

With the Gram matrix G = A M⁻¹ Aᵀ of the whitened rows, (35) of the review is

    q̈ = a + M⁻¹Aᵀλ,    G λ = b − A a,    a = M⁻¹F.

The distance of row i from the span of all others is (G⁻¹)ᵢᵢ^{-1/2}. If it is above the rank
tolerance for each row, then so is the last pivot of any order, and the rank is full by the rank
rule. A Gram matrix squares the condition of the rows; it is trusted while the sum of their squared
sizes over those distances is small, and no digit that counts is lost. Other states are left to the
forms that take rows by their remainders.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from uk_dynamics.core.mass_factor import keeps_pivots
from uk_dynamics.core.quick_solution import QuickSolution
from uk_dynamics.core.row_basis import LEAST_PART

Array = NDArray[np.float64]

_MARGIN = 2.0  # a row is safely independent this many rank tolerances from the others
_LARGEST = 1e4  # sum of squares of size over distance: four of sixteen digits


class RegularMotion:
    """Solves for accelerations in memory of its own; not to be shared between threads.

    Attributes:
        natural_scale: How large each row is over the configurations, (m,).
        rank_tolerance: Largest relative remainder of a dependent row.
        independent: All rows, (m,).
    """

    def __init__(self, nv: int, natural_scale: Array, rank_tolerance: float) -> None:
        """Allocate for m rows, at least one; see :class:`UdwadiaKalaba` for the arguments."""
        m = len(natural_scale)
        self.natural_scale = natural_scale
        self.rank_tolerance = rank_tolerance
        self.independent = np.arange(m)
        self._least_square = (LEAST_PART * natural_scale) ** 2
        margin = _MARGIN * rank_tolerance
        self._largest = min(_LARGEST, 1.0 / margin**2 if margin > 0.0 else _LARGEST)
        # Everything is computed in place: views of small arrays cost as much as their numbers.
        self._lower = np.empty((nv, nv), order="F")
        self._pivots, self._inverse = self._lower.diagonal(), np.empty(nv)
        self._motions = np.empty((m + 1, nv))  # what each row of A, then F, causes
        self._of_rows, self._of_force = self._motions[:m], self._motions[m]
        self._forces = self._motions.T
        self._products = np.empty((m + 1, m))  # G, then A a
        self._gram, self._caused = self._products[:m].T, self._products[m]
        self._squares, self._sizes = self._gram.diagonal(), np.empty(m)
        # G⁻¹, λ and a one, which counts a
        self._begin = np.concatenate((np.eye(m, m + 1).reshape(-1, order="F"), [1.0]))
        self._numbers = self._begin.copy()
        self._unknowns = self._numbers[:-1].reshape((m, m + 1), order="F")
        self._closeness = self._unknowns.diagonal()
        self._counts = self._numbers[-m - 1 :]
        self._multipliers = self._counts[:m]

    def solve(self, M: Array, F: Array, A: Array, b: Array) -> RegularSolution | None:
        """Acceleration and forces, or None where the state is not safely regular.

        Args:
            M: Mass matrix, (nv, nv).
            F: Generalized force without constraints, (nv,), N m or N.
            A: Constraint matrix, (m, nv); it must stay as it is while the solution is in use.
            b: Right-hand side of A q̈ = b, (m,).
        """
        qdd = self.acceleration(M, F, A, b)
        if qdd is None:
            return None
        return RegularSolution(self, qdd, *self.reactions(), A, F, b)

    def acceleration(self, M: Array, F: Array, A: Array, b: Array) -> Array | None:
        """Acceleration alone, (nv,), fresh; see :meth:`solve`."""
        self._lower[...] = M
        self._of_rows[...] = A
        self._of_force[...] = F
        if dposv(self._lower, self._forces, 1, 1, 1)[2]:  # forces become accelerations
            return None
        np.dot(self._motions, A.T, self._products)
        np.maximum(self._squares, self._least_square, out=self._sizes)
        self._numbers[...] = self._begin
        np.subtract(b, self._caused, self._multipliers)
        if dposv(self._gram, self._unknowns, 1, 1, 1)[2]:
            return None
        # What is not finite compares as False.
        if not self._closeness.dot(self._sizes) < self._largest:
            return None
        if not keeps_pivots(M, self._pivots, self._inverse):
            return None
        qdd: Array = self._counts.dot(self._motions)
        return qdd

    def reactions(self) -> tuple[Array, Array]:
        """Multipliers of the last acceleration, (m,), and the factor of its M, (nv, nv); fresh."""
        return self._multipliers.copy(), self._lower.copy(order="F")

    def parts(self, rows: Array) -> Array:
        """What other rows contain of those of the last acceleration, nearest in the metric of M⁻¹.

        Args:
            rows: (k, nv).

        Returns:
            C, (k, m): C A is as near to the rows as sums of the rows of A can be.
        """
        found: Array = rows.dot(self._of_rows.T).dot(self._unknowns[:, :-1])
        return found


class RegularSolution(QuickSolution):
    """All multipliers are known, and unique."""

    @property
    def determined(self) -> NDArray[np.bool_]:
        """True for each row, (m,)."""
        return np.ones(len(self._borne), dtype=bool)

    @cached_property
    def multipliers(self) -> Array:
        """Multipliers λ with ideal_force = Aᵀ λ, (m,)."""
        return self._borne
