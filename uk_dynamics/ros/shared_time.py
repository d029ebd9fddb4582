"""One t = 0 for all who evaluate a machine that depends on time itself.

Without ``/clock`` a node knows the stamps of states only. Who simulates such a machine, or knows
the real one, tells which stamp is its t = 0 on a topic that stays for who comes late.
"""

from __future__ import annotations

from builtin_interfaces.msg import Time
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.ros.clock import TimeOrigin, nanoseconds, runs_on_simulated_time

ORIGIN_QOS = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
ORIGIN_TOPIC = "simulator/time_origin"


class SharedTime:
    """The time of a machine.

    Attributes:
        origin: The stamp that counts as t = 0: zero under ``/clock``, else what was told, else the
            first one that is seen.
    """

    def __init__(self, node: Node, mechanism: Mechanism) -> None:
        """Listen to ``simulator/time_origin``, if the machine depends on t.

        Args:
            node: Who listens.
            mechanism: The machine.
        """
        simulated = runs_on_simulated_time(node)
        self.origin = TimeOrigin(simulated=simulated)
        self._node = node
        self._subscription = None
        if mechanism.driven_by_time and not simulated:
            self._subscription = node.create_subscription(
                Time, ORIGIN_TOPIC, lambda told: self.origin.latch(nanoseconds(told)), ORIGIN_QOS
            )

    def destroy(self) -> None:
        """Stop listening."""
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
