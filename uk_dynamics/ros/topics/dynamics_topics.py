# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The topics that carry the dynamics of a mechanism: motion, forces, wrenches in the cut joints."""

from collections.abc import Mapping

import numpy as np
from builtin_interfaces.msg import Time
from geometry_msgs.msg import WrenchStamped
from rclpy.node import Node
from rclpy.publisher import Publisher
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, MultiDOFJointTrajectory

from uk_dynamics.core.equation import Solution
from uk_dynamics.mechanism.contact import ContactDynamics, contact_row_names, contact_rows
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.ros.timing.clock import steady_clock
from uk_dynamics.ros.topics.messages import MotionMessage, wrench_message
from uk_dynamics.ros.topics.odometry_topics import base_motion
from uk_dynamics.ros.topics.qos import PUBLISHED_QOS
from uk_dynamics.ros.topics.serialized import FIELDS, JointStateMessage


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
    """Publishers below the node's name; ten times per second some are asked for subscribers."""

    def __init__(self, node: Node, kinds: Mapping[str, type]) -> None:
        """Create a publisher for each topic."""
        self.subscribed: frozenset[str] = frozenset()  # topics
        self._publishers = {
            name: node.create_publisher(kind, f"~/{name}", PUBLISHED_QOS)
            for name, kind in kinds.items()
        }
        self._first = 0
        node.create_timer(_LOOK_PERIOD, self._look, clock=steady_clock())

    def __getitem__(self, name: str) -> Publisher:
        """Publisher of a topic."""
        return self._publishers[name]

    def _look(self) -> None:
        part = list(self._publishers)[self._first : self._first + _LOOKED_AT]
        found = {name for name in part if self[name].get_subscription_count() > 0}
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
        self._model = mechanism.model
        self._places = mechanism.model.joint_places if self._model.bases else None
        self._motion = MotionMessage(mechanism.joint_names)
        self._forces = JointStateMessage(mechanism.model.velocity_names, "effort")
        self._states = JointStateMessage(mechanism.row_names, *FIELDS)
        self._contacts = ContactDynamics(mechanism) if mechanism.one_sided else None
        self._contact_rows = JointStateMessage(contact_row_names(mechanism.one_sided), *FIELDS)
        self._wrench_topics = {f"{name}/wrench": name for name in self._wrenches.links}
        self._publishers = SubscribedPublishers(
            node,
            {
                "dynamics": JointTrajectory,
                **({"base_dynamics": MultiDOFJointTrajectory} if self._model.bases else {}),
                "constraint_forces": JointState,
                "constraint_states": JointState,
                **({"contacts": JointState} if mechanism.one_sided else {}),
                **dict.fromkeys(self._wrench_topics, WrenchStamped),
            },
        )

    @property
    def wanted(self) -> bool:
        """Whether any topic has a subscriber."""
        return bool(self._publishers.subscribed)

    def publish(self, stamp: Time, state: State, solution: Solution, inputs: Inputs) -> None:
        """Publish the topics that have subscribers."""
        subscribed = self._publishers.subscribed
        if "dynamics" in subscribed:
            motion = state.q, state.v, solution.qdd
            if self._places is not None:
                positions, velocities = self._places
                motion = state.q[positions], state.v[velocities], solution.qdd[velocities]
            self._publishers["dynamics"].publish(self._motion.write(stamp, *motion))
        if "base_dynamics" in subscribed:
            moving = base_motion(stamp, self._model.bases, state.q, state.v, solution.qdd)
            self._publishers["base_dynamics"].publish(moving)
        if "constraint_forces" in subscribed:
            self._forces.effort[:] = solution.constraint_force
            self._forces.publish(self._publishers["constraint_forces"], stamp)
        if "constraint_states" in subscribed:
            residual = self._dynamics.residual(state, inputs)
            self._states.position[:] = residual.position
            self._states.velocity[:] = residual.velocity
            self._states.effort[:] = solution.joint_multipliers * self._row_scale
            self._states.publish(self._publishers["constraint_states"], stamp)
        if self._contacts is not None and "contacts" in subscribed:
            rows, found = self._contact_rows, self._contacts.contacts(state, inputs, solution)
            rows.position[:], rows.velocity[:], rows.effort[:] = contact_rows(found)
            rows.publish(self._publishers["contacts"], stamp)
        wanted = {topic: name for topic, name in self._wrench_topics.items() if topic in subscribed}
        if wanted:
            self._wrenches.update(state.q, solution.joint_multipliers)
        for topic, name in wanted.items():
            wrench, link = self._wrenches.on_child(name), self._wrenches.links[name]
            self._publishers[topic].publish(wrench_message(stamp, link, wrench))
