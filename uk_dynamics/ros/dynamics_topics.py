"""The topics that carry the dynamics of a mechanism: motion, forces and states of constraints."""

from __future__ import annotations

from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from uk_dynamics.core.solution import Solution
from uk_dynamics.mechanism.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import Inputs, State
from uk_dynamics.ros.constraint_wrenches import ConstraintWrenches
from uk_dynamics.ros.listeners import Listeners
from uk_dynamics.ros.messages import JointStateMessage, view, zeros


class DynamicsTopics:
    """Publishes solutions; what nobody listens to is not computed."""

    def __init__(self, node: Node, mechanism: Mechanism) -> None:
        """Create the publishers below the node's name.

        Args:
            node: Who publishes.
            mechanism: Whose dynamics it is.
        """
        self._mechanism = mechanism
        self._dynamics = InterpretedDynamics(mechanism)
        self._row_scale = mechanism.constraints.reference_scale  # to N m, of rows of angles
        self._motion_publisher = node.create_publisher(JointTrajectory, "~/dynamics", 10)
        self._forces_publisher = node.create_publisher(JointState, "~/constraint_forces", 10)
        self._states_publisher = node.create_publisher(JointState, "~/constraint_states", 10)
        self._wrenches = ConstraintWrenches(mechanism)
        self._wrench_publishers: dict[str, Publisher] = {
            name: node.create_publisher(WrenchStamped, f"~/{name}/wrench", 10)
            for name in self._wrenches.names
        }
        self._wrench_message = WrenchStamped()
        size = mechanism.model.nv
        point = JointTrajectoryPoint()
        point.positions, point.velocities, point.accelerations = (zeros(size) for _ in range(3))
        self._motion = JointTrajectory(joint_names=list(mechanism.joint_names), points=[point])
        self._positions = view(point.positions)
        self._velocities = view(point.velocities)
        self._accelerations = view(point.accelerations)
        self._forces = JointStateMessage(mechanism.joint_names, effort=True)
        self._states = JointStateMessage(
            mechanism.row_names, position=True, velocity=True, effort=True
        )

        self._listeners = Listeners(
            node,
            (
                self._motion_publisher,
                self._forces_publisher,
                self._states_publisher,
                *self._wrench_publishers.values(),
            ),
        )

    @property
    def wanted(self) -> bool:
        """Whether anybody listens."""
        return bool(self._listeners.heard)

    def publish(self, stamp: Time, state: State, solution: Solution, inputs: Inputs) -> None:
        """Publish what is listened to.

        Args:
            stamp: Of the state.
            state: Where the mechanism is.
            solution: Its dynamics there.
            inputs: What acts on it.
        """
        heard = self._listeners.heard
        if self._motion_publisher in heard:
            self._motion.header.stamp = stamp
            self._positions[:] = state.q
            self._velocities[:] = state.v
            self._accelerations[:] = solution.qdd
            self._motion_publisher.publish(self._motion)
        if self._forces_publisher in heard:
            self._forces.message.header.stamp = stamp
            self._forces.effort[:] = solution.constraint_force
            self._forces_publisher.publish(self._forces.message)
        if self._states_publisher in heard:
            residual = self._dynamics.residual(state, inputs)
            self._states.message.header.stamp = stamp
            self._states.position[:] = residual.position
            self._states.velocity[:] = residual.velocity
            self._states.effort[:] = solution.loads * self._row_scale
            self._states_publisher.publish(self._states.message)
        names = [name for name, p in self._wrench_publishers.items() if p in heard]
        if names:
            self._publish_wrenches(stamp, state, solution, names)

    def _publish_wrenches(
        self, stamp: Time, state: State, solution: Solution, names: list[str]
    ) -> None:
        self._wrenches.update(state.q, solution.loads)
        message = self._wrench_message
        message.header.stamp = stamp
        force, torque = message.wrench.force, message.wrench.torque
        for name in names:
            message.header.frame_id = self._wrenches.frame_id(name)
            values = self._wrenches.on_child(name).tolist()
            force.x, force.y, force.z, torque.x, torque.y, torque.z = values
            self._wrench_publishers[name].publish(message)
