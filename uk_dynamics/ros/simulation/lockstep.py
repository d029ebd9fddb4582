"""Lockstep: the simulation waits for the command that answers its state."""

from __future__ import annotations

from collections.abc import Callable

from builtin_interfaces.msg import Time
from rclpy.node import Node

from uk_dynamics.ros.timing.clock import nanoseconds, steady_clock

_RETRY_PERIOD = 0.1  # s; the first states come before the controller is there


class Lockstep:
    """Accepts only the command with the stamp of the last state.

    Attributes:
        unexpected: Number of commands with another stamp, late or repeated ones.
    """

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
