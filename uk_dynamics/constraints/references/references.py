"""References of tasks: t → value, rate and acceleration of each row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Protocol

import numpy as np
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
