# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The rank rule on the rows of clusters.

The rows of different clusters have no joint in common, so what they span together is what each
cluster's rows span alone.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from uk_dynamics.arrays import Array, Flags, Indices
from uk_dynamics.core.linalg.row_basis import RowBasis
from uk_dynamics.core.tree.clusters import Clusters

if TYPE_CHECKING:
    from scipy.sparse import csr_array


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
        self._count = A.shape[0]
        self._scale = scale
        # rows, joints and row basis of each cluster that has rows
        self._parts: list[tuple[Indices, Indices, RowBasis]] = []
        self.bases = [np.diag(scale[joints]) for joints in clusters.members]  # Z of each, (n, f)
        acting = np.flatnonzero(np.diff(A.indptr))  # others join nothing, and constrain nothing
        cluster = clusters.cluster[A.indices[A.indptr[acting]]]
        by_cluster = np.argsort(cluster, kind="stable")
        for rows in np.split(acting[by_cluster], np.flatnonzero(np.diff(cluster[by_cluster])) + 1):
            if not len(rows):
                continue
            k = clusters.cluster[A.indices[A.indptr[rows[0]]]]
            joints = clusters.members[k]
            columns = np.zeros((len(joints), len(rows)), order="F")
            for i, row in enumerate(rows):
                part = slice(A.indptr[row], A.indptr[row + 1])
                columns[clusters.place[A.indices[part]], i] = A.data[part]
            columns *= scale[joints, None]
            natural = None if natural_scale is None else natural_scale[rows]
            basis = RowBasis(columns, natural, tolerance)
            self.bases[k] = scale[joints, None] * basis.complement()
            self._parts.append((rows, joints, basis))
        # number of independent rows
        self.rank = sum(basis.rank for _, _, basis in self._parts)

    def particular(self, b: Array) -> Array:
        """The x of least scaled norm with A x = b on the independent rows, (n,)."""
        x = np.zeros(len(self._scale))
        for rows, joints, basis in self._parts:
            x[joints] = basis.basis_product(basis.coordinates(b[rows]))
        return self._scale * x

    @cached_property
    def independent(self) -> Indices:
        """Independent rows, (rank,)."""
        found = [rows[basis.independent] for rows, _, basis in self._parts]
        return np.concatenate([*found, np.empty(0, dtype=np.intp)])

    @cached_property
    def dependent(self) -> Indices:
        """Rows that depend on the independent ones, (m − rank,)."""
        return np.setdiff1d(np.arange(self._count), self.independent)

    @property
    def residual_norm(self) -> Array:
        """Norm of what the independent rows before it leave of each scaled row, (m,)."""
        result = np.zeros(self._count)
        for rows, _, basis in self._parts:
            result[rows] = basis.residual_norm
        return result

    @property
    def condition(self) -> float:
        """Condition number of the independent rows at unit norm."""
        values = np.concatenate([*(basis.sizes for _, _, basis in self._parts), np.empty(0)])
        return float(values.max() / values.min()) if len(values) else 1.0

    def multipliers(self, coordinates: Array) -> Array:
        """The λ of minimum Euclidean norm with Aᵀλ = Q."""
        result = np.zeros(self._count)
        for rows, joints, basis in self._parts:
            z = basis.rotate(self._scale[joints] * coordinates[joints])[: basis.rank]
            result[rows] = basis.multipliers(z)
        return result

    def determined(self) -> Flags:
        """Whether the multiplier of each row is unique, (m,)."""
        flags: Flags = np.zeros(self._count, dtype=bool)
        for rows, _, basis in self._parts:
            flags[rows] = basis.determined()
        return flags
