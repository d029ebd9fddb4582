"""The fundamental equation where some rows are safely independent and all others sums of them.

So it is with loops that close a planar mechanism in space, and with more legs than a platform
needs: the same rows are redundant at every state. The independent ones alone give the motion, by
:class:`RegularMotion`. That the others are sums of them, A_d = C A_s, and hold is checked to
rounding at every state; otherwise another choice of rows could move differently, and the state is
left to the forms that take rows by their remainders.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.quick_solution import QuickSolution
from uk_dynamics.core.regular import RegularMotion

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# What rounding leaves of a sum of rows, relative to the row's natural scale: eps times the square
# of the condition that the Gram matrix of a safely regular state may have.
_ROUNDING = 1e-11
# The same of accelerations, m/s² or rad/s², relative to one or to the largest.
_HOLDS = 1e-12


class RedundantMotion:
    """Solves for accelerations in memory of its own; not to be shared between threads.

    Attributes:
        natural_scale: How large each row is over the configurations, (m,).
        rank_tolerance: Largest relative remainder of a dependent row.
        independent: Which rows are taken for independent, (r,), ascending.
    """

    def __init__(
        self, nv: int, natural_scale: Array, rank_tolerance: float, independent: Indices
    ) -> None:
        """Allocate.

        Args:
            nv: Number of velocity coordinates.
            natural_scale: How large each row is over the configurations, (m,).
            rank_tolerance: Largest relative remainder of a dependent row.
            independent: Which rows to take, (r,), at least one.
        """
        self.natural_scale = natural_scale
        self.rank_tolerance = rank_tolerance
        self.independent = np.sort(independent)
        self._others = np.setdiff1d(np.arange(len(natural_scale)), independent)
        self._regular = RegularMotion(nv, natural_scale[self.independent], rank_tolerance)
        self._weights = (_ROUNDING * natural_scale[self._others]) ** -2

    def solve(self, M: Array, F: Array, A: Array, b: Array) -> QuickSolution | None:
        """Acceleration and forces, or None; see :meth:`RegularMotion.solve`."""
        qdd = self.acceleration(M, F, A, b)
        if qdd is None:
            return None
        return QuickSolution(self, qdd, *self._regular.reactions(), A, F, b)

    def acceleration(self, M: Array, F: Array, A: Array, b: Array) -> Array | None:
        """Acceleration alone, (nv,), fresh; see :meth:`solve`."""
        rows, others = A.take(self.independent, 0), A.take(self._others, 0)
        qdd = self._regular.acceleration(M, F, rows, b.take(self.independent))
        if qdd is None:
            return None
        violation = others.dot(qdd)
        violation -= b.take(self._others)
        if not violation.dot(violation) <= _HOLDS * _HOLDS * (1.0 + qdd.dot(qdd)):
            return None
        others -= self._regular.parts(others).dot(rows)
        np.multiply(others, others, others)
        if not self._weights.dot(others).dot(np.reciprocal(M.diagonal())) <= 1.0:
            return None
        return qdd
