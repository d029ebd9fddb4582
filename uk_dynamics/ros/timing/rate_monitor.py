# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Regularity of events, by the clock and by their stamps."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

_CAPACITY = 4096
_FEWEST_PERIODS = 3


@dataclass(frozen=True)
class RateReport:
    """Regularity since the last report."""

    rate: float  # events per second
    period_error: float  # 99th percentile of |period − nominal period|, in s
    missed: int  # whole periods without an event since the start


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

    def report(self) -> RateReport:
        """Regularity since the last call."""
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
        return RateReport(rate, error, self.missed)


_SAME = 0.05  # of the rate


class Periods(NamedTuple):
    """Regularity by stamps."""

    rate: float  # states per second since the last report; nan for less than two
    missed: int  # periods without an answered state since the start; 0 where none is configured
    off: bool  # whether the rate differs from the configured one


class PeriodMonitor:
    """Compares the stamps of answered states with the configured period."""

    def __init__(self, period: float | None) -> None:
        """Start; ``period`` between states in s, None: not known."""
        self._period = period
        self._last: int | None = None
        self._elapsed = 0
        self._count = 0
        self._missed = 0

    def restart(self) -> None:
        """The next state is the first one."""
        self._last = None
        self._elapsed = self._count = self._missed = 0

    def tick(self, stamp: int) -> None:
        """A state with this stamp, in ns, was answered."""
        if self._last is not None:
            elapsed = stamp - self._last
            self._elapsed += elapsed
            self._count += 1
            if self._period is not None:
                self._missed += max(0, round(elapsed * 1e-9 / self._period) - 1)
        self._last = stamp

    def report(self) -> Periods:
        """Regularity since the last call."""
        if not self._elapsed:
            return Periods(float("nan"), self._missed, off=False)
        rate = self._count / (self._elapsed * 1e-9)
        self._elapsed = self._count = 0
        off = self._period is not None and abs(rate * self._period - 1.0) > _SAME
        return Periods(rate, self._missed, off)
