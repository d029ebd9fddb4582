# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What tests hear on topics: messages in the order they came, diagnostics as values by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from support.nodes.ros_fixtures import Ros

if TYPE_CHECKING:
    from rclpy.node import Node


class Ear:
    """Keeps every message of a topic.

    Attributes:
        messages: In the order they came.
    """

    def __init__(self, node: Node, type_: Any, topic: str, qos: Any = 1000) -> None:
        self.messages: list[Any] = []
        self.topic = topic
        node.create_subscription(type_, topic, self.messages.append, qos)

    def next(self, ros: Ros) -> Any:
        """Wait for a message that comes from now on."""
        heard = len(self.messages)
        ros.until(lambda: len(self.messages) > heard, f"a message on {self.topic}")
        return self.messages[-1]


class DiagnosticsEar:
    """Follows the status of one node."""

    def __init__(self, node: Node, name: str) -> None:
        from diagnostic_msgs.msg import DiagnosticArray

        self._name = name
        self.level = b""
        self.message = ""
        self.values: Mapping[str, str] = {}
        node.create_subscription(DiagnosticArray, "/diagnostics", self._hear, 10)

    def _hear(self, array: Any) -> None:
        for status in array.status:
            if status.name.startswith(f"{self._name}:"):
                self.level, self.message = status.level, status.message
                self.values = {value.key: value.value for value in status.values}

    def until(self, ros: Ros, text: str) -> None:
        """Wait for a status whose message or last problem contains a text."""

        def said() -> bool:
            return text in self.message or text in self.values.get("last_message_problem", "")

        ros.until(said, f'diagnostics with "{text}"')


def overrides(**values: Any) -> dict[str, Any]:
    """Options of a node with these parameter values."""
    from rclpy.parameter import Parameter

    return {"parameter_overrides": [Parameter(name, value=value) for name, value in values.items()]}
