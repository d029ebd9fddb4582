"""Pseudoinverse column by column as least-squares solutions, by Householder (de Falco (17))."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtrs

from uk_dynamics.core.equation.published.pseudoinverse_result import Pseudoinverse
from uk_dynamics.core.equation.published.qr import full_rank_qr, pivoted_qr

Array = NDArray[np.float64]


def by_householder(A: Array, rank_tolerance: float) -> Pseudoinverse:
    """Columns x_i = A⁺ e_i: the shortest of the vectors that leave the least of A x = e_i.

    With rows of A written as T Q₁ᵀ the shortest solution is x = Q₁ y, (18), and y solves the
    overdetermined T y ≈ e_i of full rank, (16), by a second factorisation kept for all i. The
    normal equations that the paper writes are never formed. Where m > n the roles of rows and
    columns change.

    Args:
        A: (m, n), with entries.
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
