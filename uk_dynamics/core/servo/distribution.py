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

from uk_dynamics.core.linalg.least_solution import least_solution
from uk_dynamics.core.linalg.row_basis import RowBasis

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
