# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Least squares within bounds, where only some motions are allowed: a primal active set.

There are few motors, and most of those at a limit stay there from one command to the next, so that
starting from the last solution takes a step or two. Every step is an orthogonal factorisation,
never a squared matrix: the answer has full accuracy. And every iterate is within the bounds and
moves as allowed: cut short at any time, it is still a command that may be sent. (An interior or
proximal method has none of this; the sets here often have no interior at all.)

Where more unknowns are at a bound than there are motions, multipliers are not unique and their
signs have no meaning. The direction of descent is then the projection of the gradient on the cone
of motions that leave no bound, a problem of non-negative least squares; it is zero only at the
least.
"""

from dataclasses import dataclass

import numpy as np

from uk_dynamics.arrays import Array, Flags
from uk_dynamics.core.linalg.rank_rule import DEFAULT_TASK_RANK_TOLERANCE
from uk_dynamics.core.linalg.row_basis import RowBasis, least_solution

FLAT = 1e-9  # of its size if nothing cancelled: below, a gradient is zero
SEARCH_ROUNDING = 1e-14  # of residuals, relative to what they are the difference of
STILL = 1e-13  # of the largest: an unknown that moves less does not move
DEPENDENT = 1e-10  # bounds whose normals differ by less are one
STEPS_PER_UNKNOWN = 10
#: The generated C takes the constants of the search from here.
SEARCH_CONSTANTS = {
    "FLAT": FLAT,
    "SEARCH_ROUNDING": SEARCH_ROUNDING,
    "STILL": STILL,
    "DEPENDENT": DEPENDENT,
    "STEPS_PER_UNKNOWN": STEPS_PER_UNKNOWN,
}


@dataclass(frozen=True, eq=False)
class BoundedSolution:
    """A least-squares solution within bounds."""

    x: Array  # (n,)
    motions: Array  # orthonormal basis of the motions along which it stays the least, (n, g)
    finished: bool  # whether it is the least; else the search was cut short


def bounded_least_squares(
    C: Array,  # (m, n)
    d: Array,  # (m,)
    motions: Array,  # N, orthonormal, (n, f)
    start: Array,  # x₀, within the bounds, (n,)
    lower: Array,  # (n,), possibly infinite
    upper: Array,  # (n,), possibly infinite
    *,
    # a row of C N is dependent when at most this part of it is left by the others; what a motion
    # changes by less, relative to its size, it does not change
    rank_tolerance: float = DEFAULT_TASK_RANK_TOLERANCE,
) -> BoundedSolution:
    """The x = x₀ + N z within bounds of least |C x − d|."""
    x = start.copy()
    motions = _without_still(motions, rank_tolerance)
    rows = C @ motions
    spent = np.linalg.norm(rows, axis=1) <= rank_tolerance * np.linalg.norm(C, axis=1)
    rows[spent] = 0.0  # rounding of rows that earlier problems have fixed
    rows, range_basis = _independent(rows, rank_tolerance)
    held = (x <= lower) | (x >= upper)
    sizes = np.linalg.norm(rows, axis=1)
    size = np.linalg.norm(sizes)
    finished = False
    strict = np.zeros(len(x), dtype=bool)
    for _ in range(STEPS_PER_UNKNOWN * len(x) + 1):
        residual = d - C @ x
        step = motions @ _step(rows, sizes, residual, motions[held], rank_tolerance)
        blocked = _advance(x, step, lower, upper, held)
        if blocked >= 0:
            held[blocked] = True
            continue
        residual = d - C @ x
        uphill = residual @ rows
        flat = FLAT * np.linalg.norm(residual) + SEARCH_ROUNDING * (
            np.linalg.norm(d) + np.linalg.norm(C) * np.linalg.norm(x)
        )
        outward = np.where(x >= upper, 1.0, 0.0) - np.where(x <= lower, 1.0, 0.0)
        direction, push = _within_cone(uphill, motions, held, outward)
        least = max(float(flat), rank_tolerance * float(np.linalg.norm(residual))) * size
        strict = push > least
        gain = rows @ direction
        length = np.linalg.norm(direction)
        if length <= flat * size or (np.abs(gain) <= rank_tolerance * sizes * length).all():
            finished = True
            break
        held &= push > 0.0
        step = motions @ direction * (direction @ direction / (gain @ gain))
        _advance(x, step, lower, upper, held)
        held |= ((x <= lower) | (x >= upper)) & (outward == 0.0)
    keep = np.concatenate((range_basis, motions[strict].T), axis=1)
    left = RowBasis(np.asfortranarray(keep), np.ones(keep.shape[1]), rank_tolerance).complement()
    motions = motions @ left
    motions[strict] = 0.0  # not even as little as a rank tolerance leaves
    return BoundedSolution(x, motions, finished)


def _without_still(motions: Array, tolerance: float) -> Array:
    """Motions without what they hardly move: an earlier problem has fixed that, (n, f)."""
    still = np.add.reduce(motions * motions, 1) <= tolerance**2
    return np.where(still[:, None], 0.0, motions) if still.any() else motions


def _independent(rows: Array, tolerance: float) -> tuple[Array, Array]:
    """Rows without what is too weak to count, (m, f), and a basis of what is left, (f, r)."""
    basis = RowBasis(np.asfortranarray(rows.T), None, tolerance)
    span = basis.rotate_back(np.eye(rows.shape[1], basis.rank, order="F"))
    if basis.rank < min(rows.shape):
        rows = rows @ span @ span.T
    return rows, span


def _step(rows: Array, sizes: Array, residual: Array, held: Array, tolerance: float) -> Array:
    """From here to the least squares of the motions that leave no held unknown, (f,)."""
    if not len(held):
        return least_solution(rows, sizes, residual, tolerance)[0]
    basis = RowBasis(np.asfortranarray(held.T), np.ones(len(held)), DEPENDENT)
    kernel = basis.complement()
    if not kernel.shape[1]:
        return np.zeros(rows.shape[1])
    step: Array = kernel @ least_solution(rows @ kernel, sizes, residual, tolerance)[0]
    return step


def _advance(x: Array, step: Array, lower: Array, upper: Array, held: Flags) -> int:
    """Go as far as bounds allow, in place; the unknown that blocks the remaining step (−1: none).

    Held unknowns move by rounding only, which must not block the step.
    """
    moving = np.flatnonzero(~held & (np.abs(step) > STILL * np.abs(step).max(initial=0.0)))
    part, blocked = 1.0, -1
    if len(moving):
        pace = step[moving]
        room = np.where(pace > 0.0, upper[moving] - x[moving], lower[moving] - x[moving])
        parts = room / pace
        first = int(np.argmin(parts))
        if parts[first] < 1.0:
            part, blocked = max(float(parts[first]), 0.0), int(moving[first])
    x[moving] += part * step[moving]
    np.clip(x, lower, upper, out=x)
    if blocked >= 0:
        x[blocked] = upper[blocked] if step[blocked] > 0.0 else lower[blocked]
    return blocked


def _within_cone(uphill: Array, motions: Array, held: Flags, outward: Array) -> tuple[Array, Array]:
    """Part of a direction that leaves no bound, (f,), and how hard each bound is pushed, (n,).

    outward: Sign of the way out of the bounds, (n,), zero inside.
    """
    from scipy.optimize import nnls

    push = np.zeros(len(held))
    at = np.flatnonzero(held)
    if not len(at):
        return uphill, push
    normals = (motions[at] * outward[at, None]).T
    if not normals.size:
        return uphill, push

    push[at], _ = nnls(normals, uphill)
    return uphill - normals @ push[at], push
