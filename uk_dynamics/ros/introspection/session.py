# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A node that looks at others, for as long as a command takes."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import rclpy
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

DISCOVERY = 5.0  # s until nodes that run have been found, also on a busy computer
_QUIET = 1.0  # s without anything new: what runs has been found
_LOOK = 0.05  # s between two looks
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Session:
    """A node that looks at others; :func:`session` makes it."""

    def __init__(self, node: Node, executor: SingleThreadedExecutor) -> None:
        self.node = node
        self._executor = executor
        self._interrupted = False

    def interrupt(self, *_: object) -> None:
        """End at the next look, as a handler of signals.

        An exception in the middle of a message's conversion would become another one there.
        """
        self._interrupted = True

    def wait(self, condition: Callable[[], bool], seconds: float | None = None) -> bool:
        """Spin until a condition holds, or for some time; whether it holds."""
        end = None if seconds is None else time.monotonic() + seconds
        while not condition():
            left = _LOOK if end is None else min(_LOOK, end - time.monotonic())
            if left <= 0.0:
                return False
            self._executor.spin_once(timeout_sec=left)
            if self._interrupted:
                raise KeyboardInterrupt
        return True

    def settle(self, what: Callable[[], object]) -> None:
        """Wait until what is found has not changed for a moment."""
        seen, since = what(), time.monotonic()

        def quiet() -> bool:
            nonlocal seen, since
            now = what()
            if now != seen:
                seen, since = now, time.monotonic()
            return time.monotonic() - since > _QUIET

        self.wait(quiet, DISCOVERY)


@contextmanager
def session() -> Iterator[Session]:
    """Join the graph; Ctrl-C, or the end of a pipe that is read no more, ends the command."""
    rclpy.init(args=[], signal_handler_options=SignalHandlerOptions.NO)
    try:
        node = rclpy.create_node(
            "uk_dynamics_look", start_parameter_services=False, enable_rosout=False
        )
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        looking = Session(node, executor)
        before = {number: signal.signal(number, looking.interrupt) for number in _SIGNALS}
        try:
            yield looking
        except (KeyboardInterrupt, ExternalShutdownException):
            pass
        finally:
            executor.shutdown()
            node.destroy_node()
            for number, handler in before.items():
                signal.signal(number, handler)
    finally:
        rclpy.try_shutdown()
