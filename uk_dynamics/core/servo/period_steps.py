# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Steps of a control period that are written once, for NumPy, C, lanes and exports.

They are the acceleration from measured velocities, the path along which the first error decays,
what a period does in a singular configuration, and how one law hands over to another.
The rules are written over arrays of floats or of symbols; the generated C is traced from them.
Flags are 1 or 0.
"""

from typing import NamedTuple

import numpy as np

from uk_dynamics.arrays import Reals
from uk_dynamics.core.linalg import above, at_least, where
from uk_dynamics.core.servo.control_constants import LONGEST_HOLD, TOO_LONG, TOO_SHORT
from uk_dynamics.core.servo.motor_limits_rule import smaller

POWERS = 6  # of the path along which the first error decays


class Measurement(NamedTuple):
    """What the velocities of an instant tell, (1,) each."""

    fresh: Reals  # flag: they are remembered; sooner ones would amplify the noise of velocities
    differs: Reals  # flag: the last ones give an acceleration
    known: Reals  # flag: there is an acceleration, from now on
    elapsed: Reals  # since the last ones, in s, where they give one


def measurement(
    past_known: Reals, past_t: Reals, known: Reals, t: Reals, period: Reals
) -> Measurement:
    """What velocities at time t tell, in s; nothing after a pause, or if time went back.

    The past is known where there were velocities, and an acceleration where there were more; with a
    period of 0 control is continuous, and predicts nothing. All are (1,).
    """
    no, apart = 0.0 * t, t - past_t
    forward = where(above(no, apart), no, where(above(period, 0.0), past_known, no))
    soon = where(above(TOO_SHORT * period, apart), forward, no)
    near = where(above(apart, TOO_LONG * period), no, forward)
    return Measurement(
        1.0 - soon,
        (1.0 - soon) * near,
        where(above(soon, 0.5), known, near),
        at_least(apart, TOO_SHORT * period),
    )


def predicted(told: Measurement, v: Reals, past_v: Reals, qdd: Reals, ahead: Reals) -> Reals:
    """Acceleration, velocity to remember, and velocity a time ahead, in s, (3, velocities).

    By what :func:`measurement` tells, velocities, those remembered, and the acceleration so far.
    """
    qdd = where(above(told.differs, 0.5), (v - past_v) / told.elapsed, qdd)
    past_v = where(above(told.fresh, 0.5), v, past_v)
    return np.stack((qdd, past_v, where(above(told.known, 0.5), v + ahead * qdd, v)))


def passage(rank: Reals, regular: Reals, held: Reals, known: Reals, period: Reals) -> Reals:
    """Whether a period holds the last efforts, and what it leaves for the next one, (3, 1).

    Where the rank of the structure changes, the law sees a machine with other degrees of freedom,
    whose efforts have nothing to do with those before and after: with one more in a singular
    configuration, and with one less close to it, where redundant rows seem independent. The last
    efforts are held there, but no longer than ``LONGEST_HOLD``: a machine that stays there is not
    left uncontrolled.

    Args:
        rank: Of the structure, (1,).
        regular: Its last one without a hold; 0: unknown, (1,).
        held: Periods of the hold so far, (1,).
        known: Flag: there are last efforts, (1,).
        period: Of control, in s, (1,); 0: control is continuous, and nothing is held.
    """
    no = 0.0 * rank
    brief = where(above((held + 0.5) * period, LONGEST_HOLD), no, known)
    hold = where(above(regular * (rank - regular) ** 2 * period, 0.0), brief, no)
    flag = above(hold, 0.5)
    return np.stack((hold, where(flag, regular, rank), where(flag, held + 1.0, no)))


def path_to_rest(error: Reals, rate: Reals, position: Reals, duration: Reals) -> Reals:
    """Polynomials from a first error to rest at zero, lowest power first, (6, rows).

    They are quintics without acceleration at first; rows of velocities, whose ``position`` is 0,
    have cubics of their rate. The duration is in s, above zero, (1,).
    """
    h, no = duration, 0.0 * error
    cube = h * h * h
    change = rate * h
    quintic = (
        *(error, rate, no),
        *((-10.0 * error - 6.0 * change) / cube, (15.0 * error + 8.0 * change) / (cube * h)),
        (-6.0 * error - 3.0 * change) / (cube * h * h),
    )
    cubic = (rate, no, -3.0 * rate / (h * h), 2.0 * rate / cube, no, no)
    flag = above(position, 0.5)
    return np.stack([where(flag, x, y) for x, y in zip(quintic, cubic, strict=True)])


def along_path(path: Reals, position: Reals, now: Reals, ahead: Reals, duration: Reals) -> Reals:
    """Residual and rate of the path now, and its acceleration ahead of now, (3, rows).

    Residuals are rates where ``position`` is 0. Times are since the begin, in s, (1,).
    """
    value, rate, _ = _derivatives(path, smaller(at_least(now, 0.0), duration))
    _, later_rate, acceleration = _derivatives(path, smaller(at_least(ahead, 0.0), duration))
    flag = above(position, 0.5)
    return np.stack((value, where(flag, rate, value), where(flag, acceleration, later_rate)))


def faded(efforts: Reals, offset: Reals, s: Reals, lower: Reals, upper: Reals) -> Reals:
    """Efforts of a new law with what is left of an offset, within limits, (motors,).

    It is what they differed by where the transfer began, and decays as 1 − 3s² + 2s³ while s, the
    part of the transfer that is over, (1,), goes from 0 to 1.
    """
    fading = 1.0 - s * s * (3.0 - 2.0 * s)
    return smaller(at_least(efforts + fading * offset, lower), upper)


def _derivatives(path: Reals, s: Reals) -> tuple[Reals, Reals, Reals]:
    """Value and two derivatives of polynomials at a time."""
    value = rate = half = 0.0 * path[0]
    for coefficient in path[::-1]:
        half = half * s + rate
        rate = rate * s + value
        value = value * s + coefficient
    return value, rate, 2.0 * half
