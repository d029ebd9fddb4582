# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""All inputs of the live tasks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rclpy.node import Node

from uk_dynamics.constraints.references import Followed
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.ros.diagnostics.publisher import MessageProblems
from uk_dynamics.ros.parameters.parameter import Parameters
from uk_dynamics.ros.servo.follow_joint_trajectory import follow_joint_trajectory
from uk_dynamics.ros.servo.joint_trajectory_input import JointTrajectoryInput
from uk_dynamics.ros.servo.target_pose_input import TargetPoseInput
from uk_dynamics.ros.timing.clock import TimeOrigin
from uk_dynamics.ros.topics.live_references import LiveReferences, live_names


class ReferenceInputs:
    """Samples, trajectories, poses and action goals; a task follows the last one it received.

    ``followed`` has what they follow by name, without tasks that have received nothing.
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
        """``now()`` in s is None while not running, ``state()`` while no tasks are followed."""
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
        """Return to the references of the file, until the live tasks receive something."""
        self.followed.clear()

    def destroy(self) -> None:
        """Unsubscribe."""
        for reference_input in self._inputs:
            if reference_input is not None:
                reference_input.destroy()
