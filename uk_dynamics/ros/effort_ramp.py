"""Efforts on their way to zero."""

from __future__ import annotations

import time
from collections.abc import Callable

from rclpy.node import Node

from uk_dynamics.ros.clock import steady_clock
from uk_dynamics.ros.messages import Array

_PERIOD = 0.005  # s


class EffortRamp:
    """Leads efforts to zero in a straight line.

    Attributes:
        active: Whether it is on its way.
    """

    def __init__(
        self,
        node: Node,
        send: Callable[[Array], None],
        at_the_end: Callable[[], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Prepare.

        Args:
            node: Who commands.
            send: Commands efforts, (motors,), in N or N·m.
            at_the_end: Called once when the time is over; commands the zero.
            clock: Real time, in s.
        """
        self.active = False
        self._node = node
        self._send, self._at_the_end, self._clock = send, at_the_end, clock

    def start(self, efforts: Array, duration: float) -> None:
        """Begin.

        Args:
            efforts: Where to start, (motors,), in N or N·m.
            duration: In s, positive.
        """
        self._efforts = efforts.copy()
        self._start, self._duration = self._clock(), duration
        self.active = True
        self._timer = self._node.create_timer(_PERIOD, self.step, clock=steady_clock())

    def stop(self) -> None:
        """Send nothing any more."""
        if self.active:
            self.active = False
            self._node.destroy_timer(self._timer)

    def step(self) -> None:
        """Command what is due now."""
        if not self.active:
            return
        left = 1.0 - (self._clock() - self._start) / self._duration
        if left > 0.0:
            self._send(left * self._efforts)
        else:
            self.stop()
            self._at_the_end()
