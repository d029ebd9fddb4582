"""One state, one command, one step: the exchange by which a simulation waits for its controller."""

from __future__ import annotations

from collections.abc import Callable

from builtin_interfaces.msg import Time
from rclpy.node import Node

from uk_dynamics.ros.clock import nanoseconds, steady_clock

_RETRY_PERIOD = 0.1  # s; the first states come before the controller is there


class Lockstep:
    """Knows which command is awaited: the one whose stamp echoes that of the last state.

    Attributes:
        unexpected: Commands that answered another state, late or repeated ones.
    """

    def __init__(self, node: Node, say_again: Callable[[], None]) -> None:
        """Prepare.

        Args:
            node: Who simulates.
            say_again: Publishes the state once more; called while no command comes.
        """
        self.unexpected = 0
        self._awaited: int | None = None
        self._asked = False
        self._say_again = say_again
        node.create_timer(_RETRY_PERIOD, self._retry, clock=steady_clock())

    def expect(self, stamp: Time) -> None:
        """The state of this stamp was published; its answer is awaited."""
        self._awaited = nanoseconds(stamp)
        self._asked = False

    def pause(self) -> None:
        """No answer is awaited."""
        self._awaited = None

    def accept(self, stamp: Time) -> str:
        """Take a command, or tell what is wrong with it.

        Args:
            stamp: Of the command.
        """
        given = nanoseconds(stamp)
        if given == self._awaited:
            self._awaited = None
            return ""
        self.unexpected += 1
        if self._awaited is None:
            return "no command is awaited"
        way = "late or repeated" if given < self._awaited else "ahead of its state"
        return f"{way}: answers t = {given * 1e-9:.9g} s, not {self._awaited * 1e-9:.9g} s"

    def _retry(self) -> None:
        # the first look only notes that an answer is due, so that none is pressed too soon
        if self._awaited is not None and self._asked:
            self._say_again()
        self._asked = self._awaited is not None
