"""The recursion as the paper prints it, a Kalman filter with its covariance: (4.14)–(4.16).

It forms H̃ P H̃ᵀ, which squares the condition of the rows, and is kept to show what that costs; the
package solves with :class:`uk_dynamics.core.recursion.recursion.Recursion`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from uk_dynamics.exceptions import InputError

Array = NDArray[np.float64]


def covariance_update(
    a: Array, P: Array, H: Array, b: Array, R: Array | None = None, *, joseph: bool = False
) -> tuple[Array, Array]:
    """One level of constraints: K = P H̃ᵀ(H̃ P H̃ᵀ + R)⁻¹, (4.16) or (4.17).

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
