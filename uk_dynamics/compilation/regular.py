"""The fundamental equation where all rows are independent, traced: zeros of the machine vanish.

Where a state is regular by a safe margin, the order in which rows are taken does not matter: they
are eliminated by Householder reflections in a fixed order, and what is zero by the structure of the
mechanism is never computed. The distance of row i from the span of all others is one over the norm
of column i of R⁻¹. If all of them are above the rank tolerance, then so is the last pivot of any
order, and the rank is full by the rank rule; otherwise rows are taken by their remainders.
"""

from __future__ import annotations

from dataclasses import dataclass

from uk_dynamics.compilation.sparse_elimination import (
    Elimination,
    Scalar,
    Sparse,
    TreeFactor,
    at_least,
    dot,
    is_zero,
    product,
    root,
)
from uk_dynamics.compilation.terms import SymbolicTerms
from uk_dynamics.core.row_basis import LEAST_PART, handicap
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism.mechanism import Mechanism

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
    factor = TreeFactor(terms, mechanism.model.velocity_parents)
    tau = terms.graph.variables("tau", n)
    stabilize = terms.graph.variable("stabilize")
    free = factor.whiten({i: terms.F[i] + tau[i] for i in range(n)})
    rows: list[Sparse] = []
    scales: list[Scalar] = []
    b: list[Scalar] = []
    for r in range(m):
        row = factor.whiten({i: x for i, x in enumerate(terms.A[r]) if not is_zero(x)})
        least = LEAST_PART * float(mechanism.natural_scale[r]) + _TINY
        scale = float(handicap(m)[r]) / at_least(root(dot(row, row)), least)
        rows.append({i: x * scale for i, x in row.items()})
        scales.append(scale)
        pull = (
            float(constraints.damping[r]) * terms.rate[r]
            + float(constraints.stiffness[r]) * terms.residual[r]
        )
        b.append(-(terms.bias[r] + stabilize * pull))
    eliminated = Elimination(rows)
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
    violation = [product(terms.A[r], qdd) - b[r] for r in range(m)]
    allowed = (1.0 / (_MARGIN * mechanism.spec.solver.rank_tolerance)) ** 2
    nearness = eliminated.inverse_square() * (1.0 / allowed)
    return RegularSolution(qdd, factor.color(force), multipliers, violation, factor.lost, nearness)
