# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rows orthogonalised by modified Gram–Schmidt, traced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from uk_dynamics.compilation.trace.independent_rows import Answer, IndependentRows
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
