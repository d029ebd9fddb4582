# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The real command_watchdog, asking the stand-in of controller_manager.

controller_manager_msgs is in no package that pip installs; all but the types of a service and a
message are the node's own.
"""

from __future__ import annotations

import sys
from typing import Any

from rclpy.task import Future
from std_msgs.msg import String
from std_srvs.srv import Trigger

from uk_dynamics.ros.nodes.command_watchdog import CommandWatchdog
from uk_dynamics.ros.process.run_node import run_node
from uk_dynamics.ros.topics.qos import LATCHED_QOS


class PeerCommandWatchdog(CommandWatchdog):
    """Deactivates by a service of the peer, and hears its activity."""

    def _make_switch(self) -> Any:
        place = f"{self._settings['controller_manager']}/{self._settings['controller']}"
        self._switch_request = Trigger.Request()
        return self.create_client(Trigger, f"{place}/deactivate")

    def _hear_activity(self) -> None:
        self.create_subscription(
            String,
            f"{self._settings['controller_manager']}/activity",
            lambda message: self._on_activity(message.data.split()),
            LATCHED_QOS,
        )

    def _on_answer(self, future: Future) -> None:
        self._takeover.answered(ok=bool(future.result().success))


if __name__ == "__main__":
    sys.exit(run_node(PeerCommandWatchdog))
