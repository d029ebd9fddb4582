# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The fundamental equation where the rank is beyond doubt, traced: zeros of the machine vanish.

Where a state is regular by a safe margin, the order in which rows are orthogonalised does not
matter: those that are independent where the mechanism starts have a fixed order, and structural
zeros are never computed.

Let N bound the sum of squares of the pseudoinverse of these r rows, each scaled to its own size;
their smallest singular value is at least 1/√N. At each of r steps pivoting would find a row with a
residual norm of at least 1/√(r N): where that is above the rank tolerance, the rank is not smaller.
Nor is it larger where the other rows depend on these up to rounding; and where those hold as well,
up to rounding, any choice among all rows gives the same motion. Rounding is here what √N magnifies
to ``SAFE_ROUNDING``. In all other states rows are pivoted by their residual norm.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from uk_dynamics.compilation.trace.elimination import Elimination
from uk_dynamics.compilation.trace.independent_rows import GramSchmidt, IndependentRows
from uk_dynamics.compilation.trace.sparse_vectors import (
    Scalar,
    Sparse,
    dot,
    larger,
    sparse,
    subtract_multiple,
    weighted,
)
from uk_dynamics.compilation.trace.symbols import in_order
from uk_dynamics.compilation.trace.terms import SymbolicTerms
from uk_dynamics.compilation.trace.tree_factor import TreeFactor
from uk_dynamics.core.equation import UdwadiaKalaba, stabilizing_terms
from uk_dynamics.core.linalg import (
    KERNEL_ROUNDING,
    LEAST_PART,
    SAFE_MARGIN,
    SAFE_ROUNDING,
    TINY,
    choose,
)
from uk_dynamics.core.recursion import Hierarchical
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism.assembly import start
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Flags, ResolvedMechanism

_SLOW = {"sqrt": 20, "/": 15}  # what a root and a quotient cost, in additions
_KINDS: Sequence[type[IndependentRows]] = (GramSchmidt, Elimination)
_ROUNDING = 1e-12  # of rows of unit length
_THRESHOLD = 0.2  # of the largest entry of a row: the least pivot


class Admissible(NamedTuple):
    """A generalized force x."""

    coordinates: list[Scalar]  # orthonormal: their products are xᵀ N y, (nv − rank,)
    square: Scalar  # xᵀ M⁻¹ x


@dataclass(frozen=True)
class RegularSolution:
    """Symbols of the answers."""

    qdd: list[Scalar]  # (nv,)
    ideal_force: list[Scalar]  # (nv,)
    multipliers: list[Scalar]  # of least norm, (m,)
    determined: list[Scalar]  # one for each row whose multiplier is unique, else zero, (m,)
    violation: list[Scalar]  # A q̈ − b, (m,)
    rank: int  # number of independent rows
    lost: Scalar  # what the mass factor has lost; see the bound ``UK_LOST_PIVOTS``
    nearness: Scalar  # below one the state is regular
    rows: IndependentRows
    factor: TreeFactor

    def admissible(self, force: Sparse) -> Admissible:
        """A generalized force in the admissible motions; of rows that are eliminated."""
        assert isinstance(self.rows, Elimination)
        g = self.factor.whiten(force)
        return Admissible(self.rows.admissible(g), dot(weighted(self.factor.inverse, g), g))

    def correction(self, r: int) -> list[Scalar]:
        """A motion that this independent row sees as one, and no other one does, (nv,)."""
        assert isinstance(self.rows, Elimination)
        return self.factor.unwhiten(self.rows.correction(r))


def _cost(solution: RegularSolution) -> int:
    """What computing the acceleration costs, in additions."""
    return sum(_SLOW.get(x.operation, 1) for x in in_order([*solution.qdd, solution.nearness]))


def independent_at_start(mechanism: ResolvedMechanism) -> dict[int, int]:
    """Rows that are independent where the mechanism starts, each with a column to eliminate it by.

    None where rows are switched.
    """
    if mechanism.hierarchy.switches:
        return {}
    try:
        reactions = InterpretedDynamics(mechanism).evaluate(start(mechanism)).reactions
    except UkDynamicsError:  # loops that do not close: no place to look at
        return {}
    if not isinstance(reactions, UdwadiaKalaba | Hierarchical):  # M is singular
        return {}
    independent = sorted(map(int, reactions.independent))
    # M = U Uᵀ from below, which like TreeFactor leaves zeros zero
    upper = np.linalg.cholesky(reactions.mass.dense()[::-1, ::-1])[::-1, ::-1]
    rows = np.linalg.solve(upper, reactions.A[independent].T).T
    return {independent[k]: column for k, column in _pivots(rows)}


def _pivots(rows: Array) -> list[tuple[int, int]]:
    """Rows with columns in which they are large, in an order in which elimination fills few zeros.

    Markowitz's count with a threshold (Duff, Erisman and Reid, Direct Methods for Sparse Matrices,
    section 7.2).
    """
    left = rows / np.linalg.norm(rows, axis=1)[:, None]
    waiting, found = set(range(len(left))), []
    while waiting:
        filled = np.abs(left) > _ROUNDING
        others = filled.sum(axis=0) - 1
        k, column = min(
            ((k, int(i)) for k in sorted(waiting) for i in np.flatnonzero(_large(left[k]))),
            key=lambda at: ((filled[at[0]].sum() - 1) * others[at[1]], -abs(left[at])),
        )
        waiting.remove(k)
        found.append((k, column))
        left[k] /= left[k, column]
        for j in range(len(left)):
            if j != k:
                left[j] -= left[j, column] * left[k]
                left[j, column] = 0.0
        left[:, column] = 0.0
    return found


