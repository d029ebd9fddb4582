# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a recording holds of many states of one motion."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.equation import Solution, Status
from uk_dynamics.mechanism.resolution.state import Array


class Samples(NamedTuple):
    """Answers at K states; a row for each.

    Attributes:
        qdd: Accelerations, (K, nv).
        rank: Of the constraints, (K,).
        multipliers: What the joints transmit, (K, m), of rows that count in the declared length.
        residual: Constraint residuals, (K, m), in m or rad.
        residual_rate: Their rates, (K, m).
        status: Of each solution.
        solution: The solution of state number k.
    """

    qdd: Array
    rank: NDArray[np.intp]
    multipliers: Array
    residual: Array
    residual_rate: Array
    status: list[Status]
    solution: Callable[[int], Solution]
