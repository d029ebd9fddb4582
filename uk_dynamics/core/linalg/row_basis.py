# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The row space of A, and which rows are independent: pivoted QR of scaled rows (dgeqp3).

The rule itself is in ``rank_rule``. Column pivoting finds the row with the
largest residual norm, so that |R_kk| falls monotonically and bounds the residual norm of every row
behind it.
"""

from functools import cached_property
from typing import Protocol

import numpy as np
from scipy.linalg.lapack import dgeqp3, dormqr, dtrtrs

from uk_dynamics.arrays import Array, Flags, Indices
from uk_dynamics.core.linalg.rank_rule import (
    EXACTLY_DEPENDENT,
    KERNEL_ROUNDING,
    LEAST_PART,
    inverse_row_scale,
)


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


def spanning_rows(
    rows: Array,  # of any lengths, (m, n); those not longer than the least part act on nothing
    least: float,  # part of the largest singular value of the rows at unit norm that counts as none
) -> Array:
    """Orthonormal rows with the span of others, (r, n)."""
    lengths = np.linalg.norm(rows, axis=1)
    acting = lengths > least
    if not acting.any():
        return rows[:0]
    _, sizes, directions = np.linalg.svd(rows[acting] / lengths[acting, None], full_matrices=False)
    found: Array = directions[sizes > least * sizes[0]]
    return found


def null_basis(rows: Array, tolerance: float) -> Array:
    """Orthonormal basis of everything orthogonal to rows (m, n), (n, n − rank).

    tolerance: Singular values up to this part of the largest are zero.
    """
    _, values, right = np.linalg.svd(rows)
    rank = int(np.count_nonzero(values > tolerance * values.max(initial=0.0)))
    return right[rank:].T


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
        self._rows, self._scaling, self._inverse = rows, scaling, inverse
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
    def _named(self) -> "RowBasis":
        at_most_one = np.full(len(self._rows), 1.0 / LEAST_PART)  # the rows are scaled already
        return RowBasis(np.asfortranarray(self._rows.T), at_most_one, self._tolerance)


class RowBasis:
    """Orthonormal basis Q₁ of the span of the rows, with B̂ᵀ P = Q R for scaled rows B̂."""

    def __init__(
        self, columns: Array, natural_scale: Array | None, tolerance: float | Array
    ) -> None:
        """Factor the rows as columns, (n, m), column-major, finite; not changed.

        ``natural_scale`` is how large each row is over the configurations, (m,), in the same units;
        None: as large as now, and rows below 1e-9 of the largest are zero. The tolerance is the
        largest residual norm of a dependent row, or that of each, (m,).
        """
        n, m = columns.shape
        inverse = inverse_row_scale(np.linalg.norm(columns, axis=0), natural_scale)
        count = min(n, m)
        # rows with larger tolerances are taken behind the others: by so much smaller, (m,)
        self._part: Array | None = None
        if isinstance(tolerance, np.ndarray) and m:
            least = float(tolerance.min())
            if least < tolerance.max():
                self._part = least / tolerance
                inverse = inverse * self._part
            tolerance = least
        if count:
            factors, pivots, tau, _, _ = dgeqp3(columns * inverse, 3 * m + 3, 1)
        else:  # LAPACK knows no empty matrices
            factors, pivots, tau = np.zeros((n, m)), np.arange(1, m + 1), np.empty(0)
        rank = count
        while rank and abs(factors[rank - 1, rank - 1]) <= tolerance:  # |R_kk| falls with k
            rank -= 1
        self.rank = rank  # number of independent rows, r
        # independent rows in the order in which they were found, then the others, (m,)
        self.order: Indices = pivots - 1
        self._inverse_scale = inverse
        self._factors = factors
        # The first r columns hold R₁₁ in their upper triangle and below it what makes Q.
        self._reflectors, self._tau = factors[:, :rank], tau[:rank]

    @property
    def independent(self) -> Indices:
        """Independent rows in the order in which they were found, (r,)."""
        return self.order[: self.rank]

    @property
    def dependent(self) -> Indices:
        """Rows that depend on the independent ones, (m − r,)."""
        return self.order[self.rank :]

    @property
    def residual_norm(self) -> Array:
        """Norm of what the independent rows before it leave of each scaled row, (m,)."""
        rank = self.rank
        upper = np.triu(self._factors)
        result = np.empty(len(self.order))
        result[self.order[:rank]] = np.abs(upper.diagonal()[:rank])
        result[self.order[rank:]] = np.linalg.norm(upper[rank:, rank:], axis=0)
        return result if self._part is None else result / self._part

    @property
    def condition(self) -> float:
        """Condition number of the independent scaled rows; 1 when there is none."""
        values = self.sizes
        return float(values[0] / values[-1]) if self.rank else 1.0

    @property
    def sizes(self) -> Array:
        """Singular values of the independent scaled rows, falling, (r,)."""
        upper = np.triu(self._factors[: self.rank, : self.rank])
        return np.linalg.svd(upper, compute_uv=False) if self.rank else np.empty(0)

    def coordinates(self, b: Array) -> Array:
        """The y, (r,), with B Q₁ y = b, (m,), on the independent rows: R₁₁ᵀ y = b̂."""
        if self.rank == 0:
            return np.empty(0)
        scaled = b * self._inverse_scale
        y: Array = dtrtrs(self._reflectors, scaled.take(self.order[: self.rank]), 0, 1)[0]
        return y

    def rotate(self, x: Array) -> Array:
        """Qᵀ x of x (n,) or (n, k): the first r entries are coordinates in the basis.

        The others are orthogonal to it.
        """
        return self._apply("T", x)

    def rotate_back(self, x: Array) -> Array:
        """Q x, the inverse of :meth:`rotate`."""
        return self._apply("N", x)

    def basis_product(self, y: Array) -> Array:
        """Q₁ y, of y (r,)."""
        full = np.zeros(self._factors.shape[0])
        full[: self.rank] = y
        return self.rotate_back(full)

    def complement(self) -> Array:
        """Orthonormal basis of everything orthogonal to the rows, (n, n − r)."""
        n = self._factors.shape[0]
        selector = np.zeros((n, n - self.rank), order="F")
        selector[self.rank :] = np.eye(n - self.rank)
        return self.rotate_back(selector)

    def multipliers(self, z: Array) -> Array:
        """The λ of minimum Euclidean norm with Bᵀ λ = Q₁ z, (m,), of z (r,).

        Nearly dependent rows take part as if they were exactly dependent, so that λ does not jump
        with the choice of the rows; Bᵀ λ is then exact up to their residual norm.
        """
        result = np.zeros(len(self.order))
        if self.rank == 0:
            return result
        basic = dtrtrs(self._reflectors, z)[0]
        result[self.independent] = basic * self._inverse_scale[self.independent]
        if self.rank < len(self.order):
            least_multipliers(result, self._kernel(), self._inverse_scale)
        return result

    def determined(self) -> Flags:
        """Whether the multiplier of each row is unique: diagonal of B B⁺ equal to one, (m,)."""
        if self.rank == len(self.order):
            return np.ones(self.rank, dtype=bool)
        kernel = self._kernel()
        if self._part is not None:
            kernel *= self._part[:, None]
            kernel /= np.linalg.norm(kernel, axis=0)
        basis = np.linalg.qr(kernel)[0]
        flags: Flags = np.linalg.norm(basis, axis=1) <= KERNEL_ROUNDING
        return flags

    def _kernel(self) -> Array:
        """Combinations of scaled rows that vanish: null space of B̂ᵀ, (m, m − r)."""
        rank, m = self.rank, len(self.order)
        kernel = np.zeros((m, m - rank))
        if rank:
            mixed = dtrtrs(self._factors[:rank, :rank], self._factors[:rank, rank:])[0]
            kernel[self.independent] = -mixed
        kernel[self.dependent, np.arange(m - rank)] = 1.0
        return kernel

    def _apply(self, transposition: str, x: Array) -> Array:
        if self.rank == 0 or x.size == 0:
            return np.array(x, order="F")
        work = 1 if x.ndim == 1 else x.shape[1]
        result: Array = dormqr("L", transposition, self._reflectors, self._tau, x, work)[0]
        return result


def least_multipliers(multipliers: Array, kernel: Array, inverse_scale: Array) -> None:
    """Reduce multipliers to those of minimum Euclidean norm with the same force, in place.

    kernel: Combinations of scaled rows that vanish, as columns, (m, k); inverse_scale: What the
    rows were multiplied by, (m,); zero for zero rows.
    """
    unscaled = kernel * np.where(inverse_scale > 0.0, inverse_scale, 1.0)[:, None]
    basis = np.linalg.qr(unscaled / np.linalg.norm(unscaled, axis=0))[0]
    multipliers -= basis @ (basis.T @ multipliers)


def least_solution(
    C: Array, natural_size: Array, wanted: Array, rank_tolerance: float
) -> tuple[Array, Array, RowBasis]:
    """C⁺ b with the rank of the rows of C, and an orthonormal basis of the range of C.

    natural_size: How large each row could be, (mt,); rank_tolerance: A row is dependent when at
    most this part of it is left. Returns: The x of least norm, (n,), among those of least |C x −
    b|; a basis of the range, (mt, r); and the rows of C as a basis.
    """
    basis = RowBasis(np.asfortranarray(C.T), natural_size, rank_tolerance)
    mt, n = C.shape
    if basis.rank == 0:
        return np.zeros(n), np.zeros((mt, 0)), basis
    if basis.rank == mt:
        return basis.basis_product(basis.coordinates(wanted)), np.eye(mt), basis
    rows = basis.rotate_back(np.eye(n, basis.rank, order="F"))
    q, r = np.linalg.qr(C @ rows)
    x: Array = rows @ np.linalg.solve(r, q.T @ wanted)
    return x, q, basis
