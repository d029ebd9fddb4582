# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Bumpless transfer: a change of the control law causes no step of the efforts."""

from __future__ import annotations

import numpy as np

from uk_dynamics.compilation.runtime import TransferMemory
from uk_dynamics.control.limits.motor_limits import MotorLimits
from uk_dynamics.core.servo import faded
from uk_dynamics.mechanism.resolution import Array


class EffortTransfer:
    """Adds an offset to the efforts of the new law that fades to zero.

    The new law acts at once, with all its feedback. The offset starts as the difference between
    the last old and the first new efforts; see :func:`faded`. The sum stays within the limits,
    rate limits included. C works on the same memory.
    """

    def __init__(self, limits: MotorLimits) -> None:
        self.limits = limits
        self.memory = TransferMemory(limits.arrays)

    @property
    def under_way(self) -> bool:
        """Whether the offset is still fading."""
        return bool(self.memory.call.under_way)

    def start(self, last: Array | None, duration: float) -> None:
        """Start a transfer with the next efforts."""
        call = self.memory.call
        call.under_way, call.begun, call.duration = 0, 0, duration
        if last is not None and duration > 0.0:
            call.under_way = 1
            self.memory.origin[:] = last

    def apply(self, efforts: Array, t: float, v: Array) -> Array:
        """Efforts to command, (motors,), in N or N·m."""
        memory, call = self.memory, self.memory.call
        if not call.under_way:
            return efforts
        if not call.begun:
            call.begun, call.begin = 1, t
            memory.offset[:] = memory.origin - efforts
            self.limits.reset(memory.origin)
        s = (t - call.begin) / call.duration
        if s >= 1.0:
            call.under_way = 0
            return efforts
        bounds = self.limits.bounds(v)
        result = faded(efforts, memory.offset, np.array([s]), bounds.lower, bounds.upper)
        self.limits.remember(result)
        return result
