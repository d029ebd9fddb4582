"""Motor efforts on their way out: as an array by motor, or by joint with the stamp of the state."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.duration import Duration
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray

from uk_dynamics.control.desired_motion import Setpoint
from uk_dynamics.mechanism.actuators import Actuators
from uk_dynamics.ros.inputs import COMMAND_QOS
from uk_dynamics.ros.messages import Array, EffortsMessage, JointStateMessage


class MotorCommands(ABC):
    """Where a controller sends its efforts."""

    def __init__(self, node: Node, kind: type[Any], topic: str) -> None:
        """Advertise the topic.

        Args:
            node: Who commands.
            kind: Type of the messages.
            topic: Name of the topic.
        """
        self._node = node
        self._publisher = node.create_publisher(kind, topic, COMMAND_QOS)

    @property
    def topic(self) -> str:
        """Name of the topic."""
        return str(self._publisher.topic_name)

    @property
    def listeners(self) -> int:
        """How many listen to it."""
        return int(self._publisher.get_subscription_count())

    @abstractmethod
    def drive(self, setpoint: Setpoint, stamp: Time) -> None:
        """Command what the drives understand of a setpoint, as the answer to a state."""

    @abstractmethod
    def send(self, efforts: Array, stamp: Time) -> None:
        """Command efforts, (motors,), in N or N·m, as the answer to the state of a stamp."""

    @abstractmethod
    def rest(self, stamp: Time) -> None:
        """Command what lets the machine be at rest, for the last time."""

    def wait(self, longest: Duration) -> None:
        """Wait until what was sent has been heard."""
        self._publisher.wait_for_all_acked(longest)

    def destroy(self) -> None:
        """Send nothing any more."""
        self._node.destroy_publisher(self._publisher)


class EffortArrayCommands(MotorCommands):
    """One number per motor in declared order, as forward_command_controller takes them."""

    def __init__(self, node: Node, actuators: Actuators, topic: str) -> None:
        """Advertise the topic."""
        super().__init__(node, Float64MultiArray, topic)
        self._idle = np.zeros(len(actuators))
        self._message = EffortsMessage(len(actuators))

    def send(self, efforts: Array, stamp: Time) -> None:
        """Command efforts; the message has no room for the stamp."""
        self._message.efforts[:] = efforts
        self._publisher.publish(self._message.message)

    def drive(self, setpoint: Setpoint, stamp: Time) -> None:
        """Command the efforts of a setpoint."""
        self.send(setpoint.efforts, stamp)

    def rest(self, stamp: Time) -> None:
        """Command zero efforts."""
        self.send(self._idle, stamp)


class JointStateCommands(MotorCommands):
    """Efforts by joint; the stamp is that of the state they answer.

    Joints are those that motors drive, with the sum of what the motors do to each.
    """

    def __init__(
        self, node: Node, actuators: Actuators, joint_names: tuple[str, ...], topic: str
    ) -> None:
        """Advertise the topic.

        Args:
            node: Who commands.
            actuators: The motors.
            joint_names: Names of the nv velocities.
            topic: Name of the topic.
        """
        super().__init__(node, JointState, topic)
        driven = np.flatnonzero(actuators.matrix.any(axis=1))
        self._idle = np.zeros(len(actuators))
        self._matrix = actuators.matrix[driven]
        self._message = JointStateMessage([joint_names[at] for at in driven], effort=True)

    def send(self, efforts: Array, stamp: Time) -> None:
        """Command efforts."""
        np.matmul(self._matrix, efforts, out=self._message.effort)
        self._message.message.header.stamp = stamp
        self._publisher.publish(self._message.message)

    def drive(self, setpoint: Setpoint, stamp: Time) -> None:
        """Command the efforts of a setpoint."""
        self.send(setpoint.efforts, stamp)

    def rest(self, stamp: Time) -> None:
        """Command zero efforts."""
        self.send(self._idle, stamp)
