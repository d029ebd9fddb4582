# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Where the links that floating and planar joints move are: topics, frames and messages.

``joint_states`` has the joints with one freedom. The link of a floating or planar joint is on
``odom`` with the same stamp, or, where there are several, on ``<joint>/odom`` each.
"""

import importlib
from collections.abc import Sequence
from typing import Any

from builtin_interfaces.msg import Time
from geometry_msgs.msg import Quaternion, Transform, TransformStamped, Twist, Vector3
from nav_msgs.msg import Odometry
from rclpy.node import Node
from trajectory_msgs.msg import MultiDOFJointTrajectory, MultiDOFJointTrajectoryPoint

from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.model import FloatingBase, RobotModel
from uk_dynamics.ros.topics.qos import PUBLISHED_QOS
from uk_dynamics.ros.topics.serialized import (
    ODOMETRY,
    POSE,
    POSE_COVARIANCE,
    TWIST,
    TWIST_COVARIANCE,
    NumbersMessage,
)
from uk_dynamics.simulation.recording import odom_topic

TF = "/tf"


def world_frame(model: RobotModel, odom_frame: str) -> str:
    """The frame that does not move: the first link, unless that floats."""
    return odom_frame if any(not base.parent for base in model.bases) else model.description.root


def transform_messages() -> Any:
    """``tf2_msgs/TFMessage``, None where it is not installed."""
    try:
        return importlib.import_module("tf2_msgs.msg").TFMessage
    except ImportError:
        return None


class BasePublishers:
    """Publishes bases on their topics, and on ``/tf`` where that is asked for and installed."""

    def __init__(
        self, node: Node, bases: Sequence[FloatingBase], frame: str, *, transforms: bool = False
    ) -> None:
        """``frame`` is that of the world around the first link."""
        self._bases = bases
        self._frames = [base.parent or frame for base in bases]
        self._messages, self._publishers = [], []
        for base, parent in zip(bases, self._frames, strict=True):
            message = Odometry(child_frame_id=base.link)
            message.header.frame_id = parent
            self._messages.append(NumbersMessage(message, ODOMETRY, base.link))
            topic = odom_topic(bases, base)
            self._publishers.append(node.create_publisher(Odometry, topic, PUBLISHED_QOS))
        kind = transform_messages() if transforms and bases else None
        self._tf = None if kind is None else (kind, node.create_publisher(kind, TF, PUBLISHED_QOS))

    def publish(
        self, stamp: Time, q: Array, v: Array, covariances: tuple[Array, Array] | None = None
    ) -> None:
        """Publish them at a state, with covariances of pose and twist, (6, 6), of the only one.

        That of the pose is of x y z in the frame and of a rotation about its axes, that of the
        twist in axes of the link.
        """
        for base, message, publisher in zip(
            self._bases, self._messages, self._publishers, strict=True
        ):
            message.numbers[POSE], message.numbers[TWIST] = base.pose(q), base.twist(v)
            if covariances is not None:
                message.numbers[POSE_COVARIANCE] = covariances[0].ravel()
                message.numbers[TWIST_COVARIANCE] = covariances[1].ravel()
            message.publish(publisher, stamp)
        if self._tf is not None:
            kind, sender = self._tf
            sender.publish(kind(transforms=self.transforms(stamp, q)))

    def transforms(self, stamp: Time, q: Array) -> list[TransformStamped]:
        """The bases in their parents."""
        found = []
        for base, frame in zip(self._bases, self._frames, strict=True):
            transform = TransformStamped(child_frame_id=base.link, transform=_transform(base, q))
            transform.header.stamp, transform.header.frame_id = stamp, frame
            found.append(transform)
        return found


def base_motion(
    stamp: Time, bases: Sequence[FloatingBase], q: Array, v: Array, qdd: Array
) -> MultiDOFJointTrajectory:
    """Pose, twist and rate of the twist of each base, by the name of its joint."""
    point = MultiDOFJointTrajectoryPoint(
        transforms=[_transform(base, q) for base in bases],
        velocities=[_twist(base.twist(v)) for base in bases],
        accelerations=[_twist(base.twist(qdd)) for base in bases],
    )
    message = MultiDOFJointTrajectory(joint_names=[base.name for base in bases], points=[point])
    message.header.stamp = stamp
    return message


def _transform(base: FloatingBase, q: Array) -> Transform:
    x, y, z, *turn = base.pose(q).tolist()
    qx, qy, qz, qw = turn
    return Transform(
        translation=Vector3(x=x, y=y, z=z), rotation=Quaternion(x=qx, y=qy, z=qz, w=qw)
    )


def _twist(values: Array) -> Twist:
    vx, vy, vz, wx, wy, wz = values.tolist()
    return Twist(linear=Vector3(x=vx, y=vy, z=vz), angular=Vector3(x=wx, y=wy, z=wz))
