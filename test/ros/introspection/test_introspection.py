# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""uk_dynamics topic and lifecycle: what runs, without ros2cli."""

from __future__ import annotations

import re
import signal
import sys

import pytest
import yaml

pytest.importorskip("rclpy")

from rclpy.lifecycle import LifecycleNode
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState
from support.nodes.node_process import NodeProcess
from support.nodes.ros_fixtures import Ros, StartProcess

from uk_dynamics.ros.introspection.running_nodes import as_yaml

pytestmark = pytest.mark.ros

# as the command line runs it, but without the entry points that only an installation has
COMMAND = """
import argparse, sys
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.ros.introspection import commands
subparsers = argparse.ArgumentParser().add_subparsers()
commands.register_topic(subparsers)
commands.register_lifecycle(subparsers)
arguments = subparsers.choices[sys.argv[1]].parse_args(sys.argv[2:])
try:
    sys.exit(arguments.run(arguments))
except UkDynamicsError as error:
    sys.exit(str(error))
"""


def _ended(ros: Ros, process: NodeProcess) -> str:
    ros.until(lambda: not process.running, "the end of a command")
    assert "Traceback" not in process.output, process.output
    return process.output


@pytest.mark.parametrize(
    "reliability", [pytest.param("BEST_EFFORT", marks=pytest.mark.slow), "RELIABLE"]
)
def test_echo_takes_what_the_publisher_offers_also_what_was_kept(ros, start_process, reliability):
    offered = QoSProfile(
        depth=1,
        reliability=ReliabilityPolicy[reliability],
        durability=DurabilityPolicy.TRANSIENT_LOCAL
        if reliability == "RELIABLE"
        else DurabilityPolicy.VOLATILE,
    )
    node = ros.node("sender")
    publisher = node.create_publisher(JointState, "measured", offered)
    message = JointState(name=["crank", "a: b"], position=[0.25, float("inf")])
    if reliability == "RELIABLE":
        publisher.publish(message)  # once, before anything listens
    else:
        node.create_timer(0.02, lambda: publisher.publish(message))
    echo = start_process([sys.executable, "-c", COMMAND, "topic", "echo", "/measured", "--once"])
    text, end, rest = _ended(ros, echo).partition("---\n")
    assert (end, rest, echo.exit_code) == ("---\n", "", 0)
    shown = yaml.safe_load(text)
    assert shown["name"] == ["crank", "a: b"]
    assert shown["position"] == [0.25, float("inf")]


@pytest.mark.slow
def test_rate_and_ctrl_c_and_a_name_that_is_not_there(ros: Ros, start_process: StartProcess):
    node = ros.node("sender")
    publisher = node.create_publisher(JointState, "states", 10)
    node.create_timer(0.01, lambda: publisher.publish(JointState()))
    rate = start_process([sys.executable, "-c", COMMAND, "topic", "hz", "states"])

    def measured() -> bool:
        # a busy computer is slower than the timer, or makes up for it once
        rates = map(float, re.findall(r"average rate: ([\d.]+)", rate.output))
        return any(0.0 < number < 150.0 for number in rates)

    ros.until(measured, "a rate")
    rate.send_signal(signal.SIGINT)
    _ended(ros, rate)
    assert rate.exit_code == 0
    missing = start_process([sys.executable, "-c", COMMAND, "topic", "echo", "/stats"])
    assert "/states" in _ended(ros, missing)  # what there is
    assert missing.exit_code == 1


@pytest.mark.slow
def test_a_node_is_found_and_configured(ros: Ros, start_process: StartProcess):
    ros.add(LifecycleNode("machine"))
    for arguments, expected in (
        (["set", "/machine", "configure"], "Transitioning successful\n"),
        (["get", "machine"], "inactive [2]\n"),
    ):
        command = start_process([sys.executable, "-c", COMMAND, "lifecycle", *arguments])
        assert _ended(ros, command) == expected
        assert command.exit_code == 0


def test_long_arrays_are_cut():
    message = JointState(position=[0.5] * 5)
    assert yaml.safe_load(as_yaml(message, 3))["position"] == [0.5, 0.5, 0.5, "..."]
    assert yaml.safe_load(as_yaml(message))["position"] == [0.5] * 5
