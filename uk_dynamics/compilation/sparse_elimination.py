"""A mass factor and Householder reflections on sparse vectors of symbols.

What is zero by the structure of a mechanism is never computed: a sparse vector has no entry there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from uk_dynamics.compilation.symbols import Symbol
from uk_dynamics.compilation.terms import SymbolicTerms

Scalar = Any  # a Symbol or a float
Sparse = dict[int, Scalar]


class TreeFactor:
    """M = Hᵀ H with H lower triangular and as sparse as the tree; L = Hᵀ."""

    def __init__(self, terms: SymbolicTerms, parents: tuple[int, ...]) -> None:
        n = len(parents)
        self._ancestors = [_ancestors(i, parents) for i in range(n)]
        H: dict[tuple[int, int], Scalar] = {}
        for i in range(n):
            for j in (i, *self._ancestors[i]):
                H[i, j] = terms.M[i, j]
        self.lost: Scalar = 0.0
        self._inverse: list[Scalar] = [0.0] * n
        for k in reversed(range(n)):
            pivot = root(H[k, k])
            inverse = self._inverse[k] = 1.0 / pivot
            self.lost = self.lost + terms.M[k, k] * (inverse * inverse)
            H[k, k] = pivot
            for i in self._ancestors[k]:
                H[k, i] = H[k, i] * inverse
            for i in self._ancestors[k]:
                for j in (i, *self._ancestors[i]):
                    H[i, j] = H[i, j] - H[k, i] * H[k, j]
        self._H = H

    def whiten(self, x: Sparse) -> Sparse:
        """L⁻¹ x."""
        y = dict(x)
        for i in reversed(range(len(self._ancestors))):
            if i not in y:
                continue
            y[i] = y[i] * self._inverse[i]
            for j in self._ancestors[i]:
                _subtract(y, j, self._H[i, j] * y[i])
        return y

    def unwhiten(self, x: Sparse) -> list[Scalar]:
        """L⁻ᵀ x."""
        y: list[Scalar] = []
        for i, ancestors in enumerate(self._ancestors):
            rest = x.get(i, 0.0)
            for j in ancestors:
                rest = rest - self._H[i, j] * y[j]
            y.append(rest * self._inverse[i])
        return y

    def color(self, x: Sparse) -> list[Scalar]:
        """L x."""
        y: list[Scalar] = [0.0] * len(self._ancestors)
        for i, value in x.items():
            for j in (i, *self._ancestors[i]):
                y[j] = y[j] + self._H[i, j] * value
        return y


@dataclass(frozen=True)
class Reflector:
    """A Householder reflection I − β v vᵀ.

    Attributes:
        vector: v.
        beta: β.
    """

    vector: Sparse
    beta: Scalar

    def apply(self, x: Sparse) -> bool:
        """I − β v vᵀ times x, in place; whether they meet at all."""
        share = dot(self.vector, x)
        if is_zero(share):
            return False
        share = share * self.beta
        for i, v in self.vector.items():
            _subtract(x, i, share * v)
        return True


class Elimination:
    """Householder reflections of sparse rows, the shortest one next; every row takes a column.

    Attributes:
        order: Rows in the order in which they were taken.
        columns: The column that each of them took.
        reflectors: That of each.
        inverse: One over the diagonal of R.
        lower: What of each row the reflections before it have moved into their columns.
    """

    def __init__(self, rows: list[Sparse]) -> None:
        self.order: list[int] = []
        self.columns: list[int] = []
        self.reflectors: list[Reflector] = []
        self.inverse: list[Scalar] = []
        self.lower: list[Sparse] = []
        before: dict[int, Sparse] = {r: {} for r in range(len(rows))}
        left = dict(enumerate(rows))
        while left:
            r = min(left, key=lambda row: (len(left[row]), row))
            row = left.pop(r)
            k, column = len(self.order), max(row, default=-1)
            norm = root(dot(row, row))
            head = row.get(column, 0.0)
            diagonal = _choose_positive(head, -norm, norm)
            beta = 1.0 / (norm * (norm + abs(head)))
            reflector = Reflector({**row, column: head - diagonal}, beta)
            for j, other in left.items():
                if reflector.apply(other):
                    before[j][k] = other.pop(column)
            self.order.append(r)
            self.columns.append(column)
            self.reflectors.append(reflector)
            self.inverse.append(1.0 / diagonal)
            self.lower.append(before[r])

    def inverse_square(self) -> Scalar:
        """Sum of the squares of R⁻¹."""
        total: Scalar = 0.0
        for k in range(len(self.order)):
            column: Sparse = {k: self.inverse[k]}
            for i in range(k + 1, len(self.order)):
                rest: Scalar = 0.0
                for j, x in column.items():
                    rest = rest - self.lower[i].get(j, 0.0) * x
                if not is_zero(rest):
                    column[i] = rest * self.inverse[i]
            total = total + dot(column, column)
        return total


def is_zero(x: Scalar) -> bool:
    """Whether a value is zero by structure."""
    return isinstance(x, float | int) and x == 0


def _ancestors(i: int, parents: tuple[int, ...]) -> list[int]:
    found = []
    while parents[i] >= 0:
        i = parents[i]
        found.append(i)
    return found


def _subtract(x: Sparse, i: int, value: Scalar) -> None:
    if not is_zero(value):
        x[i] = x.get(i, 0.0) - value


def dot(x: Sparse, y: Sparse) -> Scalar:
    """Scalar product of sparse vectors."""
    total: Scalar = 0.0
    for i, value in x.items():
        if i in y:
            total = total + value * y[i]
    return total


def product(row: Any, x: list[Scalar]) -> Scalar:
    """Scalar product of a row, whose zeros are skipped, and a vector."""
    total: Scalar = 0.0
    for a, value in zip(row, x, strict=True):
        if not is_zero(a):
            total = total + a * value
    return total


def root(x: Scalar) -> Scalar:
    """Square root."""
    return x.sqrt() if isinstance(x, Symbol) else math.sqrt(x)


def at_least(x: Scalar, least: float) -> Scalar:
    """The larger of both."""
    if isinstance(x, Symbol):
        return (x > least).choose(x, least)
    return max(x, least)


def _choose_positive(x: Scalar, yes: Scalar, no: Scalar) -> Scalar:
    if isinstance(x, Symbol):
        return (x > 0.0).choose(yes, no)
    return yes if x > 0.0 else no
