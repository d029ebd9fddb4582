# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Regularity of events."""

from __future__ import annotations

import time

import numpy as np

_CAPACITY = 4096
_FEWEST_PERIODS = 3


class RateMonitor:
    """Counts events; keeps their times only until the next report."""

    def __init__(self, nominal_period: float | None = None) -> None:
        """Start counting; without ``nominal_period``, in s, the median of those measured counts."""
        self.nominal_period = nominal_period
        self.missed = 0
        self._times = np.empty(_CAPACITY)
        self._count = 0
        self._kept = 0
        self._start = time.perf_counter()

    def tick(self, count: int = 1) -> None:
        """An event now, or several at once when the node catches up."""
        self._count += count
        if self._kept < _CAPACITY:
            self._times[self._kept] = time.perf_counter()
            self._kept += 1

    def pause(self) -> None:
        """The next event is not late: the node was idle."""
        self._kept = 0

    def report(self) -> dict[str, object]:
        """How regularly the node has done its work since the last call, for its diagnostics.

        ``rate`` in events per second, ``period_error_p99`` the 99th percentile of
        |period − nominal period| in s, ``missed_ticks`` whole periods without an event.
        """
        now = time.perf_counter()
        rate = self._count / max(now - self._start, 1e-9)
        periods = np.diff(self._times[: self._kept])
        error = float("nan")
        if len(periods) >= _FEWEST_PERIODS:
            nominal = self.nominal_period or float(np.median(periods))
            error = float(np.percentile(np.abs(periods - nominal), 99))
            self.missed += int(np.sum(np.maximum(np.round(periods / nominal) - 1, 0)))
        if self._kept == _CAPACITY:  # the last events were not kept
            self._kept = 0
        elif self._kept:  # the next period starts with the last event
            self._times[0] = self._times[self._kept - 1]
            self._kept = 1
        self._start, self._count = now, 0
        return {"rate": rate, "period_error_p99": error, "missed_ticks": self.missed}
