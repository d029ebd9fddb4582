"""Which efforts, where motors could serve a task in several ways: by the motion they cause.

The weighted pseudoinverse makes efforts least. Two other choices look at accelerations X u instead:

- Gauss: X = K S with N = KᵀK. The motion deviates least from the free one in the metric of M; where
  every coordinate has a motor of its own, u is the Udwadia–Kalaba force of the task, review (71).
- generalised inverse: X = N S. The acceleration A⁺ r is least in the Euclidean norm, as the
  feedback −M Aᵀ(AAᵀ)⁻¹P⁻¹β of the review's (72) distributes it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.row_basis import RowBasis

Array = NDArray[np.float64]


def least_motion_efforts(X: Array, T: Array, wanted: Array, rank_tolerance: float) -> Array:
    """The u of least |X u| with T X u = wanted; of several such u the one of least |u|.

    Args:
        X: Accelerations, in any coordinates, per unit effort, (n, nu).
        T: Task rows in the same coordinates, (mt, n).
        wanted: (mt,); where no u gives it, the error is least.
        rank_tolerance: A direction that keeps at most this part of its size is dependent.

    Returns:
        (nu,).
    """
    if not X.size or not T.size:
        return np.zeros(X.shape[1])
    motion = RowBasis(np.asfortranarray(X), None, rank_tolerance)
    reached = motion.rotate_back(np.eye(X.shape[0], motion.rank, order="F"))
    rows = T @ reached
    size = np.linalg.norm(T, axis=1)
    acceleration = least_solution(rows, size, wanted, rank_tolerance)[0]
    efforts: Array = np.asarray(
        np.linalg.lstsq(reached.T @ X, acceleration, rcond=None)[0], dtype=float
    )
    return efforts


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
