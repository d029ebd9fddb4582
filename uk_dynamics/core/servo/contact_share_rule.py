# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""When contacts stand, and what part of their force they may take: written once, for NumPy and C.

The rules are written over arrays of floats or of symbols, one number for each entry of the section
``contacts``; the generated C is traced from them. Flags are 1 or 0.
"""

import numpy as np

from uk_dynamics.arrays import Reals
from uk_dynamics.core.linalg import above, at_least, where
from uk_dynamics.core.servo.motor_limits_rule import between, smaller

LEAST_SHARE = 1e-6  # of a force: with less a contact does not stand
TOUCHES = 1e-3  # m: nearer contacts touch, where nothing tells what is closed
NEVER = 1e30  # of a force that there is none of, in the sum that is least
LONG_AGO = 1e10  # s, before the first state
STOOD = 4  # numbers of an entry that a period leaves for the next


def risen(x: Reals) -> Reals:
    """Smooth step from 0 at 0 to 1 at 1."""
    x = between(0.0 * x, x, 1.0 + 0.0 * x)
    return x * x * (3.0 - 2.0 * x)


def planned_share(t: Reals, begin: Reals, end: Reals, ramp: Reals) -> Reals:
    """Part of its force that a contact may take in an interval, 0 outside of it."""
    rise = where(above(begin, 0.0), risen((t - begin) / ramp), 1.0 + 0.0 * t)
    return where(above(begin, t), 0.0 * t, smaller(rise, risen((end - t) / ramp)))


def standing_step(
    t: Reals, planned: Reals, detected: Reals, closed: Reals, begun: Reals, ramp: Reals, past: Reals
) -> Reals:
    """Share of the force, part of the feedback of tasks that wait for it to lift, what is left.

    Args:
        t: Time, in s.
        planned: Share by plan.
        detected: Flag: it stands while it is closed, without a plan.
        closed: Flag: one of its points is.
        begun: Flag: there was a state before; what a first one finds has been so for long.
        ramp: In s.
        past: Whether it was closed, and since when; whether it had lifted, and since when, (4, E).

    Returns:
        (2 + 4, E); what is left is as ``past``.
    """
    no, one = 0.0 * t, 1.0 + 0.0 * t
    was_closed, closed_since, was_up, up_since = past
    first = where(above(begun, 0.5), t, t - LONG_AGO)
    since = where(above(closed, 0.5), where(above(was_closed, 0.5), closed_since, first), no)
    own = where(above(closed, 0.5), at_least(risen((t - since) / ramp), 2.0 * LEAST_SHARE), no)
    share = where(above(detected, 0.5), own, planned)
    stands = above(share, LEAST_SHARE)
    up = where(stands, no, where(above(was_up, 0.5), up_since, first))
    lifted = where(stands, one, risen((t - up) / ramp))
    return np.stack((share, lifted, closed, since, where(stands, no, one), up))
