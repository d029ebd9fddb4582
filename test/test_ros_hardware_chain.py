"""The topics between ros2_control and the nodes, with a small peer that does as it documents.

The peer is made from the files that ``uk_dynamics ros2-control`` writes. It stands for
JointStateTopicSystem, joint_state_broadcaster and forward_command_controller in one.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from array import array

import numpy as np
import pytest
import yaml

pytest.importorskip("rclpy")

from mechanism_builder import shipped
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data, qos_profile_system_default
from ros_ears import DiagnosticsEar, Ear
from ros_fixtures import Ros, StartProcess
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import SetBool

from uk_dynamics.control.ros2_control_files import TOPIC, controllers, hardware_block

pytestmark = pytest.mark.ros

NAME = "five_bar"
RATE = 100.0


class ControllerManager:
    """One cycle: read the machine, tell the measured joints, forward the command."""

    def __init__(self, node: Node) -> None:
        system = ET.fromstring(hardware_block(shipped(NAME), TOPIC)).find("ros2_control")
        parameters = yaml.safe_load(controllers(shipped(NAME)))
        assert system is not None
        topics = {p.attrib["name"]: p.text or "" for p in system.iterfind("hardware/param")}
        self.joints = [joint.attrib["name"] for joint in system.findall("joint")]
        self.claimed = parameters["effort_controller"]["ros__parameters"]["joints"]
        options = parameters["controller_manager"]["ros__parameters"]["joint_state_broadcaster"]
        old, _, new = options["node_options_args"][-1].partition(":=")
        assert old == "joint_states"
        self.state: JointState | None = None
        self.command = [math.nan] * len(self.joints)
        self.cycles = 0
        self.active = False
        self._node = node
        node.create_subscription(
            JointState, topics["joint_states_topic"], self._hear, qos_profile_sensor_data
        )
        self._hardware = node.create_publisher(JointState, topics["joint_commands_topic"], 1)
        self._broadcaster = node.create_publisher(JointState, new, qos_profile_system_default)
        node.create_subscription(
            Float64MultiArray,
            "effort_controller/commands",
            self._take,
            qos_profile_system_default,
        )
        node.create_timer(1.0 / RATE, self._cycle)

    def _hear(self, message: JointState) -> None:
        self.state = message

    def _take(self, message: Float64MultiArray) -> None:
        assert len(message.data) == len(self.claimed)
        assert np.isfinite(message.data).all(), "nothing that is not finite reaches a controller"
        if self.active:
            values = dict(zip(self.claimed, message.data, strict=True))
            self.command = [values[name] for name in self.joints]

    def _cycle(self) -> None:
        self.cycles += 1
        stamp = self._node.get_clock().now().to_msg()
        command = JointState(name=self.joints, effort=array("d", self.command))
        command.header.stamp = stamp
        self._hardware.publish(command)
        if self.state is None:
            return
        names = list(self.state.name)
        places = [names.index(name) for name in self.joints]
        message = JointState(name=self.joints)
        message.header.stamp = stamp
        message.position = array("d", [self.state.position[i] for i in places])
        message.velocity = array("d", [self.state.velocity[i] for i in places])
        message.effort = array("d", [self.state.effort[i] for i in places])
        self._broadcaster.publish(message)


def test_a_machine_behind_ros2_control_follows_its_task(ros: Ros, start_node: StartProcess) -> None:
    machine = {"mechanism": NAME}
    start_node(
        "simulator",
        parameters={**machine, "rate": 200, "command_mode": "joint_state", "paused": True},
        remappings={"joint_states": "machine_joint_states"},
    )
    node = ros.node("controller_manager")
    peer = ControllerManager(node)
    simulator = DiagnosticsEar(node, "simulator")
    ros.until(
        lambda: int(simulator.values.get("ignored_messages", "0")) > 20,
        "commands before activation to be ignored and counted",
    )
    assert "is nan" in simulator.values["last_message_problem"]

    start_node("joint_state_completer", parameters=machine)
    states = Ear(node, JointState, "joint_states")
    ros.until(lambda: states.messages, "complete states")
    mechanism = shipped(NAME)
    assert tuple(states.messages[-1].name) == mechanism.joint_names

    tasks = {"tasks": "five_bar_lift", "autostart": True, "state_timeout": 5.0}
    # a computer that does other work lets states jump
    patience = {"position_jump": 10.0, "listener_timeout": 30.0}
    peer.active = True
    start_node("servo_controller", parameters={**machine, **tasks, **patience})
    ros.until(lambda: all(map(math.isfinite, peer.command)), "the first command")
    ros.call(node.create_client(SetBool, "simulator/pause"), SetBool.Request(data=False))
    heard = len(states.messages)

    def moved() -> bool:
        return len(states.messages) > heard + 60

    ros.until(moved, "60 states under control")
    for state in states.messages:
        residual = mechanism.dynamics().residual(mechanism.state(state.position, state.velocity))
        assert np.abs(residual.position).max() < 1e-9
        assert np.abs(residual.velocity).max() < 1e-9
        # held against gravity within the lift; by itself the machine would fall through zero
        assert 0.2 < state.position[0] < 1.5
    assert any(effort for state in states.messages[heard:] for effort in state.effort)
