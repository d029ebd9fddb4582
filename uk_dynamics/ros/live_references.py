"""References that come over ROS: one topic for each task whose reference is live."""

from __future__ import annotations

import functools

import numpy as np
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectoryPoint

from uk_dynamics.constraints.references import Followed, ReferenceSample
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.ros.diagnostics import MessageProblems
from uk_dynamics.ros.inputs import COMMAND_QOS
from uk_dynamics.ros.message_readers import LARGEST
from uk_dynamics.ros.messages import view


class LiveReferences:
    """What each live task follows: the last sample, or what replaced it since.

    Attributes:
        followed: By name of the task; without the tasks that nothing was sent for yet.
    """

    def __init__(self, node: Node, tasks: Tasks, problems: MessageProblems) -> None:
        """Subscribe to ``~/<task>/reference`` of every live task.

        Args:
            node: Who listens.
            tasks: Whose references are live is declared in their file.
            problems: Remembers messages that cannot be used.
        """
        self.followed: dict[str, Followed] = {}
        self._references = tasks.references
        self._node = node
        self._problems = problems
        live = [t.name for t in tasks.spec.tasks if t.reference and t.reference.type == "live"]
        self._subscriptions = [
            node.create_subscription(
                JointTrajectoryPoint,
                f"~/{name}/reference",
                functools.partial(self._receive, name, tasks.references.rows[name]),
                COMMAND_QOS,
            )
            for name in live
        ]

    def destroy(self) -> None:
        """Stop listening."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def present(self, task: str, now: float) -> ReferenceSample:
        """What a task shall do at a time, in s."""
        return self._references.one(task, now, self.followed.get(task))

    def hold(self, task: str, now: float) -> None:
        """Let a task stay where it shall be at a time, in s."""
        value = self.present(task, now).value
        self.followed[task] = ReferenceSample(value, np.zeros_like(value), np.zeros_like(value))

    def _receive(self, task: str, rows: int, message: JointTrajectoryPoint) -> None:
        sample, problem = read_reference(message, rows)
        if sample is None:
            self._problems.note(f"~/{task}/reference", problem)
            return
        self.followed[task] = sample


def read_reference(message: JointTrajectoryPoint, rows: int) -> tuple[ReferenceSample | None, str]:
    """Value, rate and acceleration of a task's rows; what is left out is zero.

    Args:
        message: ``positions`` in m or rad (of tasks on velocities: m/s or rad/s), ``velocities``
            their rates, ``accelerations`` the rates of those; efforts and time do not count.
        rows: Number of rows of the task.

    Returns:
        The sample, or None and what is wrong with the message.
    """
    fields = ("positions", "velocities", "accelerations")
    parts = []
    for field in fields:
        values = view(getattr(message, field))
        if not len(values) and field != "positions":
            parts.append(np.zeros(rows))
            continue
        if len(values) != rows:
            return None, f"{len(values)} numbers in {field}, expected {rows}"
        usable = np.abs(values) < LARGEST  # false for nan
        if not usable.all():
            return None, f"{field} has {values[int(np.argmin(usable))]:g}"
        parts.append(values.copy())
    return ReferenceSample(*parts), ""
