# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Efforts within limits, with contact forces inside friction pyramids: by priority, then nearest.

A contact force is a sum of four edges of its cone, f = Σ λᵢ (1, ±μ, 0) and (1, 0, ±μ) with λ ≥ 0: a
pyramid inside the cone, |f_x| + |f_y| ≤ μ f_n. Its normal force n = Σ λᵢ is a further
unknown with a limit. All unknowns then have bounds and nothing else, so that
:func:`bounded_least_squares` serves, whose every iterate is within them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.core.linalg import bounded_least_squares

_INSIDE = 1.0 - 1e-14  # of forces: rounding of a sum of edges is within the pyramid as well
_PARTS = 5  # unknowns of a contact: four edges and their sum
# orthonormal motions of these that leave the sum what it is, (5, 4)
_MOTIONS: Array = np.linalg.qr(np.vstack((np.eye(4), np.ones((1, 4)))))[0]


def within_pyramids(forces: Array, friction: Array, most: Array) -> bool:
    """Whether contact forces, (k, 3) of normal, x and y, are where the search keeps them."""
    normal, tangential = forces[:, 0], np.abs(forces[:, 1:]).sum(axis=1)
    return bool((tangential <= friction * normal).all() and (normal <= most).all())


class ContactAllocation:
    """Allocates efforts and contact forces, with a warm start from the last solution."""

    def __init__(self, rank_tolerance: float) -> None:
        self.finished = True
        self._tolerance = min(rank_tolerance, 1e-9)
        self._last: Array | None = None

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
            motions[column : column + _PARTS, nu + 4 * i : nu + 4 * (i + 1)] = _MOTIONS
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
        self.finished = True
        for rows, right in stages:
            if not motions.shape[1]:
                break
            found = bounded_least_squares(
                rows, right, motions, x, low, high, rank_tolerance=self._tolerance
            )
            x, motions = found.x, found.motions
            self.finished &= found.finished
        _limit(x[nu:], limit)
        self._last = x
        parts[np.delete(np.arange(nu, len(root)), np.s_[::3])] *= _INSIDE
        answer: Array = parts @ x / root
        answer[:nu] = np.clip(answer[:nu], lower, upper)
        return answer

    def reset(self) -> None:
        """Forget the last solution."""
        self._last = None


def _limit(unknowns: Array, limit: Array) -> None:
    """Let sums of edges be what they are, and at most the limits, (k,), in place."""
    edges = unknowns.reshape(-1, _PARTS)
    total = edges[:, :4].sum(axis=1)
    beyond = total > limit
    edges[beyond, :4] *= (_INSIDE * limit[beyond] / total[beyond])[:, None]
    edges[:, 4] = np.minimum(edges[:, :4].sum(axis=1), limit)
