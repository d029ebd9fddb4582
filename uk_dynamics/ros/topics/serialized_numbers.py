# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Stamped messages that have nothing but numbers behind their texts, as they are on the wire.

``nav_msgs/Odometry`` and ``sensor_msgs/Imu`` are: in a message of rclpy, their covariances alone
take longer than the servo law. Read and written in their places like joint states.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from nav_msgs.msg import Odometry
from rclpy.publisher import Publisher
from rclpy.serialization import deserialize_message, serialize_message

from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.ros.topics.serialized_joint_states import after_text, aligned

_HEADER = 4  # bytes; the first two say in which order those of numbers are
_STAMP = struct.Struct("=iI")
_TEXTS = _HEADER + _STAMP.size
# of the numbers of an odometry, pose and twist with a covariance of (6, 6) behind each
POSE, POSE_COVARIANCE, TWIST, TWIST_COVARIANCE = (
    slice(0, 7),
    slice(7, 43),
    slice(43, 49),
    slice(49, 85),
)
ODOMETRY = 85
# of the numbers of an IMU, each with a covariance of (3, 3) behind it
ORIENTATION, ANGULAR_VELOCITY, ACCELERATION = slice(0, 4), slice(13, 16), slice(25, 28)
IMU = 37
_ORDER = serialize_message(Time())[:2]  # of this machine


class NumbersMessage:
    """A message that is published again and again; ``numbers`` are written in place."""

    def __init__(self, message: Any, count: int, *texts: str) -> None:
        """``count`` numbers follow the ``texts``, which follow the header."""
        at = _start(message.header.frame_id, *texts)
        self._data = bytearray(serialize_message(message)[: at + 8 * count])
        self.numbers: Array = np.frombuffer(self._data, count=count, offset=at)

    def publish(self, publisher: Publisher, stamp: Time) -> None:
        """Publish the numbers as they are now."""
        _STAMP.pack_into(self._data, _HEADER, stamp.sec, stamp.nanosec)
        publisher.publish(bytes(self._data))


class SerializedOdometry:
    """The last sample of a source.

    Attributes:
        frame: Of the pose.
        child: Whose pose it is.
        numbers: Pose x y z qx qy qz qw, its covariance, twist, its covariance, (85,).
        stamp: In ns.
    """

    def __init__(self) -> None:
        self.frame = self.child = ""
        self.numbers: Array = np.zeros(ODOMETRY)
        self.stamp = 0
        self._texts = b"\xff"  # of no message
        self._at = _TEXTS

    def read(self, data: bytes) -> None:
        """Read a sample."""
        if not data.startswith(self._texts, _TEXTS) or data[:2] != _ORDER:
            message: Odometry = deserialize_message(data, Odometry)
            data = serialize_message(message)  # in the order of this machine
            self.frame, self.child = message.header.frame_id, message.child_frame_id
            self._at = _start(self.frame, self.child)
            self._texts = data[_TEXTS : self._at]
        seconds, nanoseconds = _STAMP.unpack_from(data, _HEADER)
        self.stamp = seconds * 1_000_000_000 + nanoseconds
        self.numbers = np.frombuffer(data, count=ODOMETRY, offset=self._at)


def _start(*texts: str) -> int:
    """Where the numbers begin, in bytes."""
    at = _STAMP.size
    for text in texts:
        at = after_text(at, text)
    return _HEADER + aligned(at, 8)
