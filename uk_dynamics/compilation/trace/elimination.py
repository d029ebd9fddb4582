# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rows eliminated by columns that are fixed beforehand, traced."""

from collections.abc import Collection, Mapping, Sequence

from uk_dynamics.compilation.trace.independent_rows import Answer, IndependentRows
from uk_dynamics.compilation.trace.sparse_vectors import (
    Scalar,
    Sparse,
    add_multiple,
    dot,
    is_zero,
    root,
    subtract_multiple,
    weighted,
)
from uk_dynamics.compilation.trace.tree_factor import TreeFactor

_LARGEST = 1e4


class Elimination(IndependentRows):
    """Gauss–Jordan elimination of a column per row, then least squares in the columns that remain.

    With U x = b for the motion x in pivot columns p and others f it leaves x_p = c − T x_f, and of
    all these motions one minimises (x − D⁻¹g)ᵀ D (x − D⁻¹g):

        (D_f + Tᵀ D_p T) x_f = g_f + Tᵀ (D_p c − g_p).

    Where each leg of a machine has columns of its own they vanish leg by leg, and what is solved
    together is as small as the motion that is left. Pivots are those of the start: states where
    they are small are left to pivoting.
    """

    largest_inverse_square = _LARGEST  # its digits: half as many as the inverse takes are lost

    def __init__(
        self, rows: list[Sparse], independent: Mapping[int, int], factor: TreeFactor
    ) -> None:
        self._columns = dict(independent)
        self._inverse: dict[int, Scalar] = {}  # one over the pivots
        self._steps: list[tuple[int, dict[int, Scalar]]] = []  # shares of a row in others
        super().__init__(rows, independent, factor)
        for r, row in enumerate(rows):
            self.squares[r] = dot(weighted(factor.inverse, row), row)
        taken = set(self._columns.values())
        self._free = [i for i in range(len(factor.inverse)) if i not in taken]
        self._factor_free()

    def _next(self, waiting: Collection[int]) -> int:
        return next(r for r in self._columns if r in waiting)

    def _orthogonalise(self, r: int, others: Sequence[int]) -> None:
        row = self._left[r]
        inverse = self._inverse[r] = 1.0 / row.pop(self._columns[r])
        self._left[r] = {i: x * inverse for i, x in row.items()}
        shares = {}
        for j in (*self.order, *others):
            share = self._left[j].pop(self._columns[r], 0.0)
            if not is_zero(share):
                shares[j] = share
                subtract_multiple(self._left[j], share, self._left[r])
        self._steps.append((r, shares))

    def _residual_square(self, r: int) -> Scalar:
        return dot(weighted(self._factor.inverse, self._left[r]), self._left[r])  # at most

    def _factor_free(self) -> None:
        """D_f + Tᵀ D_p T as H Δ Hᵀ with H unit lower triangular."""
        pivots = self._factor.pivots
        columns: dict[int, Sparse] = {i: {i: pivots[i]} for i in self._free}
        for r, column in self._columns.items():
            row = sorted(self._left[r].items())
            for at, (j, value) in enumerate(row):
                add_multiple(columns[j], pivots[column] * value, dict(row[at:]))
        self._lower: dict[int, Sparse] = {}
        self._metric: dict[int, Scalar] = {}  # Δ⁻¹
        for k in self._free:
            below = columns[k]
            inverse = self._metric[k] = 1.0 / below.pop(k)
            lower = self._lower[k] = {i: x * inverse for i, x in below.items()}
            for j in sorted(lower):
                subtract_multiple(columns[j], lower[j], {i: x for i, x in below.items() if i >= j})

    def _substitute(self, b: Sparse) -> Sparse:
        """The motion in pivot columns with which rows become b, by row."""
        x = dict(b)
        for r, shares in self._steps:
            if r in x:
                x[r] = x[r] * self._inverse[r]
                subtract_multiple(x, x[r], {j: y for j, y in shares.items() if j in self._columns})
        return x

    def _combine(self, x: Sparse) -> Sparse:
        """Factors by row with which rows make x in the pivot columns, by row; the transpose."""
        y = dict(x)
        for r, shares in reversed(self._steps):
            rest = y.get(r, 0.0) - dot(shares, y)
            if not is_zero(rest):
                y[r] = rest * self._inverse[r]
        return y

    def _forward(self, h: Sparse) -> Sparse:
        for k in self._free:
            if k in h:
                subtract_multiple(h, h[k], self._lower[k])
        return h

    def answer(self, g: Sparse, b: Sequence[Scalar]) -> Answer:
        """See the class and :class:`IndependentRows`."""
        pivots = self._factor.pivots
        wanted = self._substitute({r: b[r] for r in self.order if not is_zero(b[r])})
        h = {i: g[i] for i in self._free if i in g}
        for r, column in self._columns.items():
            force = pivots[column] * wanted.get(r, 0.0) - g.get(column, 0.0)
            add_multiple(h, force, self._left[r])
        motion = weighted(self._metric, self._forward(h))
        for k in reversed(self._free):
            motion[k] = motion.get(k, 0.0) - dot(self._lower[k], motion)
        for r, column in self._columns.items():
            motion[column] = wanted.get(r, 0.0) - dot(self._left[r], motion)
        force_of = {i: pivots[i] * x - g.get(i, 0.0) for i, x in motion.items()}
        at_pivots = {r: force_of[column] for r, column in self._columns.items()}
        return Answer(motion, force_of, self._combine(at_pivots))

    def admissible(self, g: Sparse) -> list[Scalar]:
        """Orthonormal coordinates of what rows leave of a whitened force, (nv − rank,)."""
        h = {i: g[i] for i in self._free if i in g}
        for r, column in self._columns.items():
            if column in g:
                subtract_multiple(h, g[column], self._left[r])
        found = self._forward(h)
        return [found.get(i, 0.0) * root(self._metric[i]) for i in self._free]

    def correction(self, r: int) -> Sparse:
        """A whitened motion, in pivot columns, that makes an independent row one, others zero."""
        return {self._columns[k]: x for k, x in self._substitute({r: 1.0}).items()}

    def dependence(self, r: int) -> Sparse:
        """See :class:`IndependentRows`."""
        return self._combine({r: 1.0})

    def inverse_square(self, scales: Sequence[Scalar]) -> Scalar:
        """Of the pivot columns alone, and of each pivot; see :class:`IndependentRows`."""
        total: Scalar = 0.0
        weights = {k: self._factor.pivots[i] for k, i in self._columns.items()}
        for r in self.order:
            found = self._substitute({r: 1.0})
            own = self._inverse[r] * self._inverse[r] * weights[r]
            square = dot(weighted(weights, found), found)
            total = total + scales[r] * (own + square)
        return total
