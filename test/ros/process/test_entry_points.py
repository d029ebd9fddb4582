# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The commands of ``ros2 run``: all there, and quiet when they are interrupted while they load."""

from __future__ import annotations

import importlib
import signal
import sys
from functools import partial
from pathlib import Path

import pytest

pytest.importorskip("rclpy")

from rclpy.node import Node
from sensor_msgs.msg import JointState
from support.nodes.node_process import NodeProcess
from support.nodes.ros_ears import Ear
from support.nodes.ros_fixtures import Ros, StartProcess
from support.waiting import wait_until

from uk_dynamics.ros.nodes import entry_points as started

pytestmark = pytest.mark.ros

LARGE = "libpinocchio"  # of what all these nodes load, the last and largest


def loads_modules(process: NodeProcess) -> bool:
    assert process.running, process.output
    return LARGE in Path(f"/proc/{process.pid}/maps").read_text()


@pytest.mark.parametrize(
    "number",
    [
        pytest.param(signal.SIGINT, id="SIGINT"),
        pytest.param(signal.SIGTERM, id="SIGTERM", marks=pytest.mark.slow),
    ],
)
def test_a_node_that_still_loads_ends_without_a_traceback(
    tmp_path: Path, number: signal.Signals
) -> None:
    program = "from uk_dynamics.ros.nodes import entry_points as e; e.simulator()"
    process = NodeProcess([sys.executable, "-c", program], tmp_path / "log")
    wait_until(lambda: loads_modules(process), "modules that are being loaded")
    assert process.stop(number) == 0
    assert not process.output


def test_signals_do_not_disturb_a_node_that_is_ending(ros: Ros, start_node: StartProcess) -> None:
    process = start_node(
        "simulator", parameters={"mechanism": "four_bar", "backend": "interpreted"}
    )
    states = Ear(ros.node(), JointState, "joint_states")
    ros.until(lambda: states.messages, "states")
    # to the very end, when Python has given back what it had set up
    wait_until(
        lambda: not process.running,
        "the end",
        meanwhile=lambda: process.send_signal(signal.SIGINT),
    )
    assert process.exit_code == 0
    assert "Traceback" not in process.output


def test_every_command_has_a_node_of_its_name() -> None:
    commands = {name: f for name, f in vars(started).items() if isinstance(f, partial)}
    assert {"simulator", "servo_controller"} <= set(commands)
    for name, command in commands.items():
        module, node = command.args
        assert module == name
        assert issubclass(
            getattr(importlib.import_module(f"uk_dynamics.ros.nodes.{name}"), node), Node
        )
