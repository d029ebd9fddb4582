"""Pseudoinverse by the singular value decomposition, de Falco (19)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.equation.published.pseudoinverse_result import Pseudoinverse

Array = NDArray[np.float64]


def by_singular_values(A: Array, rank_tolerance: float) -> Pseudoinverse:
    """A = U Σ Vᵀ, so A⁺ = V Σ⁺ Uᵀ.

    Args:
        A: (m, n), with entries.
        rank_tolerance: Singular values up to this part of the largest are zero.
    """
    U, sigma, Vt = np.linalg.svd(A, full_matrices=False)
    rank = int(np.count_nonzero(sigma > rank_tolerance * sigma[0]))
    U, sigma, Vt = U[:, :rank], sigma[:rank], Vt[:rank]
    return Pseudoinverse((Vt.T / sigma) @ U.T, U * sigma, Vt)
