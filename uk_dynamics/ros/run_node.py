"""Start a node, spin it, and end it in order, whoever asks for the end and how often."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import TypeVar

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from uk_dynamics.exceptions import InputError, UkDynamicsError

USER_ERROR = 2
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LONGEST_WAIT = 0.1  # s; a signal is noticed between two waits

AnyNode = TypeVar("AnyNode", bound=Node)


class _Stop:
    """Remembers that the process was asked to end.

    The signal handlers of rclpy close the context at once, and nothing can be published any more.
    A node that drives motors has to say its last word first, so signals are only remembered while
    it spins. While it starts they interrupt, since starting may take long.
    """

    def __init__(self) -> None:
        self.requested = False
        self.interrupts = True

    def install(self) -> None:
        for number in _SIGNALS:
            signal.signal(number, self._handle)

    def ignore(self) -> None:
        # Ctrl-C comes twice, from the terminal and from launch, and Python gives its own handlers
        # back, which kill, before the process has ended
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_IGN)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        first = not self.requested
        self.requested = True
        if self.interrupts and first:
            raise KeyboardInterrupt


def run_node(
    factory: Callable[[], AnyNode],
    args: Sequence[str] | None = None,
    may_end: Callable[[AnyNode], bool] = lambda node: True,
) -> int:
    """Run one node until it is told to end.

    Args:
        factory: Makes the node; called inside a ROS context.
        args: Command line; that of the process when left out.
        may_end: Asked from then on whether the node has nothing left to do.

    Returns:
        Exit code: 0 after SIGINT, SIGTERM, SIGHUP or the end of the context, 2 for a mistake of the
        user.
    """
    stop = _Stop()
    stop.install()
    try:
        _initialize(args)
        _spin(factory, stop, may_end)
    except (UkDynamicsError, NameValidationException) as error:
        line = str(error).replace("\n", " ")
        sys.stderr.write(f"error: {line}\n")
        return USER_ERROR
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        stop.interrupts = False
        rclpy.try_shutdown()
        stop.ignore()
    return 0


def make_executor() -> Executor:
    """The executor with the least delay that this rclpy has.

    EventsExecutor takes half the processor time of SingleThreadedExecutor at 500 Hz. Its own
    ``spin()`` delivers nothing in some releases, ``spin_once`` in a loop works in all.
    """
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def settle_memory() -> None:
    """Collect once, then leave everything made so far out of later collections.

    Modules, robot models and nodes live as long as the process; looking through them again takes
    tens of milliseconds, many periods of a control loop.
    """
    gc.collect()
    gc.freeze()


def _initialize(args: Sequence[str] | None) -> None:
    """Make the ROS context, without handlers of signals.

    Raises:
        InputError: The ROS part of the command line is wrong.
    """
    try:
        rclpy.init(
            args=None if args is None else list(args),
            signal_handler_options=SignalHandlerOptions.NO,
        )
    except rclpy_implementation.UnknownROSArgsError as error:
        raise InputError(f"unknown: {error}", place="--ros-args") from None
    except rclpy_implementation.RCLError as error:
        reason, _, _ = str(error).partition(", at /")  # places in the sources of ROS
        raise InputError(reason, place="--ros-args") from None


def _spin(factory: Callable[[], AnyNode], stop: _Stop, may_end: Callable[[AnyNode], bool]) -> None:
    node = factory()
    executor = make_executor()
    executor.add_node(node)
    settle_memory()
    stop.interrupts = False
    try:
        while rclpy.ok() and not (stop.requested and may_end(node)):
            executor.spin_once(timeout_sec=_LONGEST_WAIT)
    finally:
        executor.remove_node(node)
        node.destroy_node()
        executor.shutdown()
