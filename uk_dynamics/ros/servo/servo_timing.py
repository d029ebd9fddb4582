# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Timing of a servo loop: delay, response times, regularity of states, quiet garbage collection."""

import gc
import math
import statistics
import time
from collections import deque
from collections.abc import Callable

import numpy as np
from builtin_interfaces.msg import Time

from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.ros.diagnostics.publisher import RateMonitor, Report
from uk_dynamics.ros.parameters.parameter import Parameters
from uk_dynamics.ros.timing.clock import nanoseconds

_SHORTEST = 1e-6  # s
_BINS_PER_DECADE = 50  # 4.7 % apart
_DECADES = 7  # up to 10 s


_QUANTILES = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}


class LatencyHistogram:
    """Durations in bins of equal ratio; quantiles are accurate to 5 %, the largest is exact."""

    def __init__(self) -> None:
        self._counts = [0] * (_BINS_PER_DECADE * _DECADES + 1)
        self._largest = 0.0

    def add(self, duration: float) -> None:
        """Count a duration, in s."""
        place = 0
        if duration > _SHORTEST:
            place = math.ceil(_BINS_PER_DECADE * math.log10(duration / _SHORTEST))
        self._counts[min(place, len(self._counts) - 1)] += 1
        self._largest = max(self._largest, duration)

    def report(self) -> dict[str, float]:
        """Quantiles as upper ends of their bins, and the largest, in s."""
        seen = np.cumsum(self._counts)
        if not seen[-1]:
            return {}
        bins = np.searchsorted(seen, seen[-1] * np.array([*_QUANTILES.values()]))
        ends = np.minimum(_SHORTEST * 10.0 ** (bins / _BINS_PER_DECADE), self._largest)
        return dict(zip(_QUANTILES, ends.tolist(), strict=True)) | {"max": self._largest}


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


_OFF = 0.05  # of the rate


class PeriodMonitor:
    """Compares the stamps of answered states with the configured period."""

    def __init__(self, period: float | None) -> None:
        """Start; ``period`` between states in s, None: not known."""
        self._period = period
        self._last: int | None = None
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

    def report(self, report: Report) -> None:
        """Add states per second since the last call, and all periods without an answered state."""
        rate = self._count / (self._elapsed * 1e-9) if self._elapsed else float("nan")
        self._elapsed = self._count = 0
        report.add("stamp_rate", rate)
        report.add("missed_periods", self._missed)
        if self._period is not None and abs(rate * self._period - 1.0) > _OFF:  # false for nan
            report.warn(
                f"by their stamps states come {rate:.4g} times per second, "
                f"update_rate is {1.0 / self._period:.4g}"
            )


_PLAUSIBLE = 10.0  # s; an older stamp comes from another clock


class ServoTiming:
    """Measures response times, and schedules garbage collection while the loop runs."""

    def __init__(self, period: float | None) -> None:
        """Prepare; ``period`` between states in s, None: not known."""
        self._period = period
        self._rate = RateMonitor()
        self._collector = QuietCollector()
        self._began = 0.0
        self._forget()

    def start(self) -> None:
        """The loop starts."""
        self._rate.pause()
        self._forget()
        self._collector.start()

    def _forget(self) -> None:
        self._periods = PeriodMonitor(self._period)
        self._responses, self._delays = LatencyHistogram(), LatencyHistogram()

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
        report.update(self._rate.report())
        self._periods.report(report)
        for name, histogram in (("response", self._responses), ("delay", self._delays)):
            report.update({f"{name}_{part}": seen for part, seen in histogram.report().items()})
        report.add("longest_collection", self._collector.longest)
        report.add("cyclic_garbage", self._collector.found)


_REMEMBERED = 64  # commands whose return is awaited
_WINDOW, _FEWEST = 15, 5  # returns of which the median is taken
_SAME = 1e-9  # relative difference of efforts that came back unchanged


