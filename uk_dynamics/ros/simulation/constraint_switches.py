# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Services that switch the constraints of a simulated mechanism."""

from __future__ import annotations

import functools
from collections.abc import Callable

from builtin_interfaces.msg import Time
from rclpy.node import Node
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool

from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.ros.simulation.simulated_machine import SimulatedMachine
from uk_dynamics.ros.topics.active_constraints import to_message
from uk_dynamics.ros.topics.qos import LATCHED_QOS


class ConstraintSwitches:
    """Services ``~/<constraint>/enable``, and the topic ``~/active_constraints``."""

    def __init__(self, node: Node, machine: SimulatedMachine, stamp: Callable[[], Time]) -> None:
        """Offer a service for each switchable constraint; ``stamp`` gives the present time."""
        self._node = node
        self._machine = machine
        self._stamp = stamp
        names = machine.mechanism.hierarchy.switchable
        self._publisher = None
        if names:
            self._publisher = node.create_publisher(JointState, "~/active_constraints", LATCHED_QOS)
        for name in names:
            node.create_service(
                SetBool, f"~/{name}/enable", functools.partial(self._on_enable, name)
            )
        self.publish()

    def publish(self) -> None:
        """Publish which constraints are active."""
        if self._publisher is None:
            return
        message = to_message(self._machine.mechanism, self._machine.active)
        message.header.stamp = self._stamp()
        self._publisher.publish(message)

    def _on_enable(
        self, name: str, request: SetBool.Request, response: SetBool.Response
    ) -> SetBool.Response:
        try:
            lost = self._machine.switch({name: request.data})
        except UkDynamicsError as error:
            response.message = str(error)
            return response
        self.publish()
        response.success = True
        response.message = f"{name} is {'on' if request.data else 'off'}; {lost:.6g} J lost"
        self._node.get_logger().info(response.message)
        return response
