# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""References of tasks: t → value, rate and acceleration of each row."""

from __future__ import annotations

from dataclasses import dataclass
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

    @classmethod
    def at_rest(cls, value: Array) -> ReferenceSample:
        """A value without motion."""
        return cls(value, np.zeros_like(value), np.zeros_like(value))


class Reference(Protocol):
    """A twice differentiable function of time with m components."""

    def sample(self, t: float) -> ReferenceSample:
        """Value, rate and acceleration at time t in s."""


Followed = ReferenceSample | Reference
"""What replaces a declared reference: a sample that holds at all times, or a function of time."""


@dataclass(frozen=True)
class Constant:
    """The same value at all times."""

    value: Array  # (m,), in m or rad

    def sample(self, t: float) -> ReferenceSample:
        """Value, zero rate, zero acceleration."""
        return ReferenceSample.at_rest(self.value)


@dataclass(frozen=True)
class Sinusoid:
    """offset + amplitude · sin(2π · frequency · t + phase)."""

    offset: Array  # (m,), in m or rad
    amplitude: Array  # (m,), in m or rad
    frequency: Array  # (m,), in Hz
    phase: Array  # (m,), in rad

    def sample(self, t: float) -> ReferenceSample:
        """Value, rate and acceleration at time t in s."""
        omega = 2.0 * np.pi * self.frequency
        angle = omega * t + self.phase
        swing = self.amplitude * np.sin(angle)
        rate = self.amplitude * omega * np.cos(angle)
        return ReferenceSample(self.offset + swing, rate, -omega * omega * swing)


@dataclass(frozen=True)
class Live:
    """A slot: samples arrive through the inputs of an evaluation; until then the initial value."""

    value: Array  # wanted value before the first sample, (m,), in m or rad

    def sample(self, t: float) -> ReferenceSample:
        """The initial value at rest."""
        return ReferenceSample.at_rest(self.value)
