# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""States of machines that float, as messages."""

from __future__ import annotations

from array import array

import numpy as np
from builtin_interfaces.msg import Time
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState

from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism


def state_of(mechanism: Mechanism, joints: JointState, *bases: Odometry) -> State:
    """Inverse of :func:`joint_message` and, for each base, :func:`odometry`."""
    model = mechanism.model
    q, v = model.neutral(), np.zeros(model.nv)
    positions, velocities = model.joint_places
    q[positions], v[velocities] = joints.position, joints.velocity
    for base, odom in zip(model.bases, bases, strict=True):
        place, turn, twist = odom.pose.pose.position, odom.pose.pose.orientation, odom.twist.twist
        pose = np.array([place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w])
        motion = [getattr(part, axis) for part in (twist.linear, twist.angular) for axis in "xyz"]
        base.place(q, v, pose, np.array(motion))
    stamp = joints.header.stamp
    return State(stamp.sec + 1e-9 * stamp.nanosec, q, v)


def joint_message(mechanism: Mechanism, state: State, stamp: Time) -> JointState:
    """The joints with one freedom."""
    positions, velocities = mechanism.model.joint_places
    message = JointState(name=list(mechanism.joint_names))
    message.header.stamp = stamp
    message.position = array("d", state.q[positions])
    message.velocity = array("d", state.v[velocities])
    return message


def odometry(mechanism: Mechanism, state: State, stamp: Time, number: int = 0) -> Odometry:
    """One of the bases, by a message of rclpy; twist as REP 105 has it."""
    base = mechanism.model.bases[number]
    return odometry_of(base.link, base.pose(state.q), base.twist(state.v), stamp)


def odometry_of(link: str, pose: Array, twist: Array, stamp: Time) -> Odometry:
    """A pose (7,) and a twist (6,) of a link."""
    message = Odometry(child_frame_id=link)
    message.header.stamp, message.header.frame_id = stamp, "odom"
    place, turn, motion = message.pose.pose.position, message.pose.pose.orientation, message.twist
    place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w = map(float, pose)
    linear, angular = motion.twist.linear, motion.twist.angular
    linear.x, linear.y, linear.z, angular.x, angular.y, angular.z = map(float, twist)
    return message
