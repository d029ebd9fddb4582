# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Pseudoinverse column by column as least-squares solutions, by modified Gram–Schmidt.

Q of modified Gram–Schmidt is orthogonal only to rounding times the condition number. Solutions stay
as accurate as Householder's when Q is never used as if it were orthogonal, but one column after the
other, on the running residual (Å. Björck, *BIT* 7 (1967), 1–21).
"""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dtrtrs

from uk_dynamics.arrays import Array
from uk_dynamics.core.equation.published.orthogonal_factors import Pseudoinverse


def by_gram_schmidt(A: Array, rank_tolerance: float) -> Pseudoinverse:
    """As :func:`by_householder`, with both factorisations by modified Gram–Schmidt.

    Args:
        A: (m, n), with entries.
        rank_tolerance: Pivots of the first factorisation up to this part of the largest are zero.
    """
    m, n = A.shape
    if m > n:
        return by_gram_schmidt(A.T, rank_tolerance).transposed
    Q, T = _orthogonalize(A, rank_tolerance)
    return Pseudoinverse(_shortest(Q, _least_squares(T)), T, Q.T)


def _orthogonalize(A: Array, rank_tolerance: float) -> tuple[Array, Array]:
    """A = T Qᵀ, row of largest residual norm first: Q (n, r) and T (m, r)."""
    rows = A.copy()
    m, n = A.shape
    Q, T = np.empty((n, m)), np.zeros((m, m))
    first = 0.0
    for k in range(m):
        squares = np.add.reduce(rows * rows, 1)
        pivot = int(squares.argmax())
        size = float(np.sqrt(squares[pivot]))
        first = first or size
        if size <= rank_tolerance * first:
            return Q[:, :k], T[:, :k]
        q = rows[pivot] / size
        part = rows @ q
        rows -= np.outer(part, q)
        rows[pivot] = 0.0  # what the projection leaves of the pivot row is rounding
        Q[:, k], T[:, k] = q, part
    return Q, T


def _least_squares(T: Array) -> Array:
    """The y_i that leave the least of T y_i = e_i, as columns, (r, m)."""
    m, rank = T.shape
    if rank == 0:
        return np.zeros((0, m))
    # The right-hand sides are orthogonalised like further columns.
    work = np.hstack((T, np.eye(m)))
    upper = np.zeros((rank, rank + m))
    for k in range(rank):
        size = np.sqrt(work[:, k] @ work[:, k])
        q = work[:, k] / size
        upper[k, k] = size
        upper[k, k + 1 :] = q @ work[:, k + 1 :]
        work[:, k + 1 :] -= np.outer(q, upper[k, k + 1 :])
    y: Array = dtrtrs(upper[:, :rank], upper[:, rank:])[0]
    return y


def _shortest(Q: Array, y: Array) -> Array:
    """The shortest x with Qᵀ x = y for each column of y, (n, m)."""
    x = np.zeros((len(Q), y.shape[1]))
    for k in range(len(y) - 1, -1, -1):
        x += np.outer(Q[:, k], y[k] - Q[:, k] @ x)
    return x
