# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a form of the fundamental equation must know about the rows of A."""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.linalg.rank_rule import EXACTLY_DEPENDENT, KERNEL_ROUNDING, LEAST_PART
from uk_dynamics.core.linalg.row_basis import RowBasis, least_multipliers

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]


class RowSpace(Protocol):
    """Rank of the rows, which of them are dependent, and multipliers."""

    @property
    def rank(self) -> int:
        """Number of independent rows, r."""

    @property
    def independent(self) -> Indices:
        """Independent rows, (r,)."""

    @property
    def dependent(self) -> Indices:
        """Rows that depend on the independent ones, (m − r,)."""

    @property
    def residual_norm(self) -> Array:
        """Norm of what the independent rows before it leave of each scaled row, (m,)."""

    @property
    def condition(self) -> float:
        """Condition number of the independent rows at unit norm."""

    def multipliers(self, coordinates: Array) -> Array:
        """Multipliers of minimum Euclidean norm of a force, (m,)."""

    def determined(self) -> Flags:
        """Whether the multiplier of each row is unique, (m,)."""


def projector_basis(projector: Array, rank: int) -> Array:
    """Orthonormal basis of the range of an orthogonal projector, (n, rank).

    projector: (n, n); its singular values are zero and one, so pivoting finds a basis.
    """
    if rank == 0:
        return np.zeros((len(projector), 0))
    independent = RowBasis(np.asfortranarray(projector), None, 0.0).order[:rank]
    basis: Array = np.linalg.qr(projector[:, independent])[0]
    # Once more: columns of a projector may be short, and what rounding adds is then not small.
    return np.linalg.qr(projector @ basis)[0]


class PseudoinverseRows:
    """The row space of B̂ as its pseudoinverse knows it; forces have n entries.

    A pseudoinverse prefers no row: where rows contradict each other all of them share the error.
    Only when asked which rows are redundant, it consults a row basis.
    """

    def __init__(
        self, rows: Array, scaling: Array, inverse: Array, rank: int, rank_tolerance: float
    ) -> None:
        """Hold what is known."""
        self.rank = rank  # rank that the pseudoinverse decided on
        self._rows = rows
        self._scaling = scaling
        self._inverse = inverse
        self._tolerance = rank_tolerance

    @property
    def independent(self) -> Indices:
        """Rows that a row basis finds independent, (rank,)."""
        return self._named.order[: self.rank]

    @property
    def dependent(self) -> Indices:
        """Rows that a row basis finds dependent, (m − rank,)."""
        return self._named.order[self.rank :]

    @property
    def residual_norm(self) -> Array:
        """Norm of what the independent rows before it leave of each scaled row, (m,)."""
        return self._named.residual_norm

    @property
    def condition(self) -> float:
        """Condition number of all rows at unit norm, without what was cut off."""
        if self.rank == 0:
            return 1.0
        sigma = np.linalg.svd(self._inverse, compute_uv=False)
        return float(sigma[0] / sigma[self.rank - 1])

    def contradict(self, failed: Indices) -> Flags:
        """All of the rows that do not hold, or none: whether a redundant one depends exactly."""
        redundant = np.intersect1d(failed, self.dependent)
        contradiction = bool((self.residual_norm[redundant] <= EXACTLY_DEPENDENT).any())
        return np.full(len(failed), contradiction)

    def multipliers(self, coordinates: Array) -> Array:
        """The λ of minimum Euclidean norm whose force is B̂ᵀ μ = z with λ the unscaled μ, (m,)."""
        result: Array = self._scaling * (self._inverse.T @ coordinates)
        least_multipliers(result, self._kernel, self._scaling)
        return result

    def determined(self) -> Flags:
        """Whether the multiplier of each row is unique: diagonal of B̂ B̂⁺ equal to one, (m,)."""
        flags: Flags = np.linalg.norm(self._kernel, axis=1) <= KERNEL_ROUNDING
        return flags

    @cached_property
    def _kernel(self) -> Array:
        """Combinations of scaled rows that vanish, orthonormal, (m, m − rank)."""
        m = len(self._rows)
        return projector_basis(np.eye(m) - self._rows @ self._inverse, m - self.rank)

    @cached_property
    def _named(self) -> RowBasis:
        at_most_one = np.full(len(self._rows), 1.0 / LEAST_PART)  # the rows are scaled already
        return RowBasis(np.asfortranarray(self._rows.T), at_most_one, self._tolerance)
