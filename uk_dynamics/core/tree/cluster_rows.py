# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The rank rule on the rows of clusters, for all clusters of one size at once.

The rows of different clusters have no joint in common, so pivoted Gram–Schmidt on all rows together
is pivoted Gram–Schmidt in each cluster. It is here in the plain form, with each direction made
orthogonal twice, since there is no pivoted LAPACK routine for many small matrices.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from uk_dynamics.arrays import Array, Flags, Indices
from uk_dynamics.core.linalg.rank_rule import inverse_row_scale
from uk_dynamics.core.linalg.row_basis import RowBasis
from uk_dynamics.core.tree.clusters import Clusters

if TYPE_CHECKING:
    from scipy.sparse import csr_array


_HALF = 0.5  # between the zeros and ones that directions left over have in a projector's columns


class ClusterRows:
    """Which rows are independent, and what motions they leave; a row space of all rows."""

    def __init__(
        self,
        A: csr_array,
        clusters: Clusters,
        scale: Array,
        natural_scale: Array | None,
        tolerance: float,
    ) -> None:
        """Take rows.

        scale: 1/√M_jj, which makes coordinates comparable, (n,); natural_scale: How large each row
        is over the configurations, (m,); tolerance: Rank tolerance: largest residual norm of a
        dependent row.
        """
        m = A.shape[0]
        self._tolerance = tolerance
        self._scale, self._natural_scale = scale, natural_scale
        row = np.repeat(np.arange(m), np.diff(A.indptr))
        entries = A.data * scale[A.indices]
        norms = np.sqrt(np.bincount(row, entries * entries, minlength=m))
        self._inverse_scale = inverse_row_scale(norms, natural_scale)
        cluster = np.full(m, -1, dtype=np.intp)
        cluster[row] = clusters.cluster[A.indices]
        by_cluster = np.argsort(cluster, kind="stable")
        counts = np.bincount(cluster + 1, minlength=len(clusters) + 1)
        first = np.cumsum(counts) - counts
        place = np.empty(m, dtype=np.intp)
        place[by_cluster] = np.arange(m) - first[cluster[by_cluster] + 1]
        counts = counts[1:]
        self.rank = 0  # number of independent rows
        # Z of each group of clusters, columns of zeros filled up, (g, n, f)
        self.bases: list[Array] = []
        self._groups = []
        independent: list[Indices] = []
        position = np.empty(len(clusters), dtype=np.intp)
        for group in clusters.groups:
            g, n = group.joints.shape
            height = int(counts[group.clusters].max(initial=0))
            position[:] = -1
            position[group.clusters] = np.arange(g)
            here = position[np.where(cluster >= 0, cluster, 0)]
            here[cluster < 0] = -1
            block = np.zeros((g, height, n))
            mine = here[row] >= 0
            at = row[mine]
            block[here[at], place[at], clusters.place[A.indices[mine]]] = (
                entries[mine] * self._inverse_scale[at]
            )
            number = np.full((g, height), -1, dtype=np.intp)
            chosen = np.flatnonzero(here >= 0)
            number[here[chosen], place[chosen]] = chosen
            basis, order, ranks = _pivoted(block, min(height, n), tolerance)
            self.rank += int(ranks.sum())
            rows = np.where(order >= 0, np.take_along_axis(number, np.maximum(order, 0), 1), -1)
            independent.append(rows[rows >= 0])
            self.bases.append(_remaining(basis, ranks) * scale[group.joints][:, :, None])
            self._groups.append((group, block, basis, order, rows))
        self._cluster_of_row = cluster
        self.independent: Indices = np.concatenate([*independent, np.empty(0, dtype=np.intp)])

    def particular(self, b: Array) -> Array:
        """The x of least scaled norm with A x = b on the independent rows, (n,)."""
        x = np.zeros(len(self._scale))
        for group, block, basis, order, rows in self._groups:
            if not order.shape[1]:
                continue
            chosen = np.take_along_axis(block, np.maximum(order, 0)[:, :, None], 1)
            unused = order < 0
            chosen[unused] = 0.0
            triangle = chosen @ basis.transpose(0, 2, 1)
            p = range(triangle.shape[1])
            triangle[:, p, p] += unused
            target = np.where(unused, 0.0, (b * self._inverse_scale)[rows])
            y = np.linalg.solve(triangle, target[:, :, None])
            x[group.joints] = (basis.transpose(0, 2, 1) @ y)[:, :, 0]
        return self._scale * x

    @cached_property
    def dependent(self) -> Indices:
        """Rows that depend on the independent ones, (m − rank,)."""
        left = np.ones(len(self._inverse_scale), dtype=bool)
        left[self.independent] = False
        return np.flatnonzero(left)

    @property
    def residual_norm(self) -> Array:
        """Norm of what the independent rows before it leave of each scaled row, (m,)."""
        result = np.zeros(len(self._inverse_scale))
        for rows, _, basis in self._each:
            result[rows] = basis.residual_norm
        return result

    @property
    def condition(self) -> float:
        """Condition number of the independent rows at unit norm."""
        largest, smallest = 0.0, np.inf
        for _, block, _, order, _ in self._groups:
            ranks = (order >= 0).sum(axis=1)
            for rank in set(ranks.tolist()) - {0}:
                chosen = np.flatnonzero(ranks == rank)
                rows = np.take_along_axis(block[chosen], order[chosen, :rank, None], 1)
                values = np.linalg.svd(rows, compute_uv=False)
                largest = max(largest, float(values[:, 0].max()))
                smallest = min(smallest, float(values[:, -1].min()))
        return largest / smallest if largest else 1.0

    def multipliers(self, coordinates: Array) -> Array:
        """The λ of minimum Euclidean norm with Aᵀλ = Q."""
        result = np.zeros(len(self._inverse_scale))
        for rows, joints, basis in self._each:
            z = basis.rotate(self._scale[joints] * coordinates[joints])[: basis.rank]
            result[rows] = basis.multipliers(z)
        return result

    def determined(self) -> Flags:
        """Whether the multiplier of each row is unique, (m,)."""
        flags: Flags = np.zeros(len(self._inverse_scale), dtype=bool)
        for rows, _, basis in self._each:
            flags[rows] = basis.determined()
        return flags

    @cached_property
    def _each(self) -> list[tuple[Indices, Indices, RowBasis]]:
        """Rows, joints and row basis of each cluster that has rows; for what is rarely asked."""
        found = []
        for group, block, _, _, _ in self._groups:
            for i, k in enumerate(group.clusters):
                rows = np.flatnonzero(self._cluster_of_row == k)
                if not len(rows):
                    continue
                inverse = self._inverse_scale[rows]
                scaled = block[i, : len(rows)] / np.where(inverse > 0.0, inverse, 1.0)[:, None]
                natural = None if self._natural_scale is None else self._natural_scale[rows]
                basis = RowBasis(np.asfortranarray(scaled.T), natural, self._tolerance)
                found.append((rows, group.joints[i], basis))
        return found


