"""The topics that carry what tasks ask for, and how far the machine is from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from builtin_interfaces.msg import Time
from rclpy.node import Node
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from uk_dynamics.constraints.references import Followed
from uk_dynamics.control.command import Command, MotorCommand
from uk_dynamics.control.servo_controller import ServoController
from uk_dynamics.mechanism.state import State
from uk_dynamics.ros.listeners import Listeners
from uk_dynamics.ros.messages import JointStateMessage, view, zeros


class TaskTopics:
    """Publishes the rows of the tasks by name; what nobody listens to is not computed."""

    def __init__(self, node: Node, controller: ServoController | None) -> None:
        """Create the publishers below the node's name.

        Args:
            node: Who publishes.
            controller: Who follows the tasks; None: there are none, and no topics.
        """
        self._controller = controller
        self._destroy: list[Callable[[], object]] = []
        if controller is None:
            return
        tasks = controller.tasks
        self._states_publisher = node.create_publisher(JointState, "~/task_states", 10)
        self._references_publisher = node.create_publisher(JointTrajectory, "~/task_references", 10)
        publishers = (self._states_publisher, self._references_publisher)
        self._listeners = Listeners(node, publishers)
        self._destroy = [self._listeners.destroy]
        self._destroy += [partial(node.destroy_publisher, one) for one in publishers]
        self._states = JointStateMessage(tasks.row_names, position=True, velocity=True, effort=True)
        point = JointTrajectoryPoint()
        size = len(tasks.row_names)
        point.positions, point.velocities, point.accelerations = (zeros(size) for _ in range(3))
        self._references = JointTrajectory(joint_names=list(tasks.row_names), points=[point])
        arrays = (point.positions, point.velocities, point.accelerations)  # copies of what was set
        self._reference = tuple(map(view, arrays))

    def publish(
        self, stamp: Time, state: State, decision: MotorCommand, followed: Mapping[str, Followed]
    ) -> None:
        """Publish what is listened to.

        Args:
            stamp: Of the state.
            state: As measured; t is the time of the references.
            decision: What was decided for it; in other modes than ``tasks`` nothing is published.
            followed: What the live tasks follow, by name.
        """
        if self._controller is None or not isinstance(decision, Command):
            return
        heard = self._listeners.heard
        tasks = self._controller.tasks
        if self._states_publisher in heard:
            error = self._controller.errors(state, followed)
            self._states.message.header.stamp = stamp
            self._states.position[:] = error.residual
            self._states.velocity[:] = error.rate
            self._states.effort[:] = decision.residual / tasks.constraints.reference_scale
            self._states_publisher.publish(self._states.message)
        if self._references_publisher in heard:
            sample = tasks.sample(state.t, followed)
            self._references.header.stamp = stamp
            for k, values in enumerate(self._reference):
                values[:] = 0.0 if sample is None else sample[k]
            self._references_publisher.publish(self._references)

    def destroy(self) -> None:
        """Publish nothing any more."""
        for destroy in self._destroy:
            destroy()
