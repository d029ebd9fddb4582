# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Start a node, spin it, and end it in order, however often it is asked to end."""

import contextlib
import ctypes
import faulthandler
import gc
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

import rclpy
from rclpy.exceptions import NameValidationException
from rclpy.executors import Executor, ExternalShutdownException, SingleThreadedExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.signals import SignalHandlerOptions

from uk_dynamics.escaping import one_line
from uk_dynamics.exceptions import InputError, UkDynamicsError
from uk_dynamics.ros.process.udp_transport import use_udp

USER_ERROR = 2
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_LONGEST_WAIT = 0.1  # s; signals are noticed between two waits
_LONGEST_END = 8.0  # s for files that are finished and for ROS; launch kills after 15 s
_LONGEST_EXIT = 30.0  # s for Python's own end, which was seen to take over 8 on a busy computer


class _Stop:
    """Remembers that the process was asked to end.

    The signal handlers of rclpy close the context at once, and nothing can be published any more.
    A node that drives motors has to send its final message first, so signals are only remembered
    while it spins. While it starts they interrupt, since starting may take long.
    """

    def __init__(self) -> None:
        self.requested = False
        self.interrupts = True
        for number in _SIGNALS:
            signal.signal(number, self._handle)

    def ignore(self) -> None:
        # Ctrl-C comes twice, from the terminal and from launch, and Python restores its own
        # handlers, which kill, before the process has ended. The system ignores signals before
        # Python does: one that arrives while Python changes its handler prints a traceback.
        for number in _SIGNALS:
            signal.signal(number, lambda *_: None)
            ctypes.CDLL(None).signal(number, ctypes.c_void_p(signal.SIG_IGN.value))
            signal.signal(number, signal.SIG_IGN)

    def _handle(self, number: int, frame: FrameType | None) -> None:
        first = not self.requested
        self.requested = True
        if self.interrupts and first:
            raise KeyboardInterrupt


def run_node(factory: Callable[[], Node]) -> int:
    """Run a node until it is asked to end, and its ``may_end()``, if it has one, allows it.

    The factory is called inside a ROS context.

    Returns:
        Exit code: the node's ``exit_code``, if it has one, or 0 after SIGINT, SIGTERM, SIGHUP or
        the end of the context; 2 for a mistake of the user.
    """
    stop = _Stop()
    try:
        _initialize()
        return _spin(factory, stop)
    except (UkDynamicsError, NameValidationException) as error:
        sys.stderr.write(f"error: {one_line(str(error))}\n")
        return USER_ERROR
    except (KeyboardInterrupt, ExternalShutdownException):
        pass
    finally:
        stop.interrupts = False
        _limit_end(_LONGEST_END)
        rclpy.try_shutdown()
        stop.ignore()
        _limit_end(_LONGEST_EXIT)
    return 0


def make_executor() -> Executor:
    """The executor with the shortest delay that this rclpy has.

    EventsExecutor takes half the processor time of SingleThreadedExecutor at 500 Hz. Its own
    ``spin()`` delivers nothing in some releases, ``spin_once`` in a loop works in all.
    """
    try:
        from rclpy.experimental.events_executor import EventsExecutor
    except ImportError:
        return SingleThreadedExecutor()
    return EventsExecutor()


def freeze_memory() -> None:
    """Collect garbage once, and leave all present objects out of later collections.

    Modules, robot models and nodes live as long as the process; scanning them again takes tens of
    milliseconds, many periods of a control loop.
    """
    gc.collect()
    gc.freeze()
    gc.enable()


def _initialize() -> None:
    """Make the ROS context, without signal handlers."""
    use_udp()
    try:
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    except rclpy_implementation.UnknownROSArgsError as error:
        raise InputError(f"unknown: {error}", place="--ros-args") from None
    except rclpy_implementation.RCLError as error:
        reason, _, _ = str(error).partition(", at /")  # places in the sources of ROS
        raise InputError(reason, place="--ros-args") from None


def _limit_end(seconds: float) -> None:
    """Exit with code 1 and say where, should the middleware hang while it is taken down.

    One end in some hundred did, behind locks that no signal interrupts.
    """
    faulthandler.dump_traceback_later(seconds, exit=True)


def _take_priority(node: Node) -> None:
    """Give all threads the real-time priority that the parameter ``priority`` asks for.

    Not before everything is imported and compiled: that may take whole seconds of each processor,
    after which the kernel suspends whatever else has such a priority, controller_manager too.
    """
    wanted = node.get_parameter("priority").value if node.has_parameter("priority") else 0
    if not wanted:
        return
    try:
        for thread in os.listdir("/proc/self/task"):
            with contextlib.suppress(ProcessLookupError):  # it has ended
                os.sched_setscheduler(int(thread), os.SCHED_FIFO, os.sched_param(wanted))
    except PermissionError:
        raise InputError(
            "not permitted; raise rtprio in /etc/security/limits.conf, as for ros2_control",
            place="parameter priority",
        ) from None


def _spin(factory: Callable[[], Node], stop: _Stop) -> int:
    node = factory()
    may_end: Callable[[], bool] = getattr(node, "may_end", lambda: True)
    executor = make_executor()
    executor.add_node(node)
    freeze_memory()
    _take_priority(node)
    stop.interrupts = False
    try:
        while rclpy.ok() and not (stop.requested and may_end()):
            executor.spin_once(timeout_sec=_LONGEST_WAIT)
    finally:
        _limit_end(_LONGEST_END)
        executor.remove_node(node)
        code: int = getattr(node, "exit_code", 0)
        node.destroy_node()
        executor.shutdown()
    return code
