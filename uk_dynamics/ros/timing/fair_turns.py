# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Messages that come faster than they are answered leave turns to timers and other topics."""

import time
from collections.abc import Callable

from rclpy.node import Node

from uk_dynamics.ros.timing.clock import steady_clock

_PAUSE = 0.25  # of the time that the last answer took; a shorter one is none


class FairTurns:
    """Answers the last message, at once or after all else that has come by then.

    ``EventsExecutor`` works through events in the order in which they come. Where an answer takes
    longer than a period, several messages come meanwhile, and each takes a turn: the queue grows,
    and what stands in it, the timer of a heartbeat say, is late by seconds.
    """

    def __init__(self, node: Node, answer: Callable[[], None]) -> None:
        """``answer`` reads the last message itself; it may stand for several."""
        self._answer_last = answer
        self._waiting = False
        self._ended, self._took = 0.0, 0.0  # the last answer, in s
        # a timer joins the queue at its end; executors have no other way that all of them know
        self._turn = node.create_timer(0.0, self._answer, clock=steady_clock())
        self._turn.cancel()

    def take(self) -> None:
        """A message has come."""
        if self._waiting:
            return
        if time.monotonic() - self._ended < _PAUSE * self._took:
            self._waiting = True
            self._turn.reset()
        else:
            self._answer()

    def _answer(self) -> None:
        if self._waiting:
            self._waiting = False
            self._turn.cancel()
        begin = time.monotonic()
        self._answer_last()
        self._ended = time.monotonic()
        self._took = self._ended - begin
