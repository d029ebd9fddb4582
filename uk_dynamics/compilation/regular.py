"""The fundamental equation where all rows are independent, traced: zeros of the machine vanish.

Where a state is regular by a safe margin, the order in which rows are taken does not matter: they
are eliminated by Householder reflections in a fixed order, and what is zero by the structure of the
mechanism is never computed. The distance of row i from the span of all others is one over the norm
of column i of R⁻¹. If all of them are above the rank tolerance, then so is the last pivot of any
order, and the rank is full by the rank rule; otherwise rows are taken by their remainders.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from uk_dynamics.compilation.symbols import Symbol
from uk_dynamics.compilation.terms import SymbolicTerms
from uk_dynamics.core.row_basis import LEAST_PART, handicap
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism.mechanism import Mechanism

Scalar = Any  # a Symbol or a float
Sparse = dict[int, Scalar]

_TINY = 1e-150
_MARGIN = 2.0  # a row is safely independent this many rank tolerances from the others


@dataclass(frozen=True)
class RegularSolution:
    """Symbols of the answers.

    Attributes:
        qdd: (nv,).
        ideal_force: (nv,).
        multipliers: (m,).
        violation: A q̈ − b, (m,).
        lost: What the mass factor has lost; see the bound ``UK_LOST_PIVOTS``.
        nearness: Sum of squares of R⁻¹ over what the margin allows: below one the state is regular.
    """

    qdd: list[Scalar]
    ideal_force: list[Scalar]
    multipliers: list[Scalar]
    violation: list[Scalar]
    lost: Scalar
    nearness: Scalar


def applies(mechanism: Mechanism) -> bool:
    """Whether all rows are independent where the mechanism starts, and none is switched."""
    rows = len(mechanism.constraints)
    if rows == 0 or rows > mechanism.model.nv or mechanism.hierarchy.switchable:
        return False
    try:
        return mechanism.dynamics("interpreted").evaluate(mechanism.start()).rank == rows
    except UkDynamicsError:  # loops that do not close: no place to look at
        return False


def solve(mechanism: Mechanism, terms: SymbolicTerms) -> RegularSolution | None:
    """Trace the solution.

    Args:
        mechanism: What moves.
        terms: Its terms, or inputs that stand for them; further ones are ``tau[i]``, ``stabilize``.

    Returns:
        Symbols, or None where a mass is constant and zero.
    """
    try:
        return _solve(mechanism, terms)
    except (ZeroDivisionError, ValueError):  # of constants: one over zero, root of less
        return None


def _solve(mechanism: Mechanism, terms: SymbolicTerms) -> RegularSolution:
    constraints = mechanism.constraints
    n, m = len(terms.F), len(constraints)
    factor = _Factor(terms, mechanism.model.velocity_parents)
    tau = terms.graph.variables("tau", n)
    stabilize = terms.graph.variable("stabilize")
    free = factor.whiten({i: terms.F[i] + tau[i] for i in range(n)})
    rows: list[Sparse] = []
    scales: list[Scalar] = []
    b: list[Scalar] = []
    for r in range(m):
        row = factor.whiten({i: x for i, x in enumerate(terms.A[r]) if not is_zero(x)})
        least = LEAST_PART * float(mechanism.natural_scale[r]) + _TINY
        scale = float(handicap(m)[r]) / _at_least(_root(_dot(row, row)), least)
        rows.append({i: x * scale for i, x in row.items()})
        scales.append(scale)
        pull = (
            float(constraints.damping[r]) * terms.rate[r]
            + float(constraints.stiffness[r]) * terms.residual[r]
        )
        b.append(-(terms.bias[r] + stabilize * pull))
    eliminated = _Elimination(rows)
    order = eliminated.order
    rotated = dict(free)
    for reflector in eliminated.reflectors:
        reflector.apply(rotated)
    # z: what the rows want; what is missing of it comes from the constraint force
    z: list[Scalar] = []
    for k, r in enumerate(order):
        rest = b[r] * scales[r]
        for i in range(k):
            rest = rest - eliminated.lower[k].get(i, 0.0) * z[i]
        z.append(rest * eliminated.inverse[k])
    missing = [x - rotated.get(c, 0.0) for x, c in zip(z, eliminated.columns, strict=True)]
    force = dict(zip(eliminated.columns, missing, strict=True))
    for reflector in reversed(eliminated.reflectors):
        reflector.apply(force)
    whole = {i: free.get(i, 0.0) + force.get(i, 0.0) for i in range(n)}
    qdd = factor.unwhiten(whole)
    # λ from R λ̂ = z
    scaled = list(missing)
    for k in reversed(range(m)):
        for i in range(k + 1, m):
            scaled[k] = scaled[k] - eliminated.lower[i].get(k, 0.0) * scaled[i]
        scaled[k] = scaled[k] * eliminated.inverse[k]
    multipliers: list[Scalar] = [0.0] * m
    for k, r in enumerate(order):
        multipliers[r] = scaled[k] * scales[r]
    violation = [_product(terms.A[r], qdd) - b[r] for r in range(m)]
    allowed = (1.0 / (_MARGIN * mechanism.spec.solver.rank_tolerance)) ** 2
    nearness = eliminated.inverse_square() * (1.0 / allowed)
    return RegularSolution(qdd, factor.color(force), multipliers, violation, factor.lost, nearness)


class _Factor:
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
            root = _root(H[k, k])
            inverse = self._inverse[k] = 1.0 / root
            self.lost = self.lost + terms.M[k, k] * (inverse * inverse)
            H[k, k] = root
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
class _Reflector:
    vector: Sparse
    beta: Scalar

    def apply(self, x: Sparse) -> bool:
        """I − β v vᵀ times x, in place; whether they meet at all."""
        product = _dot(self.vector, x)
        if is_zero(product):
            return False
        product = product * self.beta
        for i, v in self.vector.items():
            _subtract(x, i, product * v)
        return True


class _Elimination:
    """Householder reflections of sparse rows, the shortest one next; every row takes a column."""

    def __init__(self, rows: list[Sparse]) -> None:
        self.order: list[int] = []
        self.columns: list[int] = []
        self.reflectors: list[_Reflector] = []
        self.inverse: list[Scalar] = []
        self.lower: list[Sparse] = []
        before: dict[int, Sparse] = {r: {} for r in range(len(rows))}
        left = dict(enumerate(rows))
        while left:
            r = min(left, key=lambda row: (len(left[row]), row))
            row = left.pop(r)
            k, column = len(self.order), max(row, default=-1)
            norm = _root(_dot(row, row))
            head = row.get(column, 0.0)
            diagonal = _choose_positive(head, -norm, norm)
            beta = 1.0 / (norm * (norm + abs(head)))
            reflector = _Reflector({**row, column: head - diagonal}, beta)
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
            total = total + _dot(column, column)
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


def _dot(x: Sparse, y: Sparse) -> Scalar:
    total: Scalar = 0.0
    for i, value in x.items():
        if i in y:
            total = total + value * y[i]
    return total


def _product(row: Any, x: list[Scalar]) -> Scalar:
    total: Scalar = 0.0
    for a, value in zip(row, x, strict=True):
        if not is_zero(a):
            total = total + a * value
    return total


def _root(x: Scalar) -> Scalar:
    return x.sqrt() if isinstance(x, Symbol) else math.sqrt(x)


def _at_least(x: Scalar, least: float) -> Scalar:
    if isinstance(x, Symbol):
        return (x > least).choose(x, least)
    return max(x, least)


def _choose_positive(x: Scalar, yes: Scalar, no: Scalar) -> Scalar:
    if isinstance(x, Symbol):
        return (x > 0.0).choose(yes, no)
    return yes if x > 0.0 else no
