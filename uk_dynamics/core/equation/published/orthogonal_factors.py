# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Pseudoinverses by orthogonal factors, de Falco (16)–(21): SVD, Varga's two QR, Householder."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dgeqp3, dgeqrf, dorgqr, dtrtri, dtrtrs

from uk_dynamics.arrays import Array


@dataclass(frozen=True, eq=False)
class Pseudoinverse:
    """The Moore–Penrose inverse of a matrix whose rank was decided.

    What is inverted is not A but the matrix of exactly this rank that the algorithm put in its
    place, here as a product of two full-rank factors.
    """

    matrix: Array  # A⁺, (n, m)
    left: Array  # its columns span the range, (m, rank)
    right: Array  # its rows span the range of the transpose, (rank, n)

    @property
    def rank(self) -> int:
        """Rank that the tolerance left."""
        return int(self.left.shape[1])

    @property
    def truncated(self) -> Array:
        """The matrix that was inverted, A without what fell under the tolerance, (m, n)."""
        product: Array = self.left @ self.right
        return product

    @property
    def transposed(self) -> Pseudoinverse:
        """The same of Aᵀ."""
        return Pseudoinverse(self.matrix.T, self.right.T, self.left.T)


def pivoted_qr(A: Array, rank_tolerance: float) -> tuple[Array, Array]:
    """Full-rank factors Q₁ T of A, from A P = Q R cut off where its pivots become small.

    rank_tolerance: Pivots |R_kk| up to this part of the first one are zero. Returns: Q₁, (m, r),
    orthonormal, and T = R₁ Pᵀ, (r, n).
    """
    m, n = A.shape
    if A.size == 0:
        return np.zeros((m, 0)), np.zeros((0, n))
    factors, pivots, tau, _, _ = dgeqp3(A)
    sizes = np.abs(factors.diagonal())
    rank = int(np.count_nonzero(sizes > rank_tolerance * sizes[0]))
    if rank == 0:
        return np.zeros((m, 0)), np.zeros((0, n))
    T = np.empty((rank, n))
    T[:, pivots - 1] = np.triu(factors[:rank])
    return dorgqr(factors[:, :rank], tau[:rank])[0], T


def full_rank_qr(A: Array) -> tuple[Array, Array]:
    """A = Q R without pivoting.

    A: Of full column rank r > 0, (m, r). Returns: Q, (m, r), orthonormal, and R, (r, r), upper
    triangular.
    """
    rank = A.shape[1]
    factors, tau, _, _ = dgeqrf(A)
    return dorgqr(factors, tau)[0], np.triu(factors[:rank])


def by_singular_values(A: Array, rank_tolerance: float) -> Pseudoinverse:
    """A = U Σ Vᵀ, so A⁺ = V Σ⁺ Uᵀ.

    rank_tolerance: Singular values up to this part of the largest are zero.
    """
    U, sigma, Vt = np.linalg.svd(A, full_matrices=False)
    rank = int(np.count_nonzero(sigma > rank_tolerance * sigma[0]))
    U, sigma, Vt = U[:, :rank], sigma[:rank], Vt[:rank]
    return Pseudoinverse((Vt.T / sigma) @ U.T, U * sigma, Vt)


def by_two_qr(A: Array, rank_tolerance: float) -> Pseudoinverse:
    """A = U₁ G₁ and G₁ᵀ = V₁ G₂ᵀ, so A⁺ = V₁ G₂⁻¹ U₁ᵀ with the inverse formed.

    The first factorisation pivots: without it, small diagonal entries do not show the rank.

    rank_tolerance: Pivots of the first factorisation up to this part of the largest are zero.
    """
    U, G = pivoted_qr(A, rank_tolerance)
    if U.shape[1] == 0:
        return Pseudoinverse(np.zeros(A.shape[::-1]), U, G)
    V, upper = full_rank_qr(G.T)
    inverse = dtrtri(upper)[0]
    return Pseudoinverse(V @ inverse.T @ U.T, U, G)


def by_householder(A: Array, rank_tolerance: float) -> Pseudoinverse:
    """Columns x_i = A⁺ e_i: the shortest of the vectors that leave the least of A x = e_i.

    With rows of A written as T Q₁ᵀ the shortest solution is x = Q₁ y, (18), and y solves the
    overdetermined T y ≈ e_i of full rank, (16), by a second factorisation kept for all i. The
    normal equations that the paper writes are never formed. Where m > n the roles of rows and
    columns change.

    rank_tolerance: Pivots of the first factorisation up to this part of the largest are zero.
    """
    m, n = A.shape
    if m > n:
        return by_householder(A.T, rank_tolerance).transposed
    Q, Tt = pivoted_qr(A.T, rank_tolerance)
    T = Tt.T
    if Q.shape[1] == 0:
        return Pseudoinverse(np.zeros((n, m)), T, Q.T)
    W, upper = full_rank_qr(T)
    y = dtrtrs(upper, W.T)[0]
    return Pseudoinverse(Q @ y, T, Q.T)
