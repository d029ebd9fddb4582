# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The topics that carry the references of the tasks and the tracking errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from builtin_interfaces.msg import Time
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from uk_dynamics.constraints.references import Followed
from uk_dynamics.control import Command, MotorCommand
from uk_dynamics.control.servo import ServoController
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.ros.topics.dynamics_topics import SubscribedPublishers
from uk_dynamics.ros.topics.messages import MotionMessage
from uk_dynamics.ros.topics.qos import PUBLISHED_QOS
from uk_dynamics.ros.topics.serialized_joint_states import JointStateMessage


class TaskTopics:
    """Publishes the rows of the tasks by name; topics without subscribers are not computed."""

    def __init__(self, node: Node, controller: ServoController | None) -> None:
        """Create the publishers below the node's name; none without a controller of tasks."""
        self._controller = controller
        if controller is None:
            return
        names = controller.tasks.row_names
        self._states = JointStateMessage(names, position=True, velocity=True, effort=True)
        self._references = MotionMessage(names)
        self._states_publisher = node.create_publisher(JointState, "~/task_states", PUBLISHED_QOS)
        self._references_publisher = node.create_publisher(
            JointTrajectory, "~/task_references", PUBLISHED_QOS
        )
        self._publishers = SubscribedPublishers(
            node, (self._states_publisher, self._references_publisher)
        )

    def publish(
        self,
        stamp: Time,
        state: State,
        last_command: Callable[[], MotorCommand],
        followed: Mapping[str, Followed],
    ) -> None:
        """Publish the topics that have subscribers; nothing in modes other than ``tasks``."""
        if self._controller is None:
            return
        subscribed = self._publishers.subscribed
        if not subscribed or not isinstance(decision := last_command(), Command):
            return
        tasks = self._controller.tasks
        if self._states_publisher in subscribed:
            error = self._controller.errors(state, followed)
            self._states.position[:] = error.residual
            self._states.velocity[:] = error.rate
            self._states.effort[:] = decision.residual / tasks.constraints.reference_scale
            self._states.publish(self._states_publisher, stamp)
        if self._references_publisher in subscribed:
            sample = tasks.sample(state.t, followed)
            motion = (0.0, 0.0, 0.0) if sample is None else tuple(sample)
            self._references_publisher.publish(self._references.write(stamp, *motion))

    def destroy(self) -> None:
        """Destroy the publishers."""
        if self._controller is not None:
            self._publishers.destroy()
