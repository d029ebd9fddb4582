# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the joint-state estimation knows of a mechanism, for C and for its callers."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.servo import Split
from uk_dynamics.mechanism.resolution import Array


@dataclass(frozen=True)
class LoopTables:
    """What the estimation knows of a mechanism, apart from its rows.

    Attributes:
        split: Measured and other velocity coordinates.
        held: Places of the constraint rows that determine positions, (h,).
        scale: Residual of each of these per m or rad, (h,).
        turning: Which measured joints are continuous, (d,).
        homes: Configurations with closed loops, from the nearest of which a start begins, (k, nq).
        moving: Whether rows depend on time.
    """

    split: Split
    held: NDArray[np.intp]
    scale: Array
    turning: NDArray[np.bool_]
    homes: Array
    moving: bool
