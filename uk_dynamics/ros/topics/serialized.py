# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Messages as they are on the wire: read and written without a Python message in between.

rclpy makes a message of every sample and a sample of every message, name by name, which takes
longer than the servo law; so do the covariances of an odometry or of an IMU. Samples of one source
differ in stamp and numbers only, so that these are read and written in their places. What is
otherwise is left to rclpy.
"""

import struct
from array import array
from collections.abc import Sequence
from typing import Any

import numpy as np
from builtin_interfaces.msg import Time
from nav_msgs.msg import Odometry
from rclpy.publisher import Publisher
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from uk_dynamics.mechanism.resolution import Array

_LITTLE_ENDIAN = b"\x00\x01"  # plain CDR; its numbers are aligned relative to what follows
_HEADER = 4  # bytes
_STAMP = struct.Struct("<iI")
_NAMES = _HEADER + _STAMP.size  # where the frame begins, and behind it the names
FIELDS = ("position", "velocity", "effort")


class SerializedJointState:
    """The last sample of a source."""

    def __init__(self) -> None:
        self.name: list[str] = []
        # in m or rad, per s, and in N or N·m: sequences of numbers with a buffer
        self.position = self.velocity = self.effort = memoryview(b"").cast("d")
        self.seconds = self.nanoseconds = 0  # of the stamp
        self._alike: list[tuple[slice, bytes]] = []
        self._numbers = [slice(0)] * len(FIELDS)
        self._length = -1

    def read(self, data: bytes) -> None:
        """Read a sample."""
        if len(data) != self._length or any(data[part] != seen for part, seen in self._alike):
            self._read_message(data)
            return
        self.seconds, self.nanoseconds = _STAMP.unpack_from(data, _HEADER)
        view = memoryview(data)
        self.position, self.velocity, self.effort = (view[part].cast("d") for part in self._numbers)

    def _read_message(self, data: bytes) -> None:
        """Read it with rclpy, and remember where its numbers are."""
        message: JointState = deserialize_message(data, JointState)
        self.name = list(message.name)
        self.seconds, self.nanoseconds = message.header.stamp.sec, message.header.stamp.nanosec
        fields = [memoryview(getattr(message, field)) for field in FIELDS]
        self.position, self.velocity, self.effort = fields
        self._length = -1
        if data[:2] != _LITTLE_ENDIAN:
            return
        places = _places(message)
        if [data[place] for place in places] == [field.tobytes() for field in fields]:
            self._length, self._numbers = len(data), places
            starts = (_NAMES, *(place.stop for place in places))
            between = [
                slice(start, place.start) for start, place in zip(starts, places, strict=False)
            ]
            self._alike = [(part, data[part]) for part in (slice(_HEADER), *between)]


class JointStateMessage:
    """A joint state that is published again and again; its arrays are written in place."""

    def __init__(self, names: Sequence[str], *fields: str) -> None:
        """``fields`` are those that it has."""
        message = JointState(name=list(names))
        for field in fields:
            setattr(message, field, array("d", bytes(8 * len(message.name))))
        data = serialize_message(message)
        places = _places(message)
        self._message = None if data[: len(_LITTLE_ENDIAN)] == _LITTLE_ENDIAN else message
        self._data = bytearray(data) if self._message is None else bytearray(places[-1].stop)
        # in m or rad, per s, and in N or N·m; empty where they were not asked for
        self.position, self.velocity, self.effort = (
            np.frombuffer(self._data, count=(place.stop - place.start) // 8, offset=place.start)
            for place in places
        )

    def publish(self, publisher: Publisher, stamp: Time) -> None:
        """Publish the arrays as they are now."""
        if self._message is None:
            _STAMP.pack_into(self._data, _HEADER, stamp.sec, stamp.nanosec)
            publisher.publish(bytes(self._data))
            return
        self._message.header.stamp = stamp
        for field in FIELDS:
            setattr(self._message, field, array("d", getattr(self, field)))
        publisher.publish(self._message)


def _places(message: JointState) -> list[slice]:
    """Where the numbers of each field are in a serialized message, in bytes."""
    at = _after_text(_STAMP.size, message.header.frame_id)
    at = _aligned(at, 4) + 4
    for name in message.name:
        at = _after_text(at, name)
    places = []
    for field in FIELDS:
        size = 8 * len(getattr(message, field))
        at = _aligned(at, 4) + 4
        at = _aligned(at, 8) if size else at
        places.append(slice(_HEADER + at, _HEADER + at + size))
        at += size
    return places


def _after_text(at: int, text: str) -> int:
    """Where a text ends that begins at or behind a place, in bytes."""
    return _aligned(at, 4) + 4 + len(text.encode()) + 1


def _aligned(at: int, size: int) -> int:
    """The first place from here on whose number of bytes is a multiple of a size."""
    return at + -at % size


_NATIVE_STAMP = struct.Struct("=iI")  # in the order of this machine
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
        _NATIVE_STAMP.pack_into(self._data, _HEADER, stamp.sec, stamp.nanosec)
        publisher.publish(bytes(self._data))


class SerializedOdometry:
    """The last sample of a source."""

    def __init__(self) -> None:
        self.frame = self.child = ""  # of the pose, and whose it is
        # pose x y z qx qy qz qw, its covariance, twist, its covariance, (85,)
        self.numbers: Array = np.zeros(ODOMETRY)
        self.stamp = 0  # ns
        self._texts = b"\xff"  # of no message
        self._at = _NAMES

    def read(self, data: bytes) -> None:
        """Read a sample."""
        if not data.startswith(self._texts, _NAMES) or data[:2] != _ORDER:
            message: Odometry = deserialize_message(data, Odometry)
            data = serialize_message(message)  # in the order of this machine
            self.frame, self.child = message.header.frame_id, message.child_frame_id
            self._at = _start(self.frame, self.child)
            self._texts = data[_NAMES : self._at]
        seconds, nanoseconds = _NATIVE_STAMP.unpack_from(data, _HEADER)
        self.stamp = seconds * 1_000_000_000 + nanoseconds
        self.numbers = np.frombuffer(data, count=ODOMETRY, offset=self._at)


def _start(*texts: str) -> int:
    """Where the numbers begin, in bytes."""
    at = _NATIVE_STAMP.size
    for text in texts:
        at = _after_text(at, text)
    return _HEADER + _aligned(at, 8)