def _pivoted(block: Array, steps: int, tolerance: float) -> tuple[Array, Indices, Indices]:
    """Pivoted Gram–Schmidt on the rows of many matrices.

    Returns: Orthonormal directions, zero behind the rank, (g, steps, n); the row behind each, −1
    behind the rank, (g, steps); ranks, (g,).
    """
    g, height, n = block.shape
    rest = block.copy()
    basis = np.zeros((g, steps, n))
    order = np.full((g, steps), -1, dtype=np.intp)
    all_of_them = np.arange(g)
    free = np.ones((g, height), dtype=bool)
    going = np.ones(g, dtype=bool)
    for step in range(steps):
        squares = np.where(free, np.einsum("gij,gij->gi", rest, rest), -1.0)
        pivot = squares.argmax(axis=1)
        size = np.sqrt(np.maximum(squares[all_of_them, pivot], 0.0))
        going &= size > tolerance
        direction = rest[all_of_them, pivot] / np.where(going, size, 1.0)[:, None]
        direction[~going] = 0.0
        along = (basis[:, :step] @ direction[:, :, None]).transpose(0, 2, 1)
        direction -= (along @ basis[:, :step])[:, 0]
        length = np.linalg.norm(direction, axis=1, keepdims=True)
        direction /= np.where(length > 0.0, length, 1.0)
        basis[:, step] = direction
        order[going, step] = pivot[going]
        free[all_of_them, pivot] &= ~going
        rest -= (rest @ direction[:, :, None]) * direction[:, None, :]
    return basis, order, (order >= 0).sum(axis=1)


def _remaining(basis: Array, ranks: Indices) -> Array:
    """Orthonormal columns orthogonal to the directions, zeros filled up, (g, n, f)."""
    n = basis.shape[2]
    projector = np.eye(n) - basis.transpose(0, 2, 1) @ basis
    freedom = n - int(ranks.min(initial=n))
    # A projector onto f directions leaves columns of at least √(f/n) until all are found.
    found, _, _ = _pivoted(projector, freedom, _HALF / np.sqrt(n))
    return found.transpose(0, 2, 1)
