"""Time and live references of the tasks, for nodes that only watch the controller."""

from __future__ import annotations

from collections.abc import Mapping

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

from uk_dynamics.constraints.references.references import Followed, ReferenceSample
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.ros.diagnostics.publisher import TIME_ORIGIN, MessageProblems
from uk_dynamics.ros.timing.clock import TimeOrigin
from uk_dynamics.ros.topics.live_references import LiveReferences, live_names
from uk_dynamics.ros.topics.qos import PUBLISHED_QOS

_CONTROLLER = "servo_controller"


class ControlTime:
    """Time of the references, which start with servo_controller, and the live references.

    Until the controller has published its time origin, the first state counts as the start. Live
    references are the samples that are sent to the controller; trajectories and poses start from
    the controller's own reference, which is not published.
    """

    def __init__(self, node: Node, tasks: Tasks, problems: MessageProblems) -> None:
        """Subscribe to ``/diagnostics`` and to ``servo_controller/<task>/reference``."""
        self._origin = TimeOrigin(simulated=False)
        self._started: int | None = None
        names = live_names(tasks.spec.tasks)
        self._live: LiveReferences[ReferenceSample] = LiveReferences(
            node, tasks.references, names, problems, prefix=f"{_CONTROLLER}/"
        )
        self._name = f"{node.get_namespace()}/{_CONTROLLER}".strip("/")
        node.create_subscription(
            DiagnosticArray, "/diagnostics", self._on_diagnostics, PUBLISHED_QOS
        )

    def since(self, stamp: Time) -> float:
        """Time of the references at the stamp of a state, in s."""
        return self._origin.since(stamp)

    @property
    def followed(self) -> Mapping[str, Followed]:
        """Last sample of each live task; without those that have received nothing."""
        return self._live.followed

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.partition(":")[0] != self._name:
                continue
            for value in status.values:
                if value.key != TIME_ORIGIN:
                    continue
                start = int(value.value)
                if self._started is not None and start != self._started:
                    self._live.followed.clear()  # so does the controller when it starts again
                self._started = start
                self._origin.latch(start)
