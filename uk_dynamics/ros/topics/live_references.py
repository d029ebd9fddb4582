"""References that come over ROS: one topic for each constraint or task with a live reference."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

import numpy as np
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectoryPoint

from uk_dynamics.constraints.references import Followed, Live, ReferenceSample, ReferenceSet
from uk_dynamics.mechanism.files import ConstraintSpec
from uk_dynamics.ros.diagnostics.publisher import MessageProblems
from uk_dynamics.ros.topics.messages import first_unusable, view
from uk_dynamics.ros.topics.qos import COMMAND_QOS

AnyFollowed = TypeVar("AnyFollowed", bound=Followed)


def live_names(specs: Iterable[ConstraintSpec]) -> list[str]:
    """Names of the constraints or tasks that their file declares live."""
    return [spec.name for spec in specs if isinstance(spec.reference, Live)]


class LiveReferences(Generic[AnyFollowed]):
    """What each live constraint or task follows: the last sample, or what has replaced it.

    Attributes:
        followed: By name; without those that have received nothing yet.
    """

    def __init__(
        self,
        node: Node,
        references: ReferenceSet,
        names: Sequence[str],
        problems: MessageProblems,
        prefix: str = "",
    ) -> None:
        """Subscribe to ``<prefix><name>/reference``.

        Args:
            node: Node that subscribes.
            references: Those of all constraints or tasks of a file.
            names: The live ones.
            problems: Counts invalid messages.
            prefix: Start of the topic names: ``~/`` for topics below the node's name.
        """
        self.followed: dict[str, AnyFollowed] = {}
        self._references = references
        self._node = node
        self._problems = problems
        self._subscriptions = []
        for name in names:
            topic = f"{prefix}{name}/reference"
            receive = functools.partial(self._receive, name, topic, references.rows[name])
            self._subscriptions.append(
                node.create_subscription(JointTrajectoryPoint, topic, receive, COMMAND_QOS)
            )

    def destroy(self) -> None:
        """Unsubscribe."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def present(self, name: str, now: float) -> ReferenceSample:
        """Reference of a constraint or task at a time, in s."""
        return self._references.one(name, now, self.followed.get(name))

    def hold(self, name: str, now: float) -> None:
        """Keep the reference at its value of a time, in s."""
        value = self.present(name, now).value
        self.followed[name] = ReferenceSample(value, np.zeros_like(value), np.zeros_like(value))

    def _receive(self, name: str, topic: str, rows: int, message: JointTrajectoryPoint) -> None:
        sample, problem = read_reference(message, rows)
        if sample is None:
            self._problems.note(topic, problem)
            return
        self.followed[name] = sample


def read_reference(message: JointTrajectoryPoint, rows: int) -> tuple[ReferenceSample | None, str]:
    """Value, rate and acceleration of rows; fields left out are zero.

    Args:
        message: ``positions`` in m or rad (of rows on velocities: m/s or rad/s), ``velocities``
            their rates, ``accelerations`` the rates of those; efforts and time are not used.
        rows: Number of rows.

    Returns:
        The sample, or None and what is wrong with the message.
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
