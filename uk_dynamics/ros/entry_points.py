"""What ``ros2 run`` starts: ready to be interrupted before anything large is loaded.

The modules of a node take a second or more to load, longer where many nodes start at once. Python
answers Ctrl-C in this time with a traceback, and SIGTERM with death.
"""

from __future__ import annotations

import importlib
import os
import signal
from types import FrameType


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(0)  # nothing has begun; an exception would go through modules that are half loaded


def _run(node: str) -> int:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    code: int = importlib.import_module(f"uk_dynamics.ros.{node}").main()
    return code


def simulator() -> int:
    """Run the node simulator."""
    return _run("simulator")


def forward_dynamics() -> int:
    """Run the node forward_dynamics."""
    return _run("forward_dynamics")


def servo_controller() -> int:
    """Run the node servo_controller."""
    return _run("servo_controller")


def command_watchdog() -> int:
    """Run the node command_watchdog."""
    return _run("command_watchdog")


def joint_state_completer() -> int:
    """Run the node joint_state_completer."""
    return _run("joint_state_completer")


def viewer() -> int:
    """Run the node viewer."""
    return _run("viewer")


def markers() -> int:
    """Run the node markers."""
    return _run("markers")


def recorder() -> int:
    """Run the node recorder."""
    return _run("recorder")
