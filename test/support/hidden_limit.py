# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A search within limits in which the price of steps hides one of them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# One motor and one foot at the end of its ramp: what is left of a biped in a random state.
ROWS = np.array(
    [
        [-1.8, -0.0468, 0.137, -0.0931],
        [-0.834, -0.323, 0.556, -0.111],
        [-1.13, -0.0776, 0.0241, 0.321],
        [0.0, 0.0, 0.0237, 0.0],
    ]
)
WANTED, CLOSED = np.array([0.294, 0.134, 0.184, -0.0849]), np.array([0.5, 0.0, 0.0, 0.0])
WEIGHTS = np.array([2.78e-4, 4.99e5, 4.99e5, 4.99e5])
LOWER, UPPER = np.array([-60.0]), np.array([60.0])
FRICTION, MOST = np.array([0.7]), np.array([0.00425])
