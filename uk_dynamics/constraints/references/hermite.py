"""Polynomials between two states of motion: cubic with rates, quintic with accelerations too.

Coefficients come lowest power first, in the time since the beginning.
"""

from __future__ import annotations

import numpy as np

from uk_dynamics.constraints.references.references import Array, ReferenceSample


def cubic(begin: ReferenceSample, end: ReferenceSample, duration: float) -> Array:
    """The cubic with values and rates of both ends, (4, m); accelerations do not count."""
    h = duration
    slope = (end.value - begin.value) / h
    return np.array(
        [
            begin.value,
            begin.rate,
            (3.0 * slope - 2.0 * begin.rate - end.rate) / h,
            (begin.rate + end.rate - 2.0 * slope) / h**2,
        ]
    )


def quintic(begin: ReferenceSample, end: ReferenceSample, duration: float) -> Array:
    """The quintic with values, rates and accelerations of both ends, (6, m); as :func:`cubic`."""
    h = duration
    change = end.value - begin.value
    v0, v1 = begin.rate * h, end.rate * h
    a0, a1 = begin.acceleration * h**2, end.acceleration * h**2
    return np.array(
        [
            begin.value,
            begin.rate,
            0.5 * begin.acceleration,
            (10.0 * change - 6.0 * v0 - 4.0 * v1 - 1.5 * a0 + 0.5 * a1) / h**3,
            (-15.0 * change + 8.0 * v0 + 7.0 * v1 + 1.5 * a0 - a1) / h**4,
            (6.0 * change - 3.0 * (v0 + v1) - 0.5 * (a0 - a1)) / h**5,
        ]
    )


def sample(coefficients: Array, s: float) -> ReferenceSample:
    """Value, rate and acceleration."""
    powers = np.zeros((3, len(coefficients)))
    power = 1.0
    for n in range(len(coefficients)):
        powers[0, n] = power
        if n + 1 < len(coefficients):
            powers[1, n + 1] = (n + 1) * power
        if n + 2 < len(coefficients):
            powers[2, n + 2] = (n + 1) * (n + 2) * power
        power *= s
    return ReferenceSample(*(powers @ coefficients))
