# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Stand-ins for hardware plugins of ros2_control, written from their documentation."""

from __future__ import annotations

import math
import time
import xml.etree.ElementTree as ET
from array import array

from rclpy.node import Node
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from sensor_msgs.msg import JointState

NAN = math.nan
MOVEMENT = ("position", "velocity", "effort")

Values = dict[str, float]  # by "joint/interface"


class JointStateTopicSystem:
    """Hardware whose machine is at the other end of two topics.

    States come with SensorDataQoS, joint by joint by name, only finite numbers count; for a joint
    of this block a message must not hold what the block has no state interface for. Commands go out
    after every update, with QoS(1), unless they are nearer to the states than the threshold.
    """

    def __init__(self, node: Node, block: ET.Element) -> None:
        given = {p.attrib["name"]: p.text or "" for p in block.iterfind("hardware/param")}
        self.joints = [joint.attrib["name"] for joint in block.findall("joint")]
        self.states: Values = {}
        self.commands: Values = {}
        for joint in block.findall("joint"):
            name = joint.attrib["name"]
            for kind, values in (("state", self.states), ("command", self.commands)):
                for interface in joint.findall(f"{kind}_interface"):
                    values[f"{name}/{interface.attrib['name']}"] = NAN
        self._threshold = float(given.get("trigger_joint_command_threshold", "1e-5"))
        self._node = node
        self._latest = JointState()
        self.sent = 0
        self._publisher = node.create_publisher(
            JointState,
            given.get("joint_commands_topic", "/robot_joint_commands"),
            QoSProfile(depth=1),
        )
        self.subscription = node.create_subscription(
            JointState,
            given.get("joint_states_topic", "/robot_joint_states"),
            self._hear,
            qos_profile_sensor_data,
        )

    def _hear(self, message: JointState) -> None:
        self._latest = message

    def read(self) -> None:
        for place, name in enumerate(self._latest.name):
            if name not in self.joints:
                continue
            for interface in MOVEMENT:
                numbers = getattr(self._latest, interface)
                if len(numbers) and math.isfinite(numbers[place]):
                    assert f"{name}/{interface}" in self.states, "an interface that does not exist"
                    self.states[f"{name}/{interface}"] = numbers[place]

    def write(self) -> None:
        far = sum(abs(self.states[key] - value) for key, value in self.commands.items())
        if far <= self._threshold:
            return
        message = JointState(name=self.joints)
        message.header.stamp = self._node.get_clock().now().to_msg()
        for interface in MOVEMENT:
            keys = [f"{name}/{interface}" for name in self.joints]
            numbers = [self.commands[key] for key in keys if key in self.commands]
            setattr(message, interface, array("d", numbers))
        self._publisher.publish(message)
        self.sent += 1


class Drives(JointStateTopicSystem):
    """Hardware of a maker: it has the state interfaces of its block, and no others."""

    def read(self) -> None:
        for place, name in enumerate(self._latest.name):
            for interface in MOVEMENT:
                if f"{name}/{interface}" in self.states:
                    self.states[f"{name}/{interface}"] = getattr(self._latest, interface)[place]

    def write(self) -> None:
        """Commands go to motors, of which there are none here."""


class EchoingDrives(Drives):
    """Drives that apply the last command for ever, and report it as the effort of their joints.

    Attributes:
        applied: When efforts changed, by the steady clock in s, and the largest of the new ones.
    """

    def __init__(self, node: Node, block: ET.Element) -> None:
        super().__init__(node, block)
        self.applied: list[tuple[float, float]] = []

    def write(self) -> None:
        efforts = [value for value in self.commands.values() if math.isfinite(value)]
        self.states.update({key: v for key, v in self.commands.items() if math.isfinite(v)})
        largest = max(map(abs, efforts), default=0.0)
        if not self.applied or self.applied[-1][1] != largest:
            self.applied.append((time.monotonic(), largest))


def owner_of(hardware: list[JointStateTopicSystem], key: str) -> JointStateTopicSystem:
    """The one system that has a command interface."""
    (owner,) = (system for system in hardware if key in system.commands)
    return owner
