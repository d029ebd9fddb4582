# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Answers of a lifecycle node to requests for transitions."""

from typing import Any

from lifecycle_msgs.msg import Transition
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.lifecycle import LifecycleNode


class TransitionAnswers:
    """Says no where a transition is not possible, and of an activation what has come of it.

    Some releases of rclpy raise out of the executor where a transition is not possible now, and
    the client never gets an answer. An answer can be deferred until it is known whether the node
    does what it was activated for. Not every executor awaits coroutines of services, so that the
    answer is kept back where it would be sent.
    """

    def __init__(self, node: LifecycleNode) -> None:
        """Take over the service of a node."""
        self._node = node
        self._service: Any = node._service_change_state
        self._change, self._send = self._service.callback, self._service.send_response
        self._answers = self._deferred = False  # whether a request is being answered, and later
        self._kept: list[tuple[Any, Any]] = []
        self._service.callback = self._answer
        self._service.send_response = self._respond

    @property
    def pending(self) -> bool:
        """Whether a client waits for an answer that was deferred."""
        return bool(self._kept)

    def defer(self) -> None:
        """Answer the request of this instant, if it is one, with :meth:`settle`."""
        self._deferred = self._answers

    def settle(self, *, success: bool) -> None:
        """Send the answer that was deferred, if there is one."""
        kept, self._kept = self._kept, []
        for response, header in kept:
            response.success = success
            self._send(response, header)

    def _answer(self, request: Any, response: Any) -> Any:
        # asked once more: the same answer
        if self.pending and request.transition.id == Transition.TRANSITION_ACTIVATE:
            self._deferred, response.success = True, True
            return response
        self._answers, self._deferred = True, False
        try:
            return self._change(request, response)
        except rclpy_implementation.RCLError as error:
            self._node.get_logger().warning(f"transition refused: {error}".splitlines()[0])
            response.success = False
            return response
        finally:
            self._answers = False

    def _respond(self, response: Any, header: Any) -> None:
        if self._deferred and response.success:
            self._deferred = False
            self._kept.append((response, header))
        else:
            self._send(response, header)
