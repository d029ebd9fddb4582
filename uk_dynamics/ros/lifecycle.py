"""What rclpy's lifecycle nodes lack."""

from __future__ import annotations

from collections.abc import Callable

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNode


def answer_invalid_transitions(node: LifecycleNode) -> None:
    """Answer a transition that is not possible now with success = False.

    Some releases raise out of the executor instead, and the caller never gets an answer.
    """
    service = node._service_change_state
    change_state: Callable[..., object] = service.callback

    def answered(request: object, response: object) -> object:
        try:
            return change_state(request, response)
        except rclpy_implementation.RCLError as error:
            node.get_logger().warning(f"transition refused: {error}".splitlines()[0])
            response.success = False
            return response

    service.callback = answered
