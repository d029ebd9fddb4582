# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Independent rows in a fixed order, traced.

Rows u are covectors in the metric D⁻¹, and so are the applied force g and the constraint force f:
together they make the acceleration x = D⁻¹ (g + f), which is to satisfy u·x = b.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from uk_dynamics.compilation.trace.sparse_vectors import (
    Scalar,
    Sparse,
    absolute,
    add_multiple,
    dot,
    is_zero,
    root,
    subtract_multiple,
    weighted,
)
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


class GramSchmidt(IndependentRows):
    """Modified Gram–Schmidt (Björck, Numerical Methods for Least Squares Problems, section 2.4).

    Of each row u_k is left w_k = u_k − Σ r_ki w_i over the rows i before it. Without a root,
    and short where there are few rows; but rows fill up with the columns of others.
    """

    def __init__(
        self, rows: list[Sparse], independent: Mapping[int, int], factor: TreeFactor
    ) -> None:
        self._duals: dict[int, Sparse] = {}  # D⁻¹ w
        self._inverse: dict[int, Scalar] = {}  # 1 / w·D⁻¹w
        self._shares: list[Sparse] = [{} for _ in rows]  # r_ki
        # how w is made of rows
        self._combinations: list[Sparse] = [{r: 1.0} for r in range(len(rows))]
        super().__init__(rows, independent, factor)

    def _orthogonalise(self, r: int, others: Sequence[int]) -> None:
        self._inverse[r] = 1.0 / self._residual_square(r)
        dual = self._duals[r]
        for j in others:
            meeting = dot(dual, self._left[j])
            if is_zero(meeting):
                continue
            share = self._shares[j][r] = meeting * self._inverse[r]
            self.squares[j] = self.squares[j] + share * meeting
            subtract_multiple(self._left[j], share, self._left[r])

    def _residual_square(self, r: int) -> Scalar:
        dual = self._duals[r] = weighted(self._factor.inverse, self._left[r])
        square = dot(dual, self._left[r])
        self.squares[r] = self.squares[r] + square
        for i, share in self._shares[r].items():
            subtract_multiple(self._combinations[r], share, self._combinations[i])
        return square

    def answer(self, g: Sparse, b: Sequence[Scalar]) -> Answer:
        """One row after the other; see :class:`IndependentRows`."""
        whole = dict(g)
        wanted: Sparse = {}
        force: Sparse = {}
        multipliers: Sparse = {}
        for r in self.order:
            wanted[r] = b[r] - dot(self._shares[r], wanted)
            multiplier = (wanted[r] - dot(self._duals[r], whole)) * self._inverse[r]
            add_multiple(whole, multiplier, self._left[r])
            add_multiple(force, multiplier, self._left[r])
            add_multiple(multipliers, multiplier, self._combinations[r])
        return Answer(weighted(self._factor.inverse, whole), force, multipliers)

    def dependence(self, r: int) -> Sparse:
        """See :class:`IndependentRows`."""
        return self._combinations[r]

    def inverse_square(self, scales: Sequence[Scalar]) -> Scalar:
        """See :class:`IndependentRows`."""
        total: Scalar = 0.0
        bounds: Sparse = {}
        for r in self.order:
            bounds[r] = root(scales[r]) + dot(absolute(self._shares[r]), bounds)
            total = total + bounds[r] * bounds[r] * self._inverse[r]
        return total
