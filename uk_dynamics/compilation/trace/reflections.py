# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rows orthogonalised by Householder reflections, traced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from uk_dynamics.compilation.trace.independent_rows import Answer, IndependentRows
from uk_dynamics.compilation.trace.sparse_vectors import (
    Scalar,
    Sparse,
    absolute,
    add_multiple,
    choose,
    dot,
    is_zero,
    root,
    subtract_multiple,
    weighted,
)
from uk_dynamics.compilation.trace.tree_factor import TreeFactor


class Reflections(IndependentRows):
    """Householder reflections x − β v (v·D⁻¹x), each of which turns a row into one column.

    That column vanishes in all other rows, which keeps them short where there are many.
    """

    def __init__(
        self, rows: list[Sparse], independent: Mapping[int, int], factor: TreeFactor
    ) -> None:
        self._columns: list[int] = []  # the column of each independent row
        self._vectors: list[tuple[Sparse, Sparse, Scalar]] = []  # v, D⁻¹v, β
        self._inverse: list[Scalar] = []  # one over what the row is there
        self._lower: list[Sparse] = [{} for _ in rows]  # what rows are there, by place
        super().__init__(rows, independent, factor)
        for r, row in enumerate(rows):
            self.squares[r] = dot(weighted(factor.inverse, row), row)

    def _orthogonalise(self, r: int, others: Sequence[int]) -> None:
        row, metric = self._left[r], self._factor.inverse
        column = max(row)
        square = self._residual_square(r)
        size = root(square * self._factor.pivots[column])
        head = row[column]
        diagonal = choose(head > 0.0, -size, size)
        half = square + size * abs(head) * metric[column]
        quotient = 1.0 / (square * half)  # one division for two
        vector = {**row, column: head - diagonal}
        k = len(self._vectors)
        self._vectors.append((vector, weighted(metric, vector), quotient * square))
        self._inverse.append(diagonal * metric[column] * (quotient * half))
        self._columns.append(column)
        for j in others:
            if self._reflect(k, self._left[j]):
                self._lower[j][k] = self._left[j].pop(column)

    def _residual_square(self, r: int) -> Scalar:
        return dot(weighted(self._factor.inverse, self._left[r]), self._left[r])

    def _reflect(self, k: int, x: Sparse) -> bool:
        """In place; whether they meet at all."""
        vector, dual, beta = self._vectors[k]
        share = dot(dual, x)
        if is_zero(share):
            return False
        subtract_multiple(x, share * beta, vector)
        return True

    def answer(self, g: Sparse, b: Sequence[Scalar]) -> Answer:
        """In their own columns, then reflected back; see :class:`IndependentRows`."""
        rotated = dict(g)
        for k in range(len(self.order)):
            self._reflect(k, rotated)
        motion: Sparse = {}  # in those columns
        missing: Sparse = {}
        for k, (r, column) in enumerate(zip(self.order, self._columns, strict=True)):
            motion[k] = (b[r] - dot(self._lower[r], motion)) * self._inverse[k]
            missing[k] = motion[k] * self._factor.pivots[column] - rotated.get(column, 0.0)
        force: Sparse = {self._columns[k]: x for k, x in missing.items()}
        for k in reversed(range(len(self.order))):
            self._reflect(k, force)
        whole = dict(g)
        add_multiple(whole, 1.0, force)
        return Answer(weighted(self._factor.inverse, whole), force, self._of_rows(missing))

    def _of_rows(self, x: Sparse) -> Sparse:
        """Factors by row with which independent rows add up to x, which is given by place."""
        rest, factors = dict(x), {}
        for k in reversed(range(len(self.order))):
            if k in rest:
                r = self.order[k]
                factors[r] = rest[k] * self._inverse[k]
                subtract_multiple(rest, factors[r], self._lower[r])
        return factors

    def dependence(self, r: int) -> Sparse:
        """See :class:`IndependentRows`."""
        return {r: 1.0, **{i: -x for i, x in self._of_rows(self._lower[r]).items()}}

    def inverse_square(self, scales: Sequence[Scalar]) -> Scalar:
        """See :class:`IndependentRows`."""
        total: Scalar = 0.0
        bounds: Sparse = {}
        for k, (r, column) in enumerate(zip(self.order, self._columns, strict=True)):
            rest = root(scales[r]) + dot(absolute(self._lower[r]), bounds)
            bounds[k] = rest * abs(self._inverse[k])
            total = total + bounds[k] * bounds[k] * self._factor.pivots[column]
        return total

    def admissible(self, g: Sparse) -> list[Scalar]:
        """See :class:`IndependentRows`."""
        rotated = dict(g)
        for k in range(len(self.order)):
            self._reflect(k, rotated)
        metric = self._factor.inverse
        left = (i for i in range(len(metric)) if i not in self._columns)
        return [rotated.get(i, 0.0) * root(metric[i]) for i in left]
