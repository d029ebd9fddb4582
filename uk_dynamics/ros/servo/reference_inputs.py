# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""All inputs of the live tasks: references, and target poses of frame tasks."""

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
from uk_dynamics.ros.topics.live_references import LiveReferences
from uk_dynamics.ros.topics.messages import LARGEST

_TOPIC = "target_pose"


class ReferenceInputs:
    """Samples, trajectories, poses and action goals; a task follows the last one it received.

    A pose from ``~/<task>/target_pose`` of a live frame task, or ``~/target_pose`` where there is
    just one, replaces its present reference by a smooth approach. ``followed`` has what the tasks
    follow by name, without tasks that have received nothing.
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
        self._settings, self._now = settings, now
        self._live = LiveReferences(problems, tasks.references, tasks.spec.tasks, prefix="~/")
        self.followed = self._live.followed
        trajectories = JointTrajectoryInput(
            tasks, self._live, problems, now=now, since=origin.since
        )
        self._action = follow_joint_trajectory(
            node, tasks, trajectories, self._live, problems, state
        )
        self._posed = [
            task
            for task in tasks.spec.tasks
            if isinstance(task.reference, Live) and isinstance(task.kind, Frame)
        ]
        for task in self._posed:
            receive = functools.partial(self._approach, task)
            problems.listen(PoseStamped, f"~/{task.name}/{_TOPIC}", receive)
        only = self._posed[0] if len(self._posed) == 1 else None
        problems.listen(PoseStamped, f"~/{_TOPIC}", functools.partial(self._approach, only))

    def forget(self) -> None:
        """Return to the references of the file, until the live tasks receive something."""
        self.followed.clear()

    def destroy(self) -> None:
        """Withdraw the action."""
        if self._action is not None:
            self._action.destroy()

    def _approach(self, task: ConstraintSpec | None, message: PoseStamped) -> str:
        """Start to approach a pose, or return what is wrong with the message."""
        if task is None:
            names = ", ".join(f"~/{task.name}/{_TOPIC}" for task in self._posed)
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
            return str(error)
        turning = np.array([axis.startswith("r") for axis in task.kind.axes])
        paces = [
            Pace(axes, *(self._settings[f"approach_{kind}{x}"] for x in ("speed", "acceleration")))
            for axes, kind in ((~turning, ""), (turning, "angular_"))
        ]
        self.followed[task.name] = approach(present, target, paces, now)
        return ""
