# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What encoders tell: rounded positions, and velocities by their filtered differences.

Written over arrays of floats or of symbols; the generated C is traced from it.
"""

import numpy as np

from uk_dynamics.arrays import Reals
from uk_dynamics.core.linalg import above, where


def reading(
    position: Reals,  # true positions of the measured joints, (d,), in rad or m
    velocity: Reals,  # true velocities, which are told at first
    noise: Reals,  # of the positions, before they are rounded
    last_position: Reals,  # as the reading before told them
    last_velocity: Reals,  # likewise
    elapsed: Reals,  # time since then, in s, (1,); 0: this is the first reading
    resolution: Reals,  # step of the positions, in rad or m, (1,); 0: they are not rounded
    filter_time: Reals,  # time constant of the filter of differences, in s, (1,); 0: there is none
) -> Reals:
    """Positions and velocities as encoders tell them, (2, d)."""
    rounds, later, filters = (above(x, 0.0) for x in (resolution, elapsed, filter_time))
    step, h = where(rounds, resolution, 1.0), where(later, elapsed, 1.0)
    told = position + noise
    told = where(rounds, step * np.rint(told / step), told)
    part = where(filters, 1.0 - np.exp(-h / where(filters, filter_time, 1.0)), 1.0)
    rate = last_velocity + part * ((told - last_position) / h - last_velocity)
    return np.stack((told, where(later, rate, velocity)))