class LoopDelay:
    """The delay of each state, measured in the first way that is available.

    1. Where the efforts of ``joint_states`` repeat the commands, as those of drives that report
       what they were told: a state's efforts are those that acted since the state before it, so
       the delay is the time from the answered state to that one. The median of the last returns
       within ``longest_prediction`` counts, but at least the age of the state less a period: no
       command acts in the past.
    2. Else the age of the state: from its stamp until now. One beyond ``longest_prediction`` is
       not believed: the stamp is of another clock, or of a simulation that has fallen behind.

    The parameter ``command_delay``, for what neither sees, comes on top.
    """

    def __init__(
        self,
        settings: Parameters,  # with ``command_delay``, in s
        matrix: Array,  # generalized forces of the motors, (nv, motors)
        period: float | None,  # between states, in s; None: as their stamps say
        now: Callable[[], int],  # the clock of the stamps, in ns
    ) -> None:
        """Prepare."""
        self._settings = settings
        self._driven = np.flatnonzero(matrix.any(axis=1))
        self._matrix = matrix[self._driven]
        self._now = now
        self._nominal = period
        self.start()

    def start(self) -> None:
        """Forget what was measured: the loop starts."""
        self._stamps = np.zeros(_REMEMBERED, dtype=np.int64)  # ns, of the states answered
        self._efforts = np.full((_REMEMBERED, len(self._driven)), np.nan)  # the answers
        self._sent = self._returned = 0  # commands so far; those up to a return are not awaited
        self._returns: deque[float] = deque(maxlen=_WINDOW)
        self._usual = 0.0  # s, their median
        self._before: int | None = None
        self._period = self._nominal or 0.0
        self._states = 0
        self.delay = 0.0  # s, of the last state

    @property
    def returned(self) -> bool:
        """Whether commands come back."""
        return len(self._returns) >= _FEWEST

    @property
    def settled(self) -> bool:
        """Whether the measurement has had the time to begin."""
        return self._states >= _WINDOW

    def remaining(self, predicted: float) -> float:
        """Delay that a prediction, in s, does not cover, in s.

        Half a period for which efforts are held; and what is not predicted, or else as much again
        for the error of the measurement.
        """
        half = 0.5 * self._period
        return half + (half if predicted else self.delay)

    def of_state(self, stamp: int) -> float:
        """The delay of the command for a new state, in s; ``stamp`` is that of the state, in ns."""
        age = (self._now() - stamp) * 1e-9
        if not 0.0 <= age <= self._settings["longest_prediction"]:
            age = 0.0
        if self.returned:
            age = max(self._usual, age - self._period)
        self.delay = age + self._settings["command_delay"]
        return self.delay

    def answered(self, stamp: int, efforts: Array, tau: Array) -> None:
        """A state has been answered; what it says of earlier answers counts from the next one on.

        With its stamp in ns, the answer, (motors,), and measured generalized forces, (nv,), in N or
        N·m, zero where not measured.
        """
        if self._before is not None and stamp > self._before:
            self._states += 1
            if self._nominal is None:
                self._period = (stamp - self._before) * 1e-9
            self._recognize(self._before, tau[self._driven])
        self._before = stamp
        place = self._sent % _REMEMBERED
        self._stamps[place] = stamp
        self._efforts[place] = self._matrix @ efforts
        self._sent += 1

    def report(self, report: Report) -> None:
        """Add the delay, and how it is measured."""
        report.add("loop_delay", self.delay)
        report.add("loop_delay_source", "efforts" if self.returned else "stamps")

    def _recognize(self, acted_from: int, tau: Array) -> None:
        """Note the return of a command, where exactly one of those sent is meant."""
        if not tau.any():  # not measured, or a start
            return
        awaited = np.arange(max(self._returned, self._sent - _REMEMBERED), self._sent)
        sent = self._efforts[awaited % _REMEMBERED]
        scale = np.abs(sent).max(axis=1, initial=0.0)
        found = awaited[np.abs(sent - tau).max(axis=1, initial=0.0) <= _SAME * scale]
        if len(found) != 1:  # none; or the same efforts for a while, which tell nothing
            return
        stamp = int(self._stamps[found[0] % _REMEMBERED])
        self._returned = int(found[0]) + 1  # it will act on, but it began here
        delay = max(acted_from - stamp, 0) * 1e-9
        # a longer one is of a start or a pause: nothing is commanded at it, so none would follow
        if delay <= self._settings["longest_prediction"]:
            self._returns.append(delay)
            self._usual = statistics.median(self._returns)
