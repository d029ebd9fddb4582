# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What servo_controller publishes of its tasks: references, tracking errors, bounds, estimates."""

from collections.abc import Callable

from builtin_interfaces.msg import Time
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from uk_dynamics.constraints.references import References
from uk_dynamics.control import Command, MotorCommand
from uk_dynamics.control.servo import ServoController
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.ros.topics.dynamics_topics import SubscribedPublishers
from uk_dynamics.ros.topics.messages import MotionMessage
from uk_dynamics.ros.topics.serialized import FIELDS, JointStateMessage


class TaskTopics:
    """Publishes the rows of the tasks by name; topics without subscribers are not computed."""

    def __init__(self, node: Node, controller: ServoController | None) -> None:
        """Create the publishers below the node's name; none without a controller of tasks."""
        self._controller = controller
        if controller is None:
            return
        names = controller.tasks.row_names
        self._states = JointStateMessage(names, *FIELDS)
        self._references = MotionMessage(names)
        self._publishers = SubscribedPublishers(
            node,
            {"task_states": JointState, "task_references": JointTrajectory}
            | ({} if controller.promise is None else {"task_bounds": JointState})
            | ({"estimates": JointState} if controller.tasks.adaptive else {}),
        )
        estimated = [x.name for x in controller.estimates]
        self._estimates = JointStateMessage(estimated, "position", "effort")
        self._bounds = JointStateMessage(names, "position")

    def publish(
        self,
        stamp: Time,
        state: State,
        last_command: Callable[[], MotorCommand],
        followed: References,
    ) -> None:
        """Publish the topics that have subscribers; nothing in modes other than ``tasks``."""
        if self._controller is None:
            return
        subscribed = self._publishers.subscribed
        if not subscribed or not isinstance(decision := last_command(), Command):
            return
        tasks = self._controller.tasks
        if "task_states" in subscribed:
            error = self._controller.errors(state, followed)
            self._states.position[:] = error.residual
            self._states.velocity[:] = error.rate
            self._states.effort[:] = decision.residual / tasks.constraints.reference_scale
            self._states.publish(self._publishers["task_states"], stamp)
        if "task_bounds" in subscribed and decision.error_bound is not None:
            self._bounds.position[:] = decision.error_bound
            self._bounds.publish(self._publishers["task_bounds"], stamp)
        if "estimates" in subscribed:
            for k, found in enumerate(self._controller.estimates):
                self._estimates.position[k] = found.value
                self._estimates.effort[k] = found.deviation
            self._estimates.publish(self._publishers["estimates"], stamp)
        if "task_references" in subscribed:
            sample = tasks.sample(state.t, followed)
            motion = (0.0, 0.0, 0.0) if sample is None else tuple(sample)
            self._publishers["task_references"].publish(self._references.write(stamp, *motion))
