# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Clocks and stamps: stamps in whole nanoseconds, durations by the steady clock.

The motion of a mechanism is timed by the stamps of its states. Timers and watchdogs use the steady
clock, so they also work while simulated time stands still.
"""

import time
from collections.abc import Callable

from builtin_interfaces.msg import Duration, Time
from rclpy.clock import Clock, ClockType
from rclpy.node import Node

_SECOND = 1_000_000_000


def steady_clock() -> Clock:
    """A clock for timers that is never stopped or set back."""
    return Clock(clock_type=ClockType.STEADY_TIME)


def nanoseconds(stamp: Time) -> int:
    """A stamp as whole nanoseconds."""
    return stamp.sec * _SECOND + stamp.nanosec


def write_stamp(stamp: Time | Duration, total: int) -> None:
    """Set a stamp or a duration from whole nanoseconds."""
    stamp.sec, stamp.nanosec = divmod(total, _SECOND)


def runs_on_simulated_time(node: Node) -> bool:
    """Whether the parameter ``use_sim_time`` says that stamps are those of ``/clock``."""
    return bool(node.get_parameter("use_sim_time").value)


def stamp_clock(node: Node) -> Callable[[], int]:
    """The clock of stamps, in ns: that of ``/clock``, or the system's, which is quicker to read."""
    if runs_on_simulated_time(node):
        clock = node.get_clock()
        return lambda: int(clock.now().nanoseconds)
    return time.time_ns


class TimeOrigin:
    """The stamp of t = 0.

    Under ``/clock`` it is zero: all nodes share the simulation's time. Otherwise it is the stamp
    that :meth:`latch` was given, or the first stamp after :meth:`reset`.
    """

    def __init__(self, *, simulated: bool) -> None:
        """Choose the origin; ``simulated``: stamps are those of ``/clock``."""
        self._known = 0 if simulated else None
        self.total: int | None = self._known  # the origin in ns; None before the first stamp

    def reset(self) -> None:
        """Forget the origin; the next stamp is the new one, unless the origin is known."""
        self.total = self._known

    def latch(self, total: int) -> None:
        """Fix the origin at a stamp, in ns."""
        self._known = self.total = total

    def since(self, stamp: Time) -> float:
        """Time between the origin and a stamp, in s."""
        total = nanoseconds(stamp)
        if self.total is None:
            self.total = total
        return (total - self.total) * 1e-9


class Watchdog:
    """Real time since an event."""

    def __init__(self) -> None:
        self.count = 0
        self._last: float | None = None

    def feed(self) -> None:
        """The event happens now."""
        self.count += 1
        self._last = time.monotonic()

    def forget(self) -> None:
        """As if there had been no event."""
        self._last = None

    @property
    def fed(self) -> bool:
        """Whether there has been an event."""
        return self._last is not None

    @property
    def age(self) -> float:
        """Time since the last event, in s; infinite before the first."""
        return float("inf") if self._last is None else time.monotonic() - self._last
