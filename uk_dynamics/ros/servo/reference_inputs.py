# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""All inputs of the live tasks: references, and target poses of frame tasks."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from geometry_msgs.msg import PoseStamped
from rclpy.node import Node

from uk_dynamics.constraints.kinds.frames import Frame
from uk_dynamics.constraints.references import Followed, Live, Pace, approach
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.files import ConstraintSpec
from uk_dynamics.mechanism.resolution import State, reference_of_pose
from uk_dynamics.ros.diagnostics.publisher import MessageProblems
from uk_dynamics.ros.parameters.parameter import Parameters
from uk_dynamics.ros.servo.follow_joint_trajectory import (
    FollowJointTrajectory,
    follow_joint_trajectory,
)
from uk_dynamics.ros.servo.joint_trajectory_input import JointTrajectoryInput
from uk_dynamics.ros.timing.clock import TimeOrigin
from uk_dynamics.ros.topics.live_references import LiveReferences, live_names
from uk_dynamics.ros.topics.messages import LARGEST
from uk_dynamics.ros.topics.qos import COMMAND_QOS

_TOPIC = "target_pose"


class TargetPoseInput:
    """Poses from ``~/target_pose``: a smooth approach replaces the present reference.

    Each live frame task has its own topic ``~/<task>/target_pose``; ``~/target_pose`` is for the
    only one, where there is just one.
    """

    def __init__(
        self,
        node: Node,
        settings: Parameters,
        tasks: Tasks,
        live: LiveReferences,
        problems: MessageProblems,
        now: Callable[[], float | None],
    ) -> None:
        """``now()`` is the time of the references, in s; None while not running."""
        self._settings = settings
        self._live = live
        self._problems = problems
        self._now = now
        self._tasks = [
            task
            for task in tasks.spec.tasks
            if isinstance(task.reference, Live) and isinstance(task.kind, Frame)
        ]
        topics: dict[str, ConstraintSpec | None] = {
            f"~/{task.name}/{_TOPIC}": task for task in self._tasks
        }
        topics[f"~/{_TOPIC}"] = self._tasks[0] if len(self._tasks) == 1 else None
        for topic, task in topics.items():
            receive = functools.partial(self._receive, topic, task)
            node.create_subscription(PoseStamped, topic, receive, COMMAND_QOS)

    def _receive(self, topic: str, task: ConstraintSpec | None, message: PoseStamped) -> None:
        if problem := self._follow(task, message):
            self._problems.note(topic, problem)

    def _follow(self, task: ConstraintSpec | None, message: PoseStamped) -> str:
        """Start to approach a pose, or return what is wrong with the message."""
        if task is None:
            names = ", ".join(f"~/{task.name}/{_TOPIC}" for task in self._tasks)
            return f"there are several tasks: {names}" if names else "no frame task is live"
        now = self._now()
        if now is None:
            return "the controller has not received a state yet"
        frame = task.parent.link if task.parent is not None else ""
        if message.header.frame_id != frame:
            return f'frame_id is "{message.header.frame_id:.40}", expected "{frame}"'
        p, o = message.pose.position, message.pose.orientation
        if not all(abs(x) < LARGEST for x in (p.x, p.y, p.z)):  # false for nan
            return "position is not finite"
        present = self._live.present(task.name, now)
        try:
            target = reference_of_pose(
                task, (p.x, p.y, p.z), (o.x, o.y, o.z, o.w), near=present.value
            )
        except InputError as error:
            return f"{error.place}: {error.problem}"
        self._live.followed[task.name] = approach(present, target, self._paces(task), now)
        return ""

    def _paces(self, task: ConstraintSpec) -> list[Pace]:
        assert isinstance(task.kind, Frame)
        turning = np.array([axis.startswith("r") for axis in task.kind.axes])
        settings = self._settings
        return [
            Pace(~turning, settings["approach_speed"], settings["approach_acceleration"]),
            Pace(
                turning,
                settings["approach_angular_speed"],
                settings["approach_angular_acceleration"],
            ),
        ]


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
        self._action: FollowJointTrajectory | None = None
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
        TargetPoseInput(node, settings, tasks, live, problems, now)
        self._action = follow_joint_trajectory(node, tasks, trajectories, live, problems, state)

    def forget(self) -> None:
        """Return to the references of the file, until the live tasks receive something."""
        self.followed.clear()

    def destroy(self) -> None:
        """Withdraw the action."""
        if self._action is not None:
            self._action.destroy()
