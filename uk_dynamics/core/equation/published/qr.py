"""Householder's QR factorisation with and without column pivoting, by LAPACK."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dgeqp3, dgeqrf, dorgqr

Array = NDArray[np.float64]


def pivoted_qr(A: Array, rank_tolerance: float) -> tuple[Array, Array]:
    """Full-rank factors Q₁ T of A, from A P = Q R cut off where its pivots become small.

    Args:
        A: (m, n).
        rank_tolerance: Pivots |R_kk| up to this part of the first one are zero.

    Returns:
        Q₁, (m, r), orthonormal, and T = R₁ Pᵀ, (r, n).
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

    Args:
        A: Of full column rank r > 0, (m, r).

    Returns:
        Q, (m, r), orthonormal, and R, (r, r), upper triangular.
    """
    rank = A.shape[1]
    factors, tau, _, _ = dgeqrf(A)
    return dorgqr(factors, tau)[0], np.triu(factors[:rank])
