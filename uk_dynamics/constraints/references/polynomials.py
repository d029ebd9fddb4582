# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Polynomials of time, and those between two states of motion: cubic with rates, or quintic.

Coefficients come lowest power first, in the time since the beginning.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval

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
    """Value, rate and acceleration, (m,) each, at a time s of a polynomial, (degree + 1, m)."""
    derivatives = (polyder(coefficients, order) for order in range(3))
    return ReferenceSample(*(np.asarray(polyval(s, part)) for part in derivatives))


@dataclass(frozen=True)
class Polynomial:
    """c₀ + c₁ t + c₂ t² + … for each row, at all times."""

    coefficients: Array  # lowest power first, one column per row, (n, m)

    @classmethod
    def of(cls, coefficients: Sequence[Sequence[float]]) -> Polynomial:
        """Build it from the coefficients of each row, in m or rad per power of s, lowest first."""
        return cls(np.array(list(zip_longest(*coefficients, fillvalue=0.0)), dtype=float))

    def sample(self, t: float) -> ReferenceSample:
        """Value, rate and acceleration at time t in s."""
        return sample(self.coefficients, t)
