"""How many steps of a simulation are due, so that simulated time follows real time."""

from __future__ import annotations

import time
from collections.abc import Callable

_LARGEST_BURST = 0.05  # s of real time that is caught up; what is later is given up


class Pacer:
    """Counts the steps that are due.

    Attributes:
        period: Real time between two steps, in s.
        missed: Steps that were given up because the machine is too slow.
    """

    def __init__(
        self, step_size: float, factor: float, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        """Start at the first call of :meth:`due`.

        Args:
            step_size: Simulated time of a step, in s.
            factor: Simulated time per real time, positive.
            clock: Real time, in s.
        """
        self.period = step_size / factor
        self.missed = 0
        self._clock = clock
        self._burst = max(1, round(_LARGEST_BURST / self.period))
        self._start: float | None = None
        self._done = 0

    def restart(self) -> None:
        """Time does not count until the next call of :meth:`due`."""
        self._start = None

    def due(self) -> int:
        """Steps to take now.

        Rounding to the nearest step leaves half a period to timers that are early or late.
        """
        now = self._clock()
        if self._start is None:
            self._start, self._done = now, 0
        due = round((now - self._start) / self.period) + 1 - self._done
        if due > self._burst:
            given_up = due - self._burst
            self.missed += given_up
            self._done += given_up
            due = self._burst
        self._done += due
        return due
