"""References that are polynomials of time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval

from uk_dynamics.constraints.references.references import Array, ReferenceSample


@dataclass(frozen=True)
class Polynomial:
    """c₀ + c₁ t + c₂ t² + … for each row, at all times.

    Attributes:
        value: Coefficients of the value, lowest power first, one column per row, (n, m).
        rate: Those of its derivative.
        acceleration: Those of its second derivative.
    """

    value: Array
    rate: Array
    acceleration: Array

    @classmethod
    def of(cls, coefficients: Sequence[Sequence[float]]) -> Polynomial:
        """Build it from the coefficients of each row.

        Args:
            coefficients: Per row, lowest power first, in m or rad per power of s; the rows may
                have different degrees.
        """
        table = np.zeros((max(len(row) for row in coefficients), len(coefficients)))
        for column, row in enumerate(coefficients):
            table[: len(row), column] = row
        return cls(table, np.asarray(polyder(table), float), np.asarray(polyder(table, 2), float))

    def sample(self, t: float) -> ReferenceSample:
        """Value, rate and acceleration at time t in s."""
        value, rate, acceleration = (
            np.asarray(polyval(t, part)) for part in (self.value, self.rate, self.acceleration)
        )
        return ReferenceSample(value, rate, acceleration)
