"""The least-squares solution of least norm, with the rank rule for its rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.linalg.row_basis import RowBasis

Array = NDArray[np.float64]


def least_solution(
    C: Array, natural_size: Array, wanted: Array, rank_tolerance: float
) -> tuple[Array, Array, RowBasis]:
    """C⁺ b with the rank of the rows of C, and an orthonormal basis of the range of C.

    Args:
        C: (mt, n).
        natural_size: How large each row could be, (mt,).
        wanted: b, (mt,).
        rank_tolerance: A row is dependent when at most this part of it is left.

    Returns:
        The x of least norm, (n,), among those of least |C x − b|; a basis of the range, (mt, r);
        and the rows of C as a basis.
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
