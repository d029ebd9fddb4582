# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Bumpless transfer: a change of the control law causes no step of the efforts."""

from __future__ import annotations

import numpy as np

from uk_dynamics.compilation.runtime import CompiledTransfer
from uk_dynamics.control.limits.motor_limits import MotorLimits
from uk_dynamics.mechanism.resolution import Array


class EffortTransfer:
    """Adds an offset to the efforts of the new law that fades to zero.

    The new law acts at once, with all its feedback. The offset starts as the difference between
    the last old and the first new efforts, and decays as 1 − 3s² + 2s³. The sum stays within the
    limits, rate limits included.
    """

    def __init__(self, limits: MotorLimits) -> None:
        self.limits = limits  # of the sum
        self._from: Array | None = None
        self._offset: Array = np.zeros(0)
        self._begin: float | None = None
        self._duration = 0.0

    @property
    def under_way(self) -> bool:
        """Whether the offset is still fading."""
        return self._from is not None

    def start(self, last: Array | None, duration: float) -> None:
        """Start a transfer with the next efforts."""
        self._from = None if last is None or duration <= 0.0 else last.copy()
        self._begin, self._duration = None, duration

    def load(self, law: CompiledTransfer) -> None:
        """Hand over to C."""
        limits = self.limits
        law.load(self._from, self._begin, self._offset)
        law.call.duration = self._duration
        last = limits.last if limits.has_rate_limits else None
        law.limits.load(limits.effort, limits.power, limits.step, last)

    def store(self, law: CompiledTransfer) -> None:
        """Take over what C remembers."""
        if not law.call.under_way:
            self._from = None
        if law.call.begun:
            self._begin, self._offset = float(law.call.begin), law.offset
            self.limits.reset(law.limits.last)

    def apply(self, efforts: Array, t: float, v: Array) -> Array:
        """Efforts to command, (motors,), in N or N·m."""
        if self._from is None:
            return efforts
        if self._begin is None:
            self._begin = t
            self._offset = self._from - efforts
            self.limits.reset(self._from)
        s = (t - self._begin) / self._duration
        if s >= 1.0:
            self._from = None
            return efforts
        bounds = self.limits.bounds(v)
        fading = 1.0 - s * s * (3.0 - 2.0 * s)
        result: Array = np.clip(efforts + fading * self._offset, bounds.lower, bounds.upper)
        self.limits.remember(result)
        return result
