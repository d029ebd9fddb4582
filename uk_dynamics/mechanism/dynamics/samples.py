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
    """Answers at K states; a row for each."""

    qdd: Array  # accelerations, (K, nv)
    rank: NDArray[np.intp]  # of the constraints, (K,)
    # what the joints transmit, (K, m), of rows that count in the declared length
    multipliers: Array
    residual: Array  # constraint residuals, (K, m), in m or rad
    residual_rate: Array  # their rates, (K, m)
    status: list[Status]  # of each solution
    solution: Callable[[int], Solution]  # the solution of state number k
