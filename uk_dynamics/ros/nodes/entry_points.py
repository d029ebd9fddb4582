# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What ``ros2 run`` starts: interruptible before anything large is loaded.

The modules of a node take a second or more to load, longer where many nodes start at once. Python
by itself answers Ctrl-C in this time with a traceback.
"""

import gc
import importlib
import os
import signal
from functools import partial
from types import FrameType


def _end(number: int, frame: FrameType | None) -> None:
    os._exit(0)  # nothing has begun; an exception would unwind half-loaded modules


def _run(module: str, node: str) -> int:
    """Run the node of a module of this folder."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _end)
    gc.disable()  # until the node is there: a seventh of the time that modules take to load
    from uk_dynamics.ros.process.run_node import run_node

    return run_node(getattr(importlib.import_module(f"{__package__}.{module}"), node))


simulator = partial(_run, "simulator", "Simulator")
forward_dynamics = partial(_run, "forward_dynamics", "ForwardDynamics")
servo_controller = partial(_run, "servo_controller", "ServoControllerNode")
command_watchdog = partial(_run, "command_watchdog", "CommandWatchdog")
joint_state_completer = partial(_run, "joint_state_completer", "JointStateCompleter")
wrench_observer = partial(_run, "wrench_observer", "WrenchObserverNode")
viewer = partial(_run, "viewer", "Viewer")
markers = partial(_run, "markers", "Markers")
recorder = partial(_run, "recorder", "Recorder")
