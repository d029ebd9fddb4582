"""References that come over ROS: one topic for each constraint or task whose reference is live."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Generic, TypeVar

import numpy as np
from rclpy.node import Node
from trajectory_msgs.msg import JointTrajectoryPoint

from uk_dynamics.constraints.reference_set import ReferenceSet
from uk_dynamics.constraints.references import Followed, ReferenceSample
from uk_dynamics.mechanism.constraint_specification import ConstraintSpec
from uk_dynamics.ros.diagnostics import MessageProblems
from uk_dynamics.ros.inputs import COMMAND_QOS
from uk_dynamics.ros.message_readers import LARGEST
from uk_dynamics.ros.messages import view

AnyFollowed = TypeVar("AnyFollowed", bound=Followed)


def live_names(specs: Iterable[ConstraintSpec]) -> list[str]:
    """Names of the constraints or tasks that their file declares live."""
    return [spec.name for spec in specs if spec.reference and spec.reference.type == "live"]


class LiveReferences(Generic[AnyFollowed]):
    """What each live constraint or task follows: the last sample, or what replaced it since.

    Attributes:
        followed: By name; without those that nothing was sent for yet.
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
            node: Who listens.
            references: Of all constraints or tasks of a file.
            names: Of those that are live.
            problems: Remembers messages that cannot be used.
            prefix: Of the topics: ``~/`` for those of the node alone.
        """
        self.followed: dict[str, AnyFollowed] = {}
        self._references = references
        self._node = node
        self._problems = problems
        self._subscriptions = []
        for name in names:
            topic = f"{prefix}{name}/reference"
            heard = functools.partial(self._receive, name, topic, references.rows[name])
            self._subscriptions.append(
                node.create_subscription(JointTrajectoryPoint, topic, heard, COMMAND_QOS)
            )

    def destroy(self) -> None:
        """Stop listening."""
        for subscription in self._subscriptions:
            self._node.destroy_subscription(subscription)

    def present(self, name: str, now: float) -> ReferenceSample:
        """What shall be at a time, in s."""
        return self._references.one(name, now, self.followed.get(name))

    def hold(self, name: str, now: float) -> None:
        """Let it stay what it shall be at a time, in s."""
        value = self.present(name, now).value
        self.followed[name] = ReferenceSample(value, np.zeros_like(value), np.zeros_like(value))

    def _receive(self, name: str, topic: str, rows: int, message: JointTrajectoryPoint) -> None:
        sample, problem = read_reference(message, rows)
        if sample is None:
            self._problems.note(topic, problem)
            return
        self.followed[name] = sample


def read_reference(message: JointTrajectoryPoint, rows: int) -> tuple[ReferenceSample | None, str]:
    """Value, rate and acceleration of rows; what is left out is zero.

    Args:
        message: ``positions`` in m or rad (of rows on velocities: m/s or rad/s), ``velocities``
            their rates, ``accelerations`` the rates of those; efforts and time do not count.
        rows: Number of rows.

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
