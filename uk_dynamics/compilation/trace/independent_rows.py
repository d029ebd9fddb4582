# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Independent rows in a fixed order, traced; subclasses orthogonalise them.

Rows u are covectors in the metric D⁻¹, and so are the applied force g and the constraint force f:
together they make the acceleration x = D⁻¹ (g + f), which is to satisfy u·x = b.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from uk_dynamics.compilation.trace.sparse_vectors import Scalar, Sparse
from uk_dynamics.compilation.trace.tree_factor import TreeFactor


class Answer(NamedTuple):
    """The constraint force that answers an applied one."""

    motion: Sparse  # x
    force: Sparse  # f
    multipliers: Sparse  # of the independent rows, by row: f = Σ λ u


class IndependentRows(ABC):
    """Some rows, of which some are independent: among them the sparsest one is next.

    independent: The column by which each is eliminated, where a kind wants one, in this order.
    """

    #: What :meth:`inverse_square` must stay below for answers with all their digits.
    largest_inverse_square = math.inf

    def __init__(
        self, rows: list[Sparse], independent: Mapping[int, int], factor: TreeFactor
    ) -> None:
        self.order: list[int] = []  # independent rows, in this order
        self.squares: list[Scalar] = [0.0] * len(rows)  # u·D⁻¹u of each row
        self._left = [dict(row) for row in rows]
        self._factor = factor
        waiting, left = set(independent), set(range(len(rows)))
        while waiting:
            r = self._next(waiting)
            waiting.remove(r)
            left.remove(r)
            self._orthogonalise(r, sorted(left))
            self.order.append(r)
        self.residual_squares: dict[int, Scalar] = {
            r: self._residual_square(r) for r in sorted(left)
        }

    def _next(self, waiting: Collection[int]) -> int:
        return min(waiting, key=lambda row: (len(self._left[row]), row))

    @abstractmethod
    def _orthogonalise(self, r: int, others: Sequence[int]) -> None:
        """Add a row to the basis, and remove its part from the others."""

    @abstractmethod
    def _residual_square(self, r: int) -> Scalar:
        """Square of the residual norm of a dependent row, or more."""

    @abstractmethod
    def answer(self, g: Sparse, b: Sequence[Scalar]) -> Answer:
        """The least f with which the independent rows are satisfied."""

    def admissible(self, g: Sparse) -> list[Scalar]:
        """Orthonormal coordinates of what rows leave of a whitened force, (nv − rank,)."""
        raise NotImplementedError

    def correction(self, r: int) -> Sparse:
        """A whitened motion that makes an independent row one, and the others zero."""
        return self.answer({}, [float(i == r) for i in range(len(self.squares))]).motion

    @abstractmethod
    def dependence(self, r: int) -> Sparse:
        """Factors by row, 1 for r, with which r and the independent rows add up to zero."""

    @abstractmethod
    def inverse_square(self, scales: Sequence[Scalar]) -> Scalar:
        """At most so large is the sum of squares of the pseudoinverse of the independent rows.

        They are scaled to one. Where a kind has a lower triangle R, |R⁻¹| is bounded by
        substitution with |R_ij| and one divided by |R_ii| (Higham, Accuracy and Stability of
        Numerical Algorithms, section 8.3), in order of m² operations instead of m³.
        """