def _large(row: Array) -> Flags:
    size = np.abs(row)
    large: Flags = size >= _THRESHOLD * size.max()
    return large


def solve(
    mechanism: ResolvedMechanism,
    terms: SymbolicTerms,
    independent: Mapping[int, int],
    kinds: Sequence[type[IndependentRows]] = _KINDS,
) -> RegularSolution | None:
    """Trace the solution that costs least."""
    try:
        found = [_solve(mechanism, terms, independent, kind) for kind in kinds]
    except (ZeroDivisionError, ValueError):  # of constants: one over zero, root of less
        return None
    return min(found, key=_cost)


def _solve(
    mechanism: ResolvedMechanism,
    terms: SymbolicTerms,
    independent: Mapping[int, int],
    kind: type[IndependentRows],
) -> RegularSolution:
    n, m = len(terms.F), len(mechanism.constraints)
    factor = TreeFactor(terms, mechanism.model.velocity_parents)
    rows = kind([factor.whiten(sparse(row)) for row in terms.A], independent, factor)
    force = terms.F + terms.graph.variables("tau", n)
    b = _right_hand_side(mechanism, terms)
    answer = rows.answer(factor.whiten(sparse(force)), b)
    qdd = factor.unwhiten(answer.motion)
    violation = [dot(sparse(terms.A[r]), dict(enumerate(qdd))) - b[r] for r in range(m)]
    least = [(LEAST_PART * float(x) + TINY) ** 2 for x in mechanism.natural_scale]
    scales = [larger(x, y) for x, y in zip(rows.squares, least, strict=True)]
    kernel = [rows.dependence(r) for r in rows.residual_squares]
    nearness = _nearness(mechanism, terms, rows, scales, qdd, violation)
    return RegularSolution(
        qdd,
        factor.multiply_factor(answer.force),
        least_multipliers(answer.multipliers, kernel, m),
        determined_rows(kernel, scales),
        violation,
        len(independent),
        factor.lost,
        choose(factor.least > 0.0, nearness, math.inf),
        rows,
        factor,
    )


def _right_hand_side(mechanism: ResolvedMechanism, terms: SymbolicTerms) -> list[Scalar]:
    constraints = mechanism.constraints
    stabilize = terms.graph.variable("stabilize")
    gains = constraints.damping.tolist(), constraints.stiffness.tolist()
    columns = (terms.bias, *gains, terms.rate, terms.residual)
    return [
        stabilize * stabilizing_terms(*of_row) - bias
        for bias, *of_row in zip(*columns, strict=True)
    ]


def _nearness(
    mechanism: ResolvedMechanism,
    terms: SymbolicTerms,
    rows: IndependentRows,
    scales: list[Scalar],
    qdd: list[Scalar],
    violation: list[Scalar],
) -> Scalar:
    """Below one where the rank is sure, and dependent rows follow from the independent ones."""
    square = rows.inverse_square(scales)
    tolerance = SAFE_MARGIN * mechanism.spec.solver.rank_tolerance
    nearness = square * max(len(rows.order) * tolerance**2, 1.0 / rows.largest_inverse_square)
    if not rows.residual_squares:
        return nearness
    motion = 1.0 + dot(dict(enumerate(qdd)), dict(enumerate(qdd)))
    allowed = SAFE_ROUNDING**2
    for r, residual_square in rows.residual_squares.items():
        row = sparse(terms.A[r])
        for excess, whole in (
            (residual_square, scales[r]),
            (violation[r] * violation[r], dot(row, row) * motion),
        ):
            nearness = choose(excess * square < whole * allowed, nearness, math.inf)
    return nearness


def least_multipliers(multipliers: Sparse, kernel: Sequence[Sparse], count: int) -> list[Scalar]:
    """The multipliers of least norm that make the same force, (count,)."""
    found = dict(multipliers)
    for vector, square in _orthogonal(kernel, [1.0] * count):
        subtract_multiple(found, dot(vector, found) / square, vector)
    return [found.get(r, 0.0) for r in range(count)]


def determined_rows(kernel: Sequence[Sparse], scales: Sequence[Scalar]) -> list[Scalar]:
    """One for each row whose multiplier is unique, else zero."""
    shares: list[Scalar] = [0.0] * len(scales)
    for vector, square in _orthogonal(kernel, scales):
        for r, factor in vector.items():
            shares[r] = shares[r] + scales[r] * (factor * factor) / square
    return [choose(share <= KERNEL_ROUNDING**2, 1.0, 0.0) for share in shares]


def _orthogonal(kernel: Sequence[Sparse], weights: Sequence[Scalar]) -> list[tuple[Sparse, Scalar]]:
    """Vectors made orthogonal in the metric of the weights, with their squares."""
    found: list[tuple[Sparse, Scalar]] = []
    for vector in kernel:
        rest = dict(vector)
        for other, square in found:
            subtract_multiple(rest, dot(weighted(weights, other), rest) / square, other)
        found.append((rest, dot(weighted(weights, rest), rest)))
    return found
