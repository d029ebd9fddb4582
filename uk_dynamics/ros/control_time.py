"""The time that the tasks' references are at, for those who only watch."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

from uk_dynamics.ros.clock import TimeOrigin

CONTROLLER = "servo_controller"
KEY = "time_origin"  # ns; among the diagnostics of the controller while it drives


class ControlTime:
    """Time of the references, which begin when servo_controller does.

    Until the controller has told its origin, the first state that is heard counts as the
    beginning.
    """

    def __init__(self, node: Node) -> None:
        """Listen to ``/diagnostics``.

        Args:
            node: Who listens; the controller is the one of its namespace.
        """
        self._origin = TimeOrigin(simulated=False)
        self._name = f"{node.get_namespace()}/{CONTROLLER}".strip("/")
        node.create_subscription(DiagnosticArray, "/diagnostics", self._hear, 10)

    def since(self, stamp: Time) -> float:
        """Time of the references at the stamp of a state, in s."""
        return self._origin.since(stamp)

    def _hear(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.partition(":")[0] != self._name:
                continue
            for value in status.values:
                if value.key == KEY:
                    self._origin.latch(int(value.value))
