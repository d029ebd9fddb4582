# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Sums along the paths and over the subtrees of a kinematic tree, each in one pass over arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.exceptions import InputError

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


class Tree:
    """Bodies in depth-first order, so that the subtree of a body is a range behind it."""

    def __init__(self, parents: Sequence[int] | Indices) -> None:
        """Number the subtrees.

        Raises:
            InputError: The bodies are not in depth-first order.
        """
        # of each body, smaller than itself, −1 at the root, (n,)
        self.parents: Indices = np.array(parents, dtype=np.intp)
        n = len(self.parents)
        ends, sizes = np.arange(1, n + 1), np.ones(n, dtype=np.intp)
        for body in range(n - 1, -1, -1):
            parent = self.parents[body]
            if parent >= body:
                raise InputError(f"body {body} comes before its parent {parent} in the tree")
            if parent >= 0:
                ends[parent] = max(ends[parent], ends[body])
                sizes[parent] += sizes[body]
        if not np.array_equal(ends - np.arange(n), sizes):
            raise InputError("the bodies of the tree are not numbered depth first")
        self.ends: Indices = ends  # behind the last body of each subtree, (n,)
        # A path sum is a running sum that takes back each body where its subtree ends.
        inside = np.flatnonzero(ends < n)
        rows = np.concatenate((np.arange(n), ends[inside]))
        columns = np.concatenate((np.arange(n), inside))
        signs = np.concatenate((np.ones(n), -np.ones(len(inside))))
        from scipy.sparse import csr_array  # takes long to import

        self._steps = csr_array((signs, (rows, columns)), shape=(n, n))
        self._jumps = self._plan_jumps()

    def __len__(self) -> int:
        """Number of bodies."""
        return len(self.parents)

    def path_sum(self, x: Array) -> Array:
        """Sum over each body and all before it towards the root, (n, …)."""
        total: Array = np.cumsum(np.asarray(self._steps @ x), axis=0)
        return total

    def subtree_sum(self, x: Array) -> Array:
        """Sum over each body and all that it carries, (n, …)."""
        running = np.zeros((len(x) + 1, *x.shape[1:]))
        np.cumsum(x, axis=0, out=running[1:])
        total: Array = running[self.ends] - running[:-1]
        return total

    def compose(self, rotation: Array, translation: Array) -> None:
        """Placements in the parent become placements in the world, in place.

        Every body looks twice as far towards the root in each of log₂(depth) rounds.

        Args:
            rotation: (n, 3, 3).
            translation: (n, 3).
        """
        for bodies, above in self._jumps:
            R, p = rotation[above], translation[above]
            translation[bodies] = p + (R @ translation[bodies][:, :, None])[:, :, 0]
            rotation[bodies] = R @ rotation[bodies]

    def _plan_jumps(self) -> list[tuple[Indices, Indices]]:
        above = self.parents.copy()
        jumps = []
        while (bodies := np.flatnonzero(above >= 0)).size:
            jumps.append((bodies, above[bodies]))
            above[bodies] = above[above[bodies]]
        return jumps
