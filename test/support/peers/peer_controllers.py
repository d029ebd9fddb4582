# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Stand-ins for controllers of ros2_control, written from their documentation."""

from __future__ import annotations

import math
from array import array
from typing import Any

from rclpy.node import Node
from rclpy.qos import qos_profile_system_default
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.peers.peer_hardware import MOVEMENT, NAN, JointStateTopicSystem, owner_of


class JointStateBroadcaster:
    """Publishes position, velocity and effort of all joints that have one; NaN for what lacks."""

    def __init__(
        self, node: Node, hardware: list[JointStateTopicSystem], order: Any = None
    ) -> None:
        self._states = [system.states for system in hardware]
        names = dict.fromkeys(key.partition("/")[0] for states in self._states for key in states)
        self.names = list(names) if order is None else order(names)
        self._publisher = node.create_publisher(
            JointState, "joint_states", qos_profile_system_default
        )

    def activate(self) -> None:
        """Nothing to forget."""

    def deactivate(self) -> None:
        """Nothing to take back."""

    def update(self, stamp: Any, period: float) -> bool:
        message = JointState(name=self.names)
        message.header.stamp = stamp
        merged = {key: value for states in self._states for key, value in states.items()}
        for interface in MOVEMENT:
            numbers = [merged.get(f"{name}/{interface}", NAN) for name in self.names]
            setattr(message, interface, array("d", numbers))
        self._publisher.publish(message)
        return True


class ForwardCommandController:
    """Passes ``~/commands`` on to one interface of its joints, as long as it is active.

    There is no timeout: what came last stays, after the end of the controller too, since nothing
    writes to the interface then. Messages that are not finite are dropped; one of a wrong length
    ends the controller.
    """

    def __init__(self, node: Node, hardware: list[JointStateTopicSystem]) -> None:
        joints = node.get_parameter("joints").value
        interface = node.get_parameter("interface_name").value
        self.keys = [f"{joint}/{interface}" for joint in joints]
        self._targets = [owner_of(hardware, key) for key in self.keys]
        self._latest: list[float] = []
        self.dropped = 0
        node.create_subscription(
            Float64MultiArray, "~/commands", self._hear, qos_profile_system_default
        )

    def _hear(self, message: Float64MultiArray) -> None:
        if not all(map(math.isfinite, message.data)):
            self.dropped += 1
            return
        self._latest = list(message.data)

    def activate(self) -> None:
        self._latest = []

    def deactivate(self) -> None:
        """Hear no more; the interface keeps the last command."""
        self._latest = []

    def update(self, stamp: Any, period: float) -> bool:
        if not self._latest:
            return True
        if len(self._latest) != len(self.keys):
            return False
        for key, target, value in zip(self.keys, self._targets, self._latest, strict=True):
            target.commands[key] = value
        return True


class JointGroupEffortController(ForwardCommandController):
    """The same, and leaves zero at its interfaces when it is deactivated."""

    def deactivate(self) -> None:
        super().deactivate()
        for key, target in zip(self.keys, self._targets, strict=True):
            target.commands[key] = 0.0
