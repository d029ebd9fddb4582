"""Bumpless transfer: efforts of one law go over to those of another without a step."""

from __future__ import annotations

import numpy as np

from uk_dynamics.control.motor_limits import MotorLimits
from uk_dynamics.mechanism.state import Array


class EffortTransfer:
    """Adds to the efforts of the new law what is missing to the old one's last, and lets it fade.

    The new law is in force at once, with all its feedback; what is added begins as the difference
    of the first efforts and goes to zero along 1 − 3s² + 2s³. The sum is within the limits, rates
    of efforts included.

    Attributes:
        limits: Of the sum.
    """

    def __init__(self, limits: MotorLimits) -> None:
        """Prepare.

        Args:
            limits: Of the motors, with a memory of their own.
        """
        self.limits = limits
        self._from: Array | None = None
        self._gap: Array = np.zeros(0)
        self._begin: float | None = None
        self._duration = 0.0

    @property
    def under_way(self) -> bool:
        """Whether something is added."""
        return self._from is not None

    def start(self, last: Array | None, duration: float) -> None:
        """The next efforts are those of another law.

        Args:
            last: What was commanded last, (motors,), in N or N·m; None: nothing, no transfer.
            duration: In s; 0: no transfer.
        """
        self._from = None if last is None or duration <= 0.0 else last.copy()
        self._begin, self._duration = None, duration

    def apply(self, efforts: Array, t: float, v: Array) -> Array:
        """Efforts to command, (motors,), in N or N·m.

        Args:
            efforts: Of the new law, (motors,).
            t: Time, in s.
            v: Velocity, (nv,).
        """
        if self._from is None:
            return efforts
        if self._begin is None:
            self._begin = t
            self._gap = self._from - efforts
            self.limits.reset(self._from)
        s = (t - self._begin) / self._duration
        if s >= 1.0:
            self._from = None
            return efforts
        bounds = self.limits.bounds(v)
        left = 1.0 - s * s * (3.0 - 2.0 * s)
        result: Array = np.clip(efforts + left * self._gap, bounds.lower, bounds.upper)
        self.limits.remember(result)
        return result
