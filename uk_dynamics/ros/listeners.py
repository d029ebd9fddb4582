"""Who of some publishers is listened to, so that nothing is computed for nobody."""

from __future__ import annotations

from collections.abc import Sequence

from rclpy.node import Node
from rclpy.publisher import Publisher

from uk_dynamics.ros.clock import steady_clock

_LOOK_PERIOD = 0.1  # s; asking all publishers for their listeners at every state takes too long


class Listeners:
    """Looks ten times per second.

    Attributes:
        heard: The publishers that anybody listens to.
    """

    def __init__(self, node: Node, publishers: Sequence[Publisher]) -> None:
        """Start to look.

        Args:
            node: Who publishes.
            publishers: Its publishers.
        """
        self.heard: frozenset[Publisher] = frozenset()
        self._node = node
        self._publishers = tuple(publishers)
        self._timer = node.create_timer(_LOOK_PERIOD, self._look, clock=steady_clock())

    def destroy(self) -> None:
        """Look no more."""
        self._node.destroy_timer(self._timer)
        self.heard = frozenset()

    def _look(self) -> None:
        self.heard = frozenset(p for p in self._publishers if p.get_subscription_count() > 0)
