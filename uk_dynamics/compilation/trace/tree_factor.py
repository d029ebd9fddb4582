# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The mass factor of a tree, traced."""

import math

from uk_dynamics.compilation.trace.sparse_vectors import Scalar, Sparse, smaller, subtract_multiple
from uk_dynamics.compilation.trace.terms import SymbolicTerms


class TreeFactor:
    """M = Hᵀ D H with H unit lower triangular and as sparse as the tree, D diagonal: no roots.

    Featherstone, Rigid Body Dynamics Algorithms, section 6.5.
    """

    def __init__(self, terms: SymbolicTerms, parents: tuple[int, ...]) -> None:
        n = len(parents)
        self._ancestors = [_ancestors(i, parents) for i in range(n)]
        rows: list[Sparse] = [
            {j: terms.M[i, j] for j in (i, *self._ancestors[i])} for i in range(n)
        ]
        self.pivots: list[Scalar] = [0.0] * n  # diagonal of D, (n,)
        self.inverse: list[Scalar] = [0.0] * n  # one over it, (n,)
        self.least: Scalar = math.inf  # the smallest pivot: above zero where M is positive definite
        self.lost: Scalar = 0.0  # sum of what M has on its diagonal over the pivots
        self._rows = rows
        for k in reversed(range(n)):
            row = rows[k]
            pivot = self.pivots[k] = row.pop(k)
            inverse = self.inverse[k] = 1.0 / pivot
            self.least = smaller(pivot, self.least)
            self.lost = self.lost + terms.M[k, k] * inverse
            rows[k] = {i: value * inverse for i, value in row.items()}
            for i, share in rows[k].items():
                subtract_multiple(rows[i], share, {j: row[j] for j in (i, *self._ancestors[i])})

    def whiten(self, x: Sparse) -> Sparse:
        """H⁻ᵀ x."""
        y = dict(x)
        for i in reversed(range(len(self._rows))):
            if i in y:
                subtract_multiple(y, y[i], self._rows[i])
        return y

    def unwhiten(self, x: Sparse) -> list[Scalar]:
        """H⁻¹ x."""
        y: list[Scalar] = []
        for i, row in enumerate(self._rows):
            rest = x.get(i, 0.0)
            for j, value in row.items():
                rest = rest - value * y[j]
            y.append(rest)
        return y

    def multiply_factor(self, x: Sparse) -> list[Scalar]:
        """Hᵀ x."""
        y: list[Scalar] = [0.0] * len(self._rows)
        for i, value in x.items():
            y[i] = y[i] + value
            for j, share in self._rows[i].items():
                y[j] = y[j] + share * value
        return y


def _ancestors(i: int, parents: tuple[int, ...]) -> list[int]:
    found = []
    while parents[i] >= 0:
        i = parents[i]
        found.append(i)
    return found
