# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Types of arrays by what they hold, and how large that is."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]
Reals = NDArray[Any]  # floats, or symbols that stand for them
Values = Mapping[str, float] | ArrayLike  # by name, or all in their order


def largest(values: Array) -> float:
    """Largest absolute value; 0 where there is none."""
    return float(np.abs(values).max(initial=0.0))
