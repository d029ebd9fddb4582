"""Three ways from an operator onto ker A_r to one onto ker A_{r+1}, A_{r+1} = [A_r; Ã_{r+1}].

All rest on Orsino's Theorem 3.2: if the columns of S_r span ker A_r and those of C span
ker(Ã S_r), then those of S_r C span ker A_{r+1}. Rows should be of similar size, since the
tolerance is relative to the largest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

DEFAULT_TOLERANCE = 1e-10  # of the largest row: what projection leaves of a dependent row is below


def extend_orthonormal_rows(Q: Array, rows: Array, tolerance: float = DEFAULT_TOLERANCE) -> Array:
    """Orthonormalise further rows against orthonormal ones, Proposition 3.1 (iv).

    The projector onto the kernel is then I − QᵀQ.

    Args:
        Q: Orthonormal rows of level r, (rank, n); (0, n) to begin with.
        rows: Ã, the rows that are added, (m, n).
        tolerance: Singular values at most this part of the largest row are rounding.

    Returns:
        Orthonormal rows of level r + 1, (rank', n).
    """
    remaining = rows - (rows @ Q.T) @ Q
    remaining -= (
        remaining @ Q.T
    ) @ Q  # once more: the first pass leaves rounding of the large part
    added = _right_vectors(remaining, _largest(rows) * tolerance)[0]
    return np.vstack((Q, added))


def restrict_complement(Z: Array, rows: Array, tolerance: float = DEFAULT_TOLERANCE) -> Array:
    """Orthonormal basis of what further rows leave of a kernel, Theorem 3.2.

    Args:
        Z: Orthonormal columns that span ker A_r, (n, k); the identity to begin with.
        rows: Ã, (m, n).
        tolerance: As for :func:`extend_orthonormal_rows`.

    Returns:
        Orthonormal columns that span ker A_{r+1}, (n, k').
    """
    restricted: Array = Z @ _right_vectors(rows @ Z, _largest(rows) * tolerance)[1].T
    return restricted


def restrict_projector(S: Array, rows: Array, tolerance: float = DEFAULT_TOLERANCE) -> Array:
    """Orthogonal projector onto ker A_{r+1} by a generalised inverse, Corollary 3.3, (3.10).

    Args:
        S: Orthogonal projector onto ker A_r, (n, n); the identity to begin with.
        rows: Ã, (m, n).
        tolerance: As for :func:`extend_orthonormal_rows`.
    """
    restricted: Array = S - _gain(S, rows, tolerance) @ (rows @ S)
    return restricted


def _gain(S: Array, rows: Array, tolerance: float) -> Array:
    """(Ã S)⁺, singular values of rounding taken for zero, (n, m)."""
    left, values, right = np.linalg.svd(rows @ S, full_matrices=False)
    kept = values > _largest(rows) * tolerance
    gain: Array = (right[kept].T / values[kept]) @ left[:, kept].T
    return gain


def _right_vectors(rows: Array, least: float) -> tuple[Array, Array]:
    """Orthonormal rows that span those given, and those that complete them."""
    _, values, right = np.linalg.svd(rows)
    rank = int(np.count_nonzero(values > least))
    return right[:rank], right[rank:]


def _largest(rows: Array) -> float:
    return float(np.linalg.norm(rows, axis=1).max(initial=0.0))
