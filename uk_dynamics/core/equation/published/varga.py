"""Pseudoinverse by Varga's two QR factorisations, de Falco (20), (21)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dtrtri

from uk_dynamics.core.equation.published.pseudoinverse_result import Pseudoinverse
from uk_dynamics.core.equation.published.qr import full_rank_qr, pivoted_qr

Array = NDArray[np.float64]


def by_two_qr(A: Array, rank_tolerance: float) -> Pseudoinverse:
    """A = U₁ G₁ and G₁ᵀ = V₁ G₂ᵀ, so A⁺ = V₁ G₂⁻¹ U₁ᵀ with the inverse formed.

    The first factorisation pivots: without it, small diagonal entries do not show the rank.

    Args:
        A: (m, n), with entries.
        rank_tolerance: Pivots of the first factorisation up to this part of the largest are zero.
    """
    U, G = pivoted_qr(A, rank_tolerance)
    if U.shape[1] == 0:
        return Pseudoinverse(np.zeros(A.shape[::-1]), U, G)
    V, upper = full_rank_qr(G.T)
    inverse = dtrtri(upper)[0]
    return Pseudoinverse(V @ inverse.T @ U.T, U, G)
