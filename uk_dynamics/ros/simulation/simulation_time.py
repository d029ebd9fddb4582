# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The time of a simulation: stamps, ``/clock`` on request, and when its steps are due."""

import time
from collections.abc import Callable

from builtin_interfaces.msg import Time
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rosgraph_msgs.msg import Clock as ClockMessage

from uk_dynamics.ros.timing.clock import (
    nanoseconds,
    runs_on_simulated_time,
    steady_clock,
    write_stamp,
)


class SimulationTime:
    """Stamps of a simulation whose time t starts at zero.

    Under ``/clock``, and in lockstep, the stamp is t. Otherwise it is the instant of the last
    reset, or of the first step, plus t: at a real-time factor of one, without pauses, the
    wall-clock time.
    """

    def __init__(self, node: Node, *, publish: bool, from_zero: bool = False) -> None:
        """Start at t = 0; ``publish`` ``/clock``, or count stamps ``from_zero`` in any case."""
        self.stamp = Time()
        self._publisher = node.create_publisher(ClockMessage, "/clock", 10) if publish else None
        self._message = ClockMessage()
        self._counts_from_zero = publish or from_zero or runs_on_simulated_time(node)
        self._wall = Clock(clock_type=ClockType.SYSTEM_TIME)
        self.reset()

    def reset(self) -> None:
        """Back to t = 0."""
        self._last = 0
        self._origin = 0 if self._counts_from_zero else self._wall.now().nanoseconds
        self._t = 0.0
        self._seen = (0.0, time.perf_counter())
        self.set(0.0)

    def begin(self, step: float) -> None:
        """The first step, in s, is taken now: what was prepared since the reset does not count."""
        self._seen = (self._t, time.perf_counter())
        if not self._counts_from_zero:
            self._origin = self._wall.now().nanoseconds - round(step * 1e9)

    @property
    def origin(self) -> Time:
        """The stamp of t = 0."""
        stamp = Time()
        write_stamp(stamp, self._origin)
        return stamp

    def set(self, t: float) -> None:
        """Set the simulated time, in s."""
        self._t = t
        write_stamp(self.stamp, self._origin + round(t * 1e9))

    def publish(self, ahead: int = 0) -> None:
        """Publish ``/clock``, if requested, some ns ahead of the stamp."""
        self._last = nanoseconds(self.stamp)
        self.repeat(ahead)

    def repeat(self, ahead: int = 0) -> None:
        """Publish ``/clock`` as before, or some ns ahead of that."""
        if self._publisher is not None:
            write_stamp(self._message.clock, self._last + ahead)
            self._publisher.publish(self._message)

    def factor(self) -> float:
        """Simulated time per real time since the last call."""
        t, now = self._seen
        self._seen = (self._t, time.perf_counter())
        return (self._t - t) / max(self._seen[1] - now, 1e-9)


_LARGEST_LAG = 0.05  # s of real time that is caught up; steps beyond that are skipped
_MOST_AT_ONCE = 2  # the executor must process commands between steps


class Pacer:
    """Counts the steps that are due; ``missed`` ones were skipped: the computer is too slow."""

    def __init__(
        self, step_size: float, factor: float, clock: Callable[[], float] = time.perf_counter
    ) -> None:
        """``step_size`` in simulated s; ``factor``: simulated time per real time, positive."""
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


_RETRY_PERIOD = 0.1  # s; the first states come before the controller is there


class Lockstep:
    """Accepts only the command with the stamp of the last state; counts ``unexpected`` others."""

    def __init__(self, node: Node, publish_again: Callable[[], None]) -> None:
        """Prepare; ``publish_again`` publishes the state once more while no command comes."""
        self.unexpected = 0
        self._awaited: int | None = None
        self._overdue = False
        self._publish_again = publish_again
        node.create_timer(_RETRY_PERIOD, self._retry, clock=steady_clock())

    def expect(self, stamp: Time) -> None:
        """Wait for the answer to the state with this stamp."""
        self._awaited = nanoseconds(stamp)
        self._overdue = False

    def pause(self) -> None:
        """Wait for no answer."""
        self._awaited = None

    def accept(self, stamp: Time) -> str:
        """Accept a command by its stamp, or return what is wrong with it."""
        given = nanoseconds(stamp)
        if given == self._awaited:
            self._awaited = None
            return ""
        self.unexpected += 1
        if self._awaited is None:
            return "no command is awaited"
        problem = "late or repeated" if given < self._awaited else "ahead of its state"
        return f"{problem}: answers t = {given * 1e-9:.9g} s, not {self._awaited * 1e-9:.9g} s"

    def _retry(self) -> None:
        # the first call only notes that an answer is due, so that states are not repeated too soon
        if self._awaited is not None and self._overdue:
            self._publish_again()
        self._overdue = self._awaited is not None
