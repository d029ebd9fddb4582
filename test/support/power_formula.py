# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A further result: what forces do on a machine. Import it first, in a process of its own.

The lists of C are made once, from what is declared by then.
"""

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.core.equation import Instant, Result, Results


def power(at: Instant) -> Array:
    """Power of all forces but gravity, which the machine stores as kinetic and potential energy."""
    found: Array = np.add.reduce(at.v * (at.F + at.bias + at.constraint_force), keepdims=True)
    return found


Results.power = Result("Power of forces, in W.", "1", "power", "of forces, W", formula=power)  # type: ignore[attr-defined]
Results.power.name = "power"  # type: ignore[attr-defined]
Results.__annotations__["power"] = Result[float, Array]
