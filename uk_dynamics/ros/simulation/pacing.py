"""Pacing of simulation steps, so that simulated time follows real time."""

from __future__ import annotations

import time
from collections.abc import Callable

_LARGEST_LAG = 0.05  # s of real time that is caught up; steps beyond that are skipped
_MOST_AT_ONCE = 2  # the executor must process commands between steps


class Pacer:
    """Counts the steps that are due.

    Attributes:
        period: Real time between two steps, in s.
        missed: Steps that were skipped because the computer is too slow.
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
        self._largest_debt = max(_MOST_AT_ONCE, round(_LARGEST_LAG / self.period))
        self._start: float | None = None
        self._done = 0

    def restart(self) -> None:
        """Time counts from the next call of :meth:`due`."""
        self._start = None

    def due(self) -> int:
        """Number of steps to take now; a simulation that lags behind catches up gradually.

        Rounding to the nearest step tolerates timers that are early or late by half a period.
        """
        now = self._clock()
        if self._start is None:
            self._start, self._done = now, 0
        debt = round((now - self._start) / self.period) + 1 - self._done
        skipped = max(0, debt - self._largest_debt)
        due = min(debt, _MOST_AT_ONCE)
        self.missed += skipped
        self._done += skipped + due
        return due
