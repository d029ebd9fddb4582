# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Timing of a servo loop: response times, regularity of states, quiet garbage collection."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Callable
from typing import NamedTuple

from builtin_interfaces.msg import Time

from uk_dynamics.ros.diagnostics.publisher import Report, report_rate
from uk_dynamics.ros.timing.clock import nanoseconds
from uk_dynamics.ros.timing.rate_monitor import PeriodMonitor, RateMonitor

_SHORTEST = 1e-6  # s
_BINS_PER_DECADE = 50  # 4.7 % apart
_DECADES = 7  # up to 10 s


class Latencies(NamedTuple):
    """Quantiles of durations, in s; nan where there are none."""

    p50: float
    p99: float
    p999: float
    largest: float
    count: int


class LatencyHistogram:
    """Durations in bins of equal ratio; quantiles are accurate to 5 %, the largest is exact."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._counts = [0] * (_BINS_PER_DECADE * _DECADES + 1)
        self._largest = 0.0
        self._total = 0

    def add(self, duration: float) -> None:
        """Count a duration, in s."""
        place = 0
        if duration > _SHORTEST:
            place = math.ceil(_BINS_PER_DECADE * math.log10(duration / _SHORTEST))
        self._counts[min(place, len(self._counts) - 1)] += 1
        self._largest = max(self._largest, duration)
        self._total += 1

    def report(self) -> Latencies:
        """Quantiles of all durations since :meth:`clear`, as upper ends of their bins."""
        if not self._total:
            nan = float("nan")
            return Latencies(nan, nan, nan, nan, 0)
        found = [self._quantile(part) for part in (0.5, 0.99, 0.999)]
        return Latencies(*found, self._largest, self._total)

    def _quantile(self, part: float) -> float:
        wanted, seen = part * self._total, 0
        for place, count in enumerate(self._counts):
            seen += count
            if seen >= wanted:
                return min(_SHORTEST * 10.0 ** (place / _BINS_PER_DECADE), self._largest)
        return self._largest


_INTERVAL = 1.0  # s


class QuietCollector:
    """Collects once per second right after a command, while the loop waits for the next state.

    Automatic collection happens at any instant, now and then over all objects, which takes tens of
    milliseconds. Objects that exist when the loop starts are therefore frozen, and those made by
    the loop are freed by reference counting: without cycles a collection takes some 0.1 ms.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        """Prepare; ``clock`` gives real time in s."""
        self.longest = 0.0  # s
        self.found = 0  # unreachable objects; above zero the loop makes cycles
        self._clock = clock
        self._last: float | None = None

    def start(self) -> None:
        """Replace automatic collection."""
        gc.disable()
        gc.collect()
        gc.freeze()
        self.longest, self.found = 0.0, 0
        self._last = self._clock()

    def stop(self) -> None:
        """Return to automatic collection."""
        if self._last is not None:
            self._last = None
            gc.unfreeze()
            gc.enable()

    def idle(self) -> None:
        """Collect now if a collection is due."""
        if self._last is None:
            return
        now = self._clock()
        if now - self._last < _INTERVAL:
            return
        self.found += gc.collect()
        self._last = self._clock()
        self.longest = max(self.longest, self._last - now)


_PLAUSIBLE = 10.0  # s; an older stamp comes from another clock


class ServoTiming:
    """Measures response times, and schedules garbage collection while the loop runs."""

    def __init__(self, period: float | None) -> None:
        """Prepare; ``period`` between states in s, None: not known."""
        self._rate = RateMonitor()
        self._periods = PeriodMonitor(period)
        self._period = period
        self._responses = LatencyHistogram()
        self._delays = LatencyHistogram()
        self._collector = QuietCollector()
        self._began = 0.0

    def start(self) -> None:
        """The loop starts."""
        self._rate.pause()
        self._periods.restart()
        self._responses.clear()
        self._delays.clear()
        self._collector.start()

    def stop(self) -> None:
        """The loop ends."""
        self._collector.stop()

    def begin(self, stamp: Time) -> None:
        """A state has arrived that will be answered."""
        self._began = time.perf_counter()
        self._rate.tick()
        self._periods.tick(nanoseconds(stamp))

    def end(self, stamp: Time) -> None:
        """The answer has been sent; the loop waits for the next state."""
        self._responses.add(time.perf_counter() - self._began)
        delay = (time.time_ns() - nanoseconds(stamp)) * 1e-9
        if 0.0 <= delay < _PLAUSIBLE:
            self._delays.add(delay)
        self._collector.idle()

    def report(self, report: Report) -> None:
        """Add the measurements."""
        self._collector.idle()  # also where no states arrive
        report_rate(report, self._rate)
        periods = self._periods.report()
        report.add("stamp_rate", periods.rate)
        report.add("missed_periods", periods.missed)
        if periods.off and self._period is not None:
            report.warn(
                f"by their stamps states come {periods.rate:.4g} times per second, "
                f"update_rate is {1.0 / self._period:.4g}"
            )
        for name, histogram in (("response", self._responses), ("delay", self._delays)):
            seen = histogram.report()
            if seen.count:
                report.add(f"{name}_p50", seen.p50)
                report.add(f"{name}_p99", seen.p99)
                report.add(f"{name}_p99.9", seen.p999)
                report.add(f"{name}_max", seen.largest)
        report.add("longest_collection", self._collector.longest)
        report.add("cyclic_garbage", self._collector.found)
