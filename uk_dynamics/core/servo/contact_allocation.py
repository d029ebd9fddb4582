# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Efforts within limits, with contact forces inside friction pyramids: by priority, then nearest.

Where everything that is asked for can be served, the answer is the one nearest to the closed form
among those that serve it: a least-distance problem in the motions that the rows leave, which Lawson
and Hanson (1974, chapter 23) solve as non-negative least squares. Where it cannot, a search by
priority follows. In it a contact force is a sum of four edges of its cone, f = Σ λᵢ (1, ±μ, 0) and
(1, 0, ±μ) with λ ≥ 0: a pyramid inside the cone, |f_x| + |f_y| ≤ μ f_n. Its normal force Σ λᵢ is a
further unknown with a limit. All unknowns then have bounds and nothing else, so that
:func:`~uk_dynamics.core.linalg.bounded_least_squares` serves, whose every iterate is within them.
"""

from collections.abc import Sequence

import numpy as np

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.core.linalg import RowBasis
from uk_dynamics.core.servo.limited_allocation import in_stages

_SIGNS = ((1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0))  # of the faces of a pyramid
_INSIDE = 1.0 - 1e-15  # of a force at the edge of its pyramid: rounding
_STILL = 1e-9  # of its size: an inequality that changes by less does not change
_SLACK = 1e-12  # in units of equal cost: where a search ends, no motion may be left within limits
_KEPT = 1e-10  # of unknowns relative to their limits: inequalities hold within it
_PARTS = 5  # unknowns of a contact: four edges and their sum
#: Orthonormal motions of these that leave the sum what it is, (5, 4).
EDGE_MOTIONS: Array = np.linalg.qr(np.vstack((np.eye(4), np.ones((1, 4)))))[0]
#: The generated C takes the constants from here.
CONTACT_CONSTANTS = {
    "INSIDE_PYRAMID": _INSIDE,
    "UNCHANGED": _STILL,
    "SLACK": _SLACK,
    "KEPT": _KEPT,
    "PARTS": _PARTS,
}


def within_pyramids(forces: Array, friction: Array, most: Array) -> bool:
    """Whether contact forces, (k, 3) of normal, x and y, are where the search keeps them."""
    normal, tangential = forces[:, 0], np.abs(forces[:, 1:]).sum(axis=1)
    return bool((tangential <= friction * normal).all() and (normal <= most).all())


class ContactAllocation:
    """Allocates efforts and contact forces, with a warm start from the last solution."""

    def __init__(self, rank_tolerance: float) -> None:
        self.finished = True
        self._tolerance = rank_tolerance
        self._last: Array | None = None

    def nearest(
        self,
        C: Array,  # rows per unit effort and force, (m, nu + 3k)
        weights: Array,  # of squares of efforts and forces, (nu + 3k,)
        lower: Array,  # of the efforts, (nu,)
        upper: Array,  # (nu,)
        closed: Array,  # efforts and forces that serve all rows, by least squares, (nu + 3k,)
        friction: Array,  # μ, (k,)
        most: Array,  # largest normal forces, (k,), possibly infinite
    ) -> Array | None:
        """Efforts and forces within limits that serve all rows as well; None: there are none."""
        root = np.sqrt(weights)
        return _least_distance(self._free(C / root), root, lower, upper, closed, friction, most)

    def _free(self, scaled: Array) -> Array:
        """Orthonormal motions that no row sees, (nu + 3k, g)."""
        return RowBasis(np.asfortranarray(scaled.T), None, self._tolerance).complement()

    def solve(
        self,
        C: Array,  # rows per unit effort and force, (m, nu + 3k)
        wanted: Array,  # (m,)
        levels: Sequence[Indices],  # rows that are served first, then those that yield to them, …
        weights: Array,  # of squares of efforts and forces, (nu + 3k,)
        lower: Array,  # of the efforts, (nu,)
        upper: Array,  # (nu,)
        preferred: Array,  # to come close to, (nu + 3k,)
        friction: Array,  # μ, (k,)
        most: Array,  # largest normal forces, (k,), possibly infinite
    ) -> Array:
        """Efforts, then forces of the contacts: normal, x and y of each, (nu + 3k,)."""
        nu, k = len(lower), len(friction)
        root = np.sqrt(weights)
        limit = root[nu::3] * most
        low = np.concatenate((root[:nu] * lower, np.zeros(_PARTS * k)))
        high = np.concatenate((root[:nu] * upper, np.full(_PARTS * k, np.inf)))
        high[nu + _PARTS - 1 :: _PARTS] = limit
        parts = np.zeros((len(root), len(low)))
        parts[:nu, :nu] = np.eye(nu)
        motions = np.zeros((len(low), nu + 4 * k))
        motions[:nu, :nu] = np.eye(nu)
        for i, mu in enumerate(friction):
            row, column = nu + 3 * i, nu + _PARTS * i
            parts[row, column : column + 4] = 1.0
            parts[row + 1, column : column + 2] = mu, -mu
            parts[row + 2, column + 2 : column + 4] = mu, -mu
            motions[column : column + _PARTS, nu + 4 * i : nu + 4 * (i + 1)] = EDGE_MOTIONS
        motions = np.delete(motions, np.flatnonzero(low[:nu] >= high[:nu]), axis=1)  # fixed motors
        goal = root * preferred
        x = np.concatenate((goal[:nu], np.zeros(_PARTS * k)))
        if self._last is not None and len(self._last) == len(x):
            x = self._last
        x = np.clip(x, low, high)
        _limit(x[nu:], limit)
        scaled = C / root @ parts
        stages = [(scaled[rows], wanted[rows]) for rows in levels if len(rows)]
        stages.append((parts, goal))
        x, self.finished = in_stages(stages, motions, x, low, high, self._tolerance)
        self._last = x
        answer: Array = parts @ x / root
        answer[:nu] = np.clip(answer[:nu], lower, upper)
        # What it serves of each row is settled. Where multipliers are not unique, the last stage
        # may have had less freedom than there is.
        free = self._free(C / root)
        near = goal + (root * answer - goal) - free @ (free.T @ (root * answer - goal))
        better = _least_distance(free, root, lower, upper, near / root, friction, most)
        return _inside(answer, nu, friction, most) if better is None else better

    def reset(self) -> None:
        """Forget the last solution."""
        self._last = None


def _limit(unknowns: Array, limit: Array) -> None:
    """Let sums of edges be what they are, and at most the limits, (k,), in place."""
    edges = unknowns.reshape(-1, _PARTS)
    total = edges[:, :4].sum(axis=1)
    beyond = total > limit
    edges[beyond, :4] *= (limit[beyond] / total[beyond])[:, None]
    edges[:, 4] = np.minimum(edges[:, :4].sum(axis=1), limit)


def _least_distance(
    motions: Array,  # that are allowed, (nu + 3k, g), orthonormal in units of equal cost
    root: Array,  # these units, per N·m or N, (nu + 3k,)
    lower: Array,  # of the efforts, (nu,)
    upper: Array,  # (nu,)
    closed: Array,  # efforts and forces to come close to, (nu + 3k,)
    friction: Array,  # μ, (k,)
    most: Array,  # largest normal forces, (k,)
) -> Array | None:
    """Efforts and forces within limits nearest to others; None: the motions lead to none."""
    from scipy.optimize import nnls  # takes long to import

    nu, free, unit = len(lower), motions / root[:, None], root[len(lower) :: 3]
    force, own = free[nu:].reshape(len(friction), 3, -1), closed[nu:].reshape(-1, 3)
    normal, tangents = friction[:, None] * force[:, 0], (force[:, 1], force[:, 2])
    at, beside = friction * own[:, 0], (own[:, 1], own[:, 2])
    limited, bounded = np.flatnonzero(most < np.inf), np.flatnonzero(upper - lower < np.inf)
    rows = [free[:nu][bounded], -free[:nu][bounded], -force[limited, 0]]
    lack = [(lower - closed[:nu])[bounded], (closed[:nu] - upper)[bounded]]
    lack.append((own[:, 0] - most)[limited])
    sizes = [1.0 / root[:nu][bounded], 1.0 / root[:nu][bounded], 1.0 / unit[limited]]
    for x, y in _SIGNS:
        rows.append(normal + x * tangents[0] + y * tangents[1])
        lack.append(-(at + x * beside[0] + y * beside[1]))
        sizes.append((1.0 + friction) / unit)
    size = np.concatenate(sizes)
    A, b = np.concatenate(rows) / size[:, None], np.concatenate(lack) / size
    moves = np.linalg.norm(A, axis=1) > _STILL
    if (b[~moves] > _KEPT).any():
        return None
    A, b = A[moves], b[moves]
    right = np.append(np.zeros(A.shape[1]), 1.0)
    try:
        push, _ = nnls(np.vstack((A.T, b - _SLACK)), right)
    except RuntimeError:  # too many iterations
        return None
    active = push > 0.0
    way = np.linalg.lstsq(A[active], b[active], rcond=None)[0]
    if not (A @ way >= b - _KEPT * (1.0 + np.abs(b).max(initial=0.0))).all():
        return None
    answer = closed + free @ way
    answer[:nu] = np.clip(answer[:nu], lower, upper)
    return _inside(answer, nu, friction, most)


def _inside(answer: Array, nu: int, friction: Array, most: Array) -> Array:
    """Efforts and forces, whose forces rounding has left just outside, with these inside."""
    forces = answer[nu:].reshape(-1, 3)
    forces[:, 0] = np.clip(forces[:, 0], 0.0, most)
    held, wanted = friction * forces[:, 0], np.abs(forces[:, 1:]).sum(axis=1)
    beyond = wanted > held
    forces[beyond, 1:] *= (_INSIDE * held[beyond] / wanted[beyond])[:, None]
    return answer
