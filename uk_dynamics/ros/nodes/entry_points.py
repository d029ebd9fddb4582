"""What ``ros2 run`` starts: interruptible before anything large is loaded.

The modules of a node take a second or more to load, longer where many nodes start at once. Python
by itself answers Ctrl-C in this time with a traceback.
"""

from __future__ import annotations

import importlib
import os
import signal
from functools import partial
from types import FrameType


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(0)  # nothing has begun; an exception would unwind half-loaded modules


def _run(node: str) -> int:
    """Run the node of this folder's module ``node``."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    code: int = importlib.import_module(f"{__package__}.{node}").main()
    return code


simulator = partial(_run, "simulator")
forward_dynamics = partial(_run, "forward_dynamics")
servo_controller = partial(_run, "servo_controller")
command_watchdog = partial(_run, "command_watchdog")
joint_state_completer = partial(_run, "joint_state_completer")
viewer = partial(_run, "viewer")
markers = partial(_run, "markers")
recorder = partial(_run, "recorder")
