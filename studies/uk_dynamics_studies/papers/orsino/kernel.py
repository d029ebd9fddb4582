# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The recursion as the paper prints it; the package itself solves with :class:`Recursion`.

Three ways lead from an operator onto ker A_r to one onto ker A_{r+1}, A_{r+1} = [A_r; Ã_{r+1}]; all
rest on Orsino's Theorem 3.2: if the columns of S_r span ker A_r and those of C span
ker(Ã S_r), then those of S_r C span ker A_{r+1}. Rows should be of similar size, since the
tolerance is relative to the largest.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from uk_dynamics.exceptions import InputError

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
    remaining -= (remaining @ Q.T) @ Q  # the first pass leaves rounding of the large part
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
    """(Ã S)⁺, singular values within rounding set to zero, (n, m)."""
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


def covariance_update(
    a: Array, P: Array, H: Array, b: Array, R: Array | None = None, *, joseph: bool = False
) -> tuple[Array, Array]:
    """One level of constraints as a Kalman filter: K = P H̃ᵀ(H̃ P H̃ᵀ + R)⁻¹, (4.16) or (4.17).

    Forming H̃ P H̃ᵀ squares the condition number of the rows; :class:`Recursion` avoids it.

    Args:
        a: Whitened acceleration a_r, (n,).
        P: Projector onto ker H_r, or covariance once some R was not zero, (n, n).
        H: Whitened rows H̃ = Ã M^{-1/2}, (m, n).
        b: Right-hand side b̃, (m,).
        R: Clearances, (m,), the diagonal of the matrix; None for none.
        joseph: Whether P follows from (I − KH̃)P(I − KH̃)ᵀ + KRKᵀ, (4.18), instead of (I − KH̃)P.

    Returns:
        a_{r+1} and P_{r+1}.

    Raises:
        InputError: The rows depend on each other or on earlier ones, so that (4.16) does not exist.
    """
    noise = np.zeros(len(b)) if R is None else R
    gramian = H @ P @ H.T + np.diag(noise)
    _, transposed, failed = dposv(gramian, H @ P, lower=1)
    if failed:
        raise InputError(
            "(4.16) needs rows that depend neither on each other nor on those of earlier levels; "
            "use Recursion, which decides the rank"
        )
    gain = transposed.T
    remaining = np.eye(len(a)) - gain @ H
    updated = remaining @ P
    if joseph:
        updated = updated @ remaining.T + (gain * noise) @ gain.T
    return a + gain @ (b - H @ a), updated
