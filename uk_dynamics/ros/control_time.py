"""What the tasks shall do and at which time, for those who only watch."""

from __future__ import annotations

from collections.abc import Mapping

from builtin_interfaces.msg import Time
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node

from uk_dynamics.constraints.references import Followed, ReferenceSample
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.ros.clock import TimeOrigin
from uk_dynamics.ros.diagnostics import MessageProblems
from uk_dynamics.ros.live_references import LiveReferences, live_names

CONTROLLER = "servo_controller"
KEY = "time_origin"  # ns; among the diagnostics of the controller while it drives


class ControlTime:
    """Time of the references, which begin when servo_controller does, and the live ones.

    Until the controller has told its origin, the first state that is heard counts as the
    beginning. Live references are the samples that are sent to the controller; trajectories and
    poses begin in its own state of motion, which nobody else knows.
    """

    def __init__(self, node: Node, tasks: Tasks, problems: MessageProblems) -> None:
        """Listen to ``/diagnostics`` and to ``servo_controller/<task>/reference``.

        Args:
            node: Who listens; the controller is the one of its namespace.
            tasks: What the controller follows.
            problems: Remembers messages that cannot be used.
        """
        self._origin = TimeOrigin(simulated=False)
        self._told = 0
        names = live_names(tasks.spec.tasks)
        self._live: LiveReferences[ReferenceSample] = LiveReferences(
            node, tasks.references, names, problems, prefix=f"{CONTROLLER}/"
        )
        self._name = f"{node.get_namespace()}/{CONTROLLER}".strip("/")
        node.create_subscription(DiagnosticArray, "/diagnostics", self._hear, 10)

    def since(self, stamp: Time) -> float:
        """Time of the references at the stamp of a state, in s."""
        return self._origin.since(stamp)

    @property
    def followed(self) -> Mapping[str, Followed]:
        """Last sample of each live task; without those that nothing was sent for."""
        return self._live.followed

    def _hear(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.partition(":")[0] != self._name:
                continue
            for value in status.values:
                if value.key != KEY:
                    continue
                began = int(value.value)
                if self._told and began != self._told:  # it has begun anew, and forgets
                    self._live.followed.clear()
                self._told = began
                self._origin.latch(began)
