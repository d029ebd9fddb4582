# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The topics that carry the dynamics of a mechanism: motion, forces, wrenches in the cut joints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from uk_dynamics.core.equation import Solution
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.ros.timing.clock import steady_clock
from uk_dynamics.ros.topics.messages import MotionMessage, wrench_message
from uk_dynamics.ros.topics.qos import PUBLISHED_QOS
from uk_dynamics.ros.topics.serialized_joint_states import JointStateMessage


class ConstraintWrenches:
    """Wrench of each frame-based constraint on the child's link.

    A row is a wrench w = (f, n) at the world's origin whose product with the child's motion
    relative to the parent's is the rate of the row, so the generalized force Aᵀλ is that of the
    wrench Σ λ w on the child and its opposite on the parent. It is given in the axes and at the
    origin of the child's link, whose name is the frame of the message: a force along the link's x
    axis is positive. Joint friction is not part of it, but its effect on the multipliers is.
    """

    def __init__(self, mechanism: Mechanism) -> None:
        self._model = mechanism.model
        self._constraints = mechanism.constraints
        self._workspace = mechanism.model.workspace()
        self.links = {  # in whose frames the wrenches are given
            spec.name: spec.child.link
            for spec in mechanism.spec.constraints
            if spec.child is not None
        }
        self.names = tuple(self.links)
        self._wrenches = np.zeros((0, 6))

    def update(self, q: Array, multipliers: Array) -> None:
        """Set configuration (nq,) and joint multipliers (m,)."""
        self._workspace.update_positions(q)
        self._wrenches = multipliers[:, None] * self._constraints.wrenches(self._workspace)

    def on_child(self, name: str) -> Array:
        """Force in N and torque in N·m on the child's link, (6,)."""
        total = self._wrenches[self._constraints.slices[name]].sum(axis=0)
        frame = self._model.frame_index(self.links[name])
        rotation = self._workspace.rotation[frame]
        force = total[:3]
        torque = total[3:] - np.cross(self._workspace.translation[frame], force)
        return np.concatenate((force @ rotation, torque @ rotation))


_LOOK_PERIOD = 0.1  # s; counting the subscribers of all publishers at every state takes too long
_LOOKED_AT = 64  # publishers at once: a large mechanism has thousands, at 3 µs each


class SubscribedPublishers:
    """Checks which publishers have subscribers: ten times per second, many of them in turn."""

    def __init__(self, node: Node, publishers: Sequence[Publisher]) -> None:
        self.subscribed: frozenset[Publisher] = frozenset()
        self._publishers = tuple(publishers)
        self._first = 0
        node.create_timer(_LOOK_PERIOD, self._look, clock=steady_clock())

    def _look(self) -> None:
        part = self._publishers[self._first : self._first + _LOOKED_AT]
        found = frozenset(p for p in part if p.get_subscription_count() > 0)
        self.subscribed = self.subscribed.difference(part) | found
        self._first += _LOOKED_AT
        if self._first >= len(self._publishers):
            self._first = 0


class DynamicsTopics:
    """Publishes solutions; topics without subscribers are not computed."""

    def __init__(self, node: Node, mechanism: Mechanism) -> None:
        """Create the publishers below the node's name."""
        self._dynamics = InterpretedDynamics(mechanism)
        self._row_scale = mechanism.constraints.reference_scale  # rows of angles to N·m
        self._wrenches = ConstraintWrenches(mechanism)
        names = mechanism.joint_names
        self._motion = MotionMessage(names)
        self._forces = JointStateMessage(names, effort=True)
        self._states = JointStateMessage(
            mechanism.row_names, position=True, velocity=True, effort=True
        )

        def publisher(kind: type, name: str) -> Publisher:
            return node.create_publisher(kind, f"~/{name}", PUBLISHED_QOS)

        self._motion_publisher = publisher(JointTrajectory, "dynamics")
        self._forces_publisher = publisher(JointState, "constraint_forces")
        self._states_publisher = publisher(JointState, "constraint_states")
        self._wrench_publishers = {
            name: publisher(WrenchStamped, f"{name}/wrench") for name in self._wrenches.names
        }
        fixed = (self._motion_publisher, self._forces_publisher, self._states_publisher)
        self._publishers = SubscribedPublishers(node, (*fixed, *self._wrench_publishers.values()))

    @property
    def wanted(self) -> bool:
        """Whether any topic has a subscriber."""
        return bool(self._publishers.subscribed)

    def publish(self, stamp: Time, state: State, solution: Solution, inputs: Inputs) -> None:
        """Publish the topics that have subscribers."""
        subscribed = self._publishers.subscribed
        if self._motion_publisher in subscribed:
            self._motion_publisher.publish(
                self._motion.write(stamp, state.q, state.v, solution.qdd)
            )
        if self._forces_publisher in subscribed:
            self._forces.effort[:] = solution.constraint_force
            self._forces.publish(self._forces_publisher, stamp)
        if self._states_publisher in subscribed:
            residual = self._dynamics.residual(state, inputs)
            self._states.position[:] = residual.position
            self._states.velocity[:] = residual.velocity
            self._states.effort[:] = solution.joint_multipliers * self._row_scale
            self._states.publish(self._states_publisher, stamp)
        names = [name for name, p in self._wrench_publishers.items() if p in subscribed]
        if names:
            self._wrenches.update(state.q, solution.joint_multipliers)
        for name in names:
            wrench, link = self._wrenches.on_child(name), self._wrenches.links[name]
            self._wrench_publishers[name].publish(wrench_message(stamp, link, wrench))
