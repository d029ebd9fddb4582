# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What encoders tell: rounded positions, and velocities by their filtered differences.

Written over arrays of floats or of symbols; the generated C is traced from it.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.linalg import above, where

Array = NDArray[Any]  # of floats, or of symbols


def reading(
    position: Array,  # true positions of the measured joints, (d,), in rad or m
    velocity: Array,  # true velocities, which are told at first
    noise: Array,  # of the positions, before they are rounded
    last_position: Array,  # as the reading before told them
    last_velocity: Array,  # likewise
    elapsed: Array,  # time since then, in s, (1,); 0: this is the first reading
    resolution: Array,  # step of the positions, in rad or m, (1,); 0: they are not rounded
    filter_time: Array,  # time constant of the filter of differences, in s, (1,); 0: there is none
) -> Array:
    """Positions and velocities as encoders tell them, (2, d)."""
    rounds, later, filters = (above(x, 0.0) for x in (resolution, elapsed, filter_time))
    step, h = where(rounds, resolution, 1.0), where(later, elapsed, 1.0)
    told = position + noise
    told = where(rounds, step * np.rint(told / step), told)
    part = where(filters, 1.0 - np.exp(-h / where(filters, filter_time, 1.0)), 1.0)
    rate = last_velocity + part * ((told - last_position) / h - last_velocity)
    return np.stack((told, where(later, rate, velocity)))
