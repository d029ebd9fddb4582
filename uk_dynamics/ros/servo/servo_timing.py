# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Timing of a servo loop: response times, regularity of states, quiet garbage collection."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable

from builtin_interfaces.msg import Time

from uk_dynamics.ros.diagnostics.dynamics import report_rate
from uk_dynamics.ros.diagnostics.publisher import Report
from uk_dynamics.ros.timing.clock import nanoseconds
from uk_dynamics.ros.timing.latency_histogram import LatencyHistogram
from uk_dynamics.ros.timing.rate_monitor import PeriodMonitor, RateMonitor

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
