# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Closed form of a pendulum, by Jacobi's elliptic functions."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import ellipj, ellipk

Array = NDArray[np.float64]
GRAVITY = 9.81  # m/s²


def motion(t: Array) -> dict[str, Array]:
    """Coordinates of a point mass on a rod of 1 m, released where it is level on the left.

    From θ̈ = −g sin θ, θ from straight down, sin(θ/2) = k sn(K − √g t, k) with k = sin(θ₀/2).

    Args:
        t: Times, in s, (K,).

    Returns:
        Position in m by joint, (K,) each.
    """
    m = 0.5  # k²
    sn = ellipj(ellipk(m) - np.sqrt(GRAVITY) * t, m)[0]
    theta = 2.0 * np.arcsin(np.sqrt(m) * sn)
    return {"bob_x": -np.sin(theta), "bob_z": -np.cos(theta)}
