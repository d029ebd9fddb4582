# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""References that come over ROS, and the time at which the tasks follow them."""

import functools
from collections.abc import Iterable

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectoryPoint

from uk_dynamics.constraints.references import Followed, Live, ReferenceSample, ReferenceSet
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.files import ConstraintSpec
from uk_dynamics.ros.diagnostics.publisher import TIME_ORIGIN, MessageProblems
from uk_dynamics.ros.timing.clock import TimeOrigin
from uk_dynamics.ros.topics.messages import first_unusable, view
from uk_dynamics.ros.topics.qos import PUBLISHED_QOS


class LiveReferences:
    """What each live constraint or task follows: the last sample, or what has replaced it.

    ``followed`` is by name, without those that have received nothing yet.
    """

    def __init__(
        self,
        problems: MessageProblems,
        references: ReferenceSet,
        specs: Iterable[ConstraintSpec],
        prefix: str = "",
    ) -> None:
        """Subscribe to ``<prefix><name>/reference`` of those that their file declares live."""
        self.followed: dict[str, Followed] = {}
        self._references = references
        for spec in specs:
            if isinstance(spec.reference, Live):
                receive = functools.partial(self._receive, spec.name, references.rows[spec.name])
                problems.listen(JointTrajectoryPoint, f"{prefix}{spec.name}/reference", receive)

    def present(self, name: str, now: float) -> ReferenceSample:
        """Reference of a constraint or task at a time, in s."""
        return self._references.one(name, now, self.followed.get(name))

    def hold(self, name: str, now: float) -> None:
        """Keep the reference at its value of a time, in s."""
        value = self.present(name, now).value
        self.followed[name] = ReferenceSample(value, np.zeros_like(value), np.zeros_like(value))

    def _receive(self, name: str, rows: int, message: JointTrajectoryPoint) -> str:
        sample, problem = read_reference(message, rows)
        if sample is not None:
            self.followed[name] = sample
        return problem


def read_reference(message: JointTrajectoryPoint, rows: int) -> tuple[ReferenceSample | None, str]:
    """Value, rate and acceleration of rows, or what is wrong; fields left out are zero.

    ``positions`` in m or rad (of rows on velocities: m/s or rad/s), ``velocities`` their rates,
    ``accelerations`` the rates of those; efforts and time are not used.
    """
    parts = []
    for field in ("positions", "velocities", "accelerations"):
        values = view(getattr(message, field))
        if not len(values) and field != "positions":
            parts.append(np.zeros(rows))
            continue
        if len(values) != rows:
            return None, f"{len(values)} numbers in {field}, expected {rows}"
        if (bad := first_unusable(values)) is not None:
            return None, f"{field} has {values[bad]:g}"
        parts.append(values.copy())
    return ReferenceSample(*parts), ""


_CONTROLLER = "servo_controller"


class ControlTime:
    """Time of the references, which start with servo_controller, and the live references.

    Until the controller has published its time origin, the first state counts as the start. Live
    references are the samples that are sent to the controller; trajectories and poses start from
    the controller's own reference, which is not published.
    """

    def __init__(self, node: Node, tasks: Tasks, problems: MessageProblems) -> None:
        """Subscribe to ``/diagnostics`` and to ``servo_controller/<task>/reference``."""
        self.origin = TimeOrigin(simulated=False)  # of the references
        self._started: int | None = None
        self.live = LiveReferences(
            problems, tasks.references, tasks.spec.tasks, prefix=f"{_CONTROLLER}/"
        )
        self._name = f"{node.get_namespace()}/{_CONTROLLER}".strip("/")
        node.create_subscription(
            DiagnosticArray, "/diagnostics", self._on_diagnostics, PUBLISHED_QOS
        )

    def _on_diagnostics(self, message: DiagnosticArray) -> None:
        for status in message.status:
            if status.name.partition(":")[0] != self._name:
                continue
            for value in status.values:
                if value.key != TIME_ORIGIN:
                    continue
                start = int(value.value)
                if self._started is not None and start != self._started:
                    self.live.followed.clear()  # so does the controller when it starts again
                self._started = start
                self.origin.latch(start)
