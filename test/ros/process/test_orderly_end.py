# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""However a process is told to end: the motors it drives hear zero before it is gone."""

from __future__ import annotations

import signal
import sys
from array import array
from typing import Any

import pytest

pytest.importorskip("rclpy")

from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray, UInt64MultiArray
from support.mechanism_builder import shipped
from support.nodes.ros_ears import Ear
from support.nodes.ros_fixtures import Ros, StartProcess
from trajectory_msgs.msg import JointTrajectory

pytestmark = pytest.mark.ros

# Ctrl-C, the end of a service, and a terminal that is closed or cut off
ENDS = {
    "effort_array": (signal.SIGTERM, Float64MultiArray, "effort_controller/commands"),
    "joint_state": (signal.SIGHUP, JointState, "joint_commands"),
    "trajectory": (signal.SIGINT, JointTrajectory, "joint_trajectory_controller/joint_trajectory"),
}


def effort(message: Any) -> float:
    if isinstance(message, JointTrajectory):
        return abs(message.points[0].effort[0])
    return abs((message.data if isinstance(message, Float64MultiArray) else message.effort)[0])


@pytest.mark.slow
def test_the_last_command_of_a_controller_is_zero(ros: Ros, start_node: StartProcess) -> None:
    node = ros.node()
    machine = {"mechanism": "five_bar", "tasks": "five_bar_sweep"}
    processes, commands, beats = {}, {}, {}
    for mode, (_, kind, topic) in ENDS.items():
        processes[mode] = start_node(
            "servo_controller",
            parameters={
                **machine,
                "autostart": True,
                "command_mode": mode,
                "state_timeout": 20.0,
                "position_jump": 10.0,
            },
            namespace=mode,
            remappings={"joint_states": "/joint_states"},
        )
        commands[mode] = Ear(node, kind, f"/{mode}/{topic}")
        beats[mode] = Ear(node, UInt64MultiArray, f"/{mode}/servo_controller/heartbeat")
    mechanism = shipped("five_bar")
    states = node.create_publisher(JointState, "joint_states", 10)
    rest = JointState(name=list(mechanism.joint_names))
    rest.position = array("d", mechanism.assemble(crank=0.7))
    rest.velocity = array("d", [0.0] * len(rest.name))

    def driven() -> bool:
        rest.header.stamp = node.get_clock().now().to_msg()
        states.publish(rest)
        heard = [ear.messages for ear in commands.values()]
        return all(messages and effort(messages[-1]) > 1.0 for messages in heard)

    ros.until(driven, "efforts from all three", 60.0)  # three processes start at once
    for mode, (number, _, _) in ENDS.items():
        processes[mode].send_signal(number)
    for mode, process in processes.items():
        assert process.wait() == 0, mode
        assert "Traceback" not in process.output
    for mode, ear in commands.items():
        ros.until(lambda ear=ear: effort(ear.messages[-1]) == 0.0, f"zero by {mode}")
    for mode, ear in beats.items():
        ros.until(lambda ear=ear: not ear.messages[-1].data[2], f"the last heartbeat of {mode}")
    last = commands["trajectory"].messages[-1].points[0]
    assert list(last.velocities) == [0.0]
    assert list(last.accelerations) == [0.0]


@pytest.mark.slow
def test_a_watchdog_that_is_told_to_end_takes_the_command_of_a_dead_controller_back_first(
    ros: Ros, start_node: StartProcess
) -> None:
    node = ros.node()
    beats, commands, watchdogs, grants = {}, {}, {}, {}
    for name in ("dead", "done"):
        watchdogs[name] = start_node(
            "command_watchdog",
            parameters={"mechanism": "five_bar", "timeout": 0.3},
            namespace=name,
        )
        topic = f"/{name}/servo_controller/heartbeat"
        beats[name] = node.create_publisher(UInt64MultiArray, topic, 10)
        grants[name] = Ear(node, UInt64MultiArray, f"{topic}/acknowledged")
        commands[name] = Ear(node, Float64MultiArray, f"/{name}/effort_controller/commands")

    def beat(name: str, generation: int, driving: int) -> None:
        beats[name].publish(UInt64MultiArray(data=[generation, 0, driving]))

    def begin(name: str, generation: int) -> None:
        """Beat until it is answered: the first ones may come before both know each other."""
        heard = len(grants[name].messages)
        ros.until(lambda: beat(name, generation, 1) or len(grants[name].messages) > heard, name)

    begin("dead", 1)
    ros.until(lambda: len(commands["dead"].messages) > 20, "zeros")  # the hand-over is complete
    begin("done", 1)
    beat("done", 1, 0)
    begin("dead", 2)
    heard = len(commands["dead"].messages)
    assert watchdogs["done"].stop(signal.SIGINT) == 0
    assert not commands["done"].messages
    assert watchdogs["dead"].stop(signal.SIGINT) == 3, "taken over"
    ros.until(lambda: len(commands["dead"].messages) > heard, "zeros again")
    assert all(effort(message) == 0.0 for message in commands["dead"].messages)


HANGS = """
import sys, threading
from rclpy.node import Node
from uk_dynamics.ros.process import run_node

class Hanging(Node):
    def destroy_node(self):
        threading.Event().wait()

    def spins(self):
        print("spins", flush=True)

    def __init__(self, name):
        super().__init__(name)
        self.create_timer(0.05, self.spins)

run_node._LONGEST_END = 0.5
sys.exit(run_node.run_node(lambda: Hanging("hanging")))
"""


def test_a_hang_while_a_node_is_taken_down_ends_and_says_where(start_process: StartProcess) -> None:
    process = start_process([sys.executable, "-c", HANGS])
    process.wait_for_output("spins")
    process.send_signal(signal.SIGINT)
    process.wait()
    assert process.exit_code == 1
    assert "in destroy_node" in process.output
