"""How many steps of a simulation are due, so that simulated time follows real time."""

from __future__ import annotations

import time
from collections.abc import Callable

_LARGEST_LAG = 0.05  # s of real time that is caught up; what is later is given up
_MOST_AT_ONCE = 2  # between steps the executor must get to the commands


class Pacer:
    """Counts the steps that are due.

    Attributes:
        period: Real time between two steps, in s.
        missed: Steps that were given up because the computer is too slow.
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
        """Time does not count until the next call of :meth:`due`."""
        self._start = None

    def due(self) -> int:
        """Steps to take now; a simulation that lags behind catches up little by little.

        Rounding to the nearest step leaves half a period to timers that are early or late.
        """
        now = self._clock()
        if self._start is None:
            self._start, self._done = now, 0
        debt = round((now - self._start) / self.period) + 1 - self._done
        given_up = max(0, debt - self._largest_debt)
        due = min(debt, _MOST_AT_ONCE)
        self.missed += given_up
        self._done += given_up + due
        return due
