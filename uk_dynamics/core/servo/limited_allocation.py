# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Efforts within limits: least task residual by priority, then least distance from preferred ones.

The unknowns are scaled, x = √W u, so that motors of different kind and size are comparable. One
least-squares problem per priority minimises the residual of its rows without changing those of
higher priority; a last one chooses among the efforts that achieve this. A row that is bounded, not
served, has one unknown more: what is beyond its bound, which is not negative and costs nothing.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.linalg import bounded_least_squares

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


def in_stages(
    stages: Iterable[tuple[Array, Array]],  # rows (m, n) and what they are to be (m,), in order
    motions: Array,  # along which unknowns may change, (n, g), orthonormal
    x: Array,  # where the search begins, within the bounds, (n,)
    low: Array,
    high: Array,
    rank_tolerance: float,
) -> tuple[Array, bool]:
    """Least residual of each stage without harm to those before; whether all searches ended."""
    finished = True
    for rows, right in stages:
        if not motions.shape[1]:
            break
        found = bounded_least_squares(
            rows, right, motions, x, low, high, rank_tolerance=rank_tolerance
        )
        x, motions = found.x, found.motions
        finished &= found.finished
    return x, finished


class LimitedAllocation:
    """Allocates efforts within limits, with a warm start from the last solution."""

    def __init__(
        self,
        priorities: NDArray[np.intp],
        weights: Array,
        rank_tolerance: float,
        side: Array | None = None,  # rows that are bounded, as of :func:`lacking`
    ) -> None:
        self.levels: tuple[Indices, ...] = tuple(
            np.flatnonzero(priorities == priority) for priority in np.unique(priorities)
        )
        self.finished = True
        self.weights = weights  # diagonal of W, positive, (nu,)
        self._tolerance = rank_tolerance
        self._side = np.zeros(len(priorities)) if side is None else side
        self._bounded = np.flatnonzero(self._side)
        self._last: Array | None = None

    def solve(self, C: Array, wanted: Array, lower: Array, upper: Array, preferred: Array) -> Array:
        """Efforts, (nu,), in N or N·m."""
        root = np.sqrt(self.weights)
        low, high, goal = root * lower, root * upper, root * preferred
        x = np.clip(goal if self._last is None else self._last, low, high)
        rows, motors, bounded, side = C / root, len(x), self._bounded, self._side
        if len(bounded):
            size = np.linalg.norm(rows[bounded], axis=1)
            size[size == 0.0] = 1.0
            beyond = (side * (rows @ x - wanted))[bounded] / size
            x = np.append(x, np.maximum(beyond, 0.0))
            low, high = np.append(low, 0.0 * size), np.append(high, np.full(len(size), np.inf))
            slack = np.zeros((len(rows), len(size)))
            slack[bounded, np.arange(len(size))] = -side[bounded] * size
            rows = np.hstack((rows, slack))
        stages = [(rows[level], wanted[level]) for level in self.levels]
        stages.append((np.eye(motors, len(x)), goal))
        motions = np.eye(len(x))[:, low < high]  # a motor with equal bounds is fixed
        x, self.finished = in_stages(stages, motions, x, low, high, self._tolerance)
        self._last = x[:motors]
        efforts: Array = np.clip(self._last / root, lower, upper)
        return efforts

    def reset(self) -> None:
        """Forget the last efforts."""
        self._last = None
