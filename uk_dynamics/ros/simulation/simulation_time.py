# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The time of a simulation: stamps, and ``/clock`` on request."""

from __future__ import annotations

import time

from builtin_interfaces.msg import Time
from rclpy.clock import Clock, ClockType
from rclpy.node import Node
from rosgraph_msgs.msg import Clock as ClockMessage

from uk_dynamics.ros.timing.clock import nanoseconds, runs_on_simulated_time, write_stamp


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

    def publish(self) -> None:
        """Publish ``/clock``, if requested."""
        self._last = nanoseconds(self.stamp)
        self.repeat()

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
