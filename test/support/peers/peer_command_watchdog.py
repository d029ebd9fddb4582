# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The real command_watchdog, asking the stand-in of controller_manager.

controller_manager_msgs is in no package that pip installs; all but the types of a service and a
message are the node's own.
"""

from __future__ import annotations

import sys
from typing import Any

from std_msgs.msg import String
from std_srvs.srv import SetBool

from uk_dynamics.ros.nodes.command_watchdog import CommandWatchdog
from uk_dynamics.ros.process.run_node import run_node
from uk_dynamics.ros.topics.qos import LATCHED_QOS


class PeerCommandWatchdog(CommandWatchdog):
    """Switches by a service of the peer, and hears its activity."""

    def _make_switch(self) -> Any:
        place = f"{self._settings['controller_manager']}/{self._settings['controller']}"
        return self.create_client(SetBool, f"{place}/switch")

    def _switch_to(self, *, active: bool) -> Any:
        return SetBool.Request(data=active)

    def _hear_activity(self) -> None:
        self.create_subscription(
            String,
            f"{self._settings['controller_manager']}/activity",
            lambda message: self._on_activity(message.data.split()),
            LATCHED_QOS,
        )

    def _agrees(self, answer: Any) -> bool:
        return bool(answer.success)


if __name__ == "__main__":
    sys.exit(run_node(PeerCommandWatchdog))
