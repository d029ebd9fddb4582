"""References of tasks: t → value, rate and acceleration of each row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval
from numpy.typing import NDArray

Array = NDArray[np.float64]


class ReferenceSample(NamedTuple):
    """Reference at one instant; units are those of the rows (m or rad), per s and per s².

    Attributes:
        value: (m,).
        rate: (m,).
        acceleration: (m,).
    """

    value: Array
    rate: Array
    acceleration: Array


class Reference(Protocol):
    """A twice differentiable function of time with m components."""

    def sample(self, t: float) -> ReferenceSample:
        """Value, rate and acceleration at time t in s."""


Followed = ReferenceSample | Reference
"""What replaces a declared reference: a sample that holds at all times, or a function of time."""


@dataclass(frozen=True)
class Constant:
    """The same value at all times.

    Attributes:
        value: (m,), in m or rad.
    """

    value: Array

    def sample(self, t: float) -> ReferenceSample:
        """Value, zero rate, zero acceleration."""
        zero = np.zeros_like(self.value)
        return ReferenceSample(self.value, zero, zero)


@dataclass(frozen=True)
class Sinusoid:
    """offset + amplitude · sin(2π · frequency · t + phase).

    Attributes:
        offset: (m,), in m or rad.
        amplitude: (m,), in m or rad.
        frequency: (m,), in Hz.
        phase: (m,), in rad.
    """

    offset: Array
    amplitude: Array
    frequency: Array
    phase: Array

    def sample(self, t: float) -> ReferenceSample:
        """Value, rate and acceleration at time t in s."""
        angle = self._omega * t + self.phase
        swing = self.amplitude * np.sin(angle)
        return ReferenceSample(
            self.offset + swing, self._fastest * np.cos(angle), self._curvature * swing
        )

    @cached_property
    def _omega(self) -> Array:
        return 2.0 * np.pi * self.frequency

    @cached_property
    def _fastest(self) -> Array:
        return self.amplitude * self._omega

    @cached_property
    def _curvature(self) -> Array:
        return -self._omega * self._omega


@dataclass(frozen=True)
class Live:
    """A slot: samples arrive through the inputs of an evaluation; until then the initial value.

    Attributes:
        value: Wanted value before the first sample, (m,), in m or rad.
    """

    value: Array

    def sample(self, t: float) -> ReferenceSample:
        """The initial value at rest."""
        zero = np.zeros_like(self.value)
        return ReferenceSample(self.value, zero, zero)


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
