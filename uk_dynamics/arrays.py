# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Types of arrays by what they hold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Flags = NDArray[np.bool_]
