# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Limits of a motor as one interval of its effort: the rule, once for NumPy, C, lanes and exports.

The rule is written over arrays of floats or of symbols; the generated C is traced from it. A new
limit is a key of :data:`LIMITS` (and of the schema of mechanism files), and its lines here.

Where limits contradict each other, effort comes before power, power before rate, and rate before
jerk: a motor that speeds up under load may have to reduce its effort faster than its rate allows.
"""

from typing import NamedTuple

import numpy as np

from uk_dynamics.arrays import Reals
from uk_dynamics.core.linalg import above, at_least, where
from uk_dynamics.core.servo.control_constants import SLOWEST

#: Keys of a motor in the mechanism file, in the order of all arrays of limits, and which derivative
#: of the commanded effort each limits. In a control period, limits of derivatives are steps.
LIMITS = {"effort_limit": 0, "power_limit": 0, "rate_limit": 1, "jerk_limit": 2}
PAST = 2  # numbers of a motor that are remembered: its last command, and the change to it


class EffortBounds(NamedTuple):
    """Intervals of efforts, (motors,) each, in N or N·m."""

    lower: Reals
    upper: Reals
    most: Reals  # from the limits of effort and power alone


def effort_bounds(
    limits: Reals, past: Reals, known: Reals, now: Reals, later: Reals
) -> EffortBounds:
    """Intervals of the next efforts, by limits in the order of :data:`LIMITS`, (limits, motors).

    Of derivatives these are steps of a period from what :func:`remembered` gave, (2, motors), if a
    command is known, (1,). Power is limited at both ends of the period, whose velocities are
    (motors,), in m/s or rad/s.
    """
    effort, power, rate_step, jerk_step = limits
    command, change = past
    ahead: Reals = abs(later)
    most = smaller(effort, power / at_least(at_least(abs(now), ahead), SLOWEST))
    lower, upper = command - rate_step, command + rate_step
    centre = command + change
    lower, upper = (
        between(lower, centre - jerk_step, upper),
        between(lower, centre + jerk_step, upper),
    )
    one = above(known, 0.5)
    return EffortBounds(
        where(one, between(-most, lower, most), -most),
        where(one, between(-most, upper, most), most),
        most,
    )


def remembered(past: Reals, known: Reals, efforts: Reals) -> Reals:
    """What a command leaves for the next one, (2, motors); from then on it is known."""
    change = where(above(known, 0.5), efforts - past[0], 0.0 * efforts)
    return np.stack((efforts, change))


def smaller(x: Reals, y: Reals) -> Reals:
    """The smaller of both."""
    return where(above(x, y), y, x)


def between(lower: Reals, x: Reals, upper: Reals) -> Reals:
    """The number between two others that is nearest to x."""
    return smaller(at_least(x, lower), upper)
