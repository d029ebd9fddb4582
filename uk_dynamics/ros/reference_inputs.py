"""All ways in which somebody else says what live tasks shall do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from uk_dynamics.constraints.references import Followed
from uk_dynamics.mechanism.state import State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.ros.clock import TimeOrigin
from uk_dynamics.ros.diagnostics import MessageProblems
from uk_dynamics.ros.follow_joint_trajectory import follow_joint_trajectory
from uk_dynamics.ros.joint_trajectory_input import JointTrajectoryInput
from uk_dynamics.ros.live_references import LiveReferences, live_names
from uk_dynamics.ros.parameters import Parameters
from uk_dynamics.ros.target_pose_input import TargetPoseInput


class ReferenceInputs:
    """Samples, trajectories, poses and goals; the last one that came for a task counts.

    Attributes:
        followed: What the live tasks follow, by name; without those that nothing came for yet.
    """

    def __init__(
        self,
        node: Node,
        settings: Parameters,
        tasks: Tasks | None,
        problems: MessageProblems,
        origin: TimeOrigin,
        *,
        now: Callable[[], float | None],
        state: Callable[[], State | None],
    ) -> None:
        """Listen.

        Args:
            node: Who listens.
            settings: Its parameters.
            tasks: What may be driven; None: nothing.
            problems: Remembers messages that cannot be used.
            origin: Of the time of the references.
            now: Time of the references, in s; None while nothing is controlled.
            state: The last measured state; None while no tasks are followed.
        """
        self.followed: dict[str, Followed] = {}
        self._inputs: list[Any] = []
        if tasks is None:
            return
        names = live_names(tasks.spec.tasks)
        live: LiveReferences[Followed] = LiveReferences(
            node, tasks.references, names, problems, prefix="~/"
        )
        self.followed = live.followed
        trajectories = JointTrajectoryInput(
            node, tasks, live, problems, now=now, since=origin.since
        )
        poses = TargetPoseInput(node, settings, tasks, live, problems, now)
        action = follow_joint_trajectory(node, tasks, trajectories, live, problems, state)
        self._inputs = [action, trajectories, poses, live]

    def forget(self) -> None:
        """Live tasks stay where their file says, until something comes for them."""
        self.followed.clear()

    def destroy(self) -> None:
        """Stop listening."""
        for one in self._inputs:
            if one is not None:
                one.destroy()
