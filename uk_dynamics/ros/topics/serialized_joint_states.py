# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Joint states as they are on the wire: read and written without a Python message in between.

rclpy makes a message of every sample and a sample of every message, name by name, which takes
longer than the servo law. Samples of one source differ in stamp and numbers only, so that these are
read and written in their places. What is otherwise is left to rclpy.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Sequence

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.publisher import Publisher
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

_LITTLE_ENDIAN = b"\x00\x01"  # plain CDR; its numbers are aligned relative to what follows
_HEADER = 4  # bytes
_STAMP = struct.Struct("<iI")
_NAMES = _HEADER + _STAMP.size  # where the frame begins, and behind it the names
FIELDS = ("position", "velocity", "effort")


class SerializedJointState:
    """The last sample of a source.

    Attributes:
        name: As in the message.
        position: In m or rad; like the others a sequence of numbers with a buffer.
        velocity: In m/s or rad/s.
        effort: In N or N·m.
        seconds: Of the stamp.
        nanoseconds: Of the stamp.
    """

    def __init__(self) -> None:
        self.name: list[str] = []
        self.position = self.velocity = self.effort = memoryview(b"").cast("d")
        self.seconds = self.nanoseconds = 0
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
    """A joint state that is published again and again; its arrays are written in place.

    Attributes:
        position: In m or rad; like the others empty where it was not asked for.
        velocity: In m/s or rad/s.
        effort: In N or N·m.
    """

    def __init__(self, names: Sequence[str], *fields: str) -> None:
        """``fields`` are those that it has."""
        message = JointState(name=list(names))
        for field in fields:
            setattr(message, field, array("d", bytes(8 * len(message.name))))
        data = serialize_message(message)
        places = _places(message)
        self._message = None if data[: len(_LITTLE_ENDIAN)] == _LITTLE_ENDIAN else message
        self._data = bytearray(data) if self._message is None else bytearray(places[-1].stop)
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
    at = after_text(_STAMP.size, message.header.frame_id)
    at = aligned(at, 4) + 4
    for name in message.name:
        at = after_text(at, name)
    places = []
    for field in FIELDS:
        size = 8 * len(getattr(message, field))
        at = aligned(at, 4) + 4
        at = aligned(at, 8) if size else at
        places.append(slice(_HEADER + at, _HEADER + at + size))
        at += size
    return places


def after_text(at: int, text: str) -> int:
    """Where a text ends that begins at or behind a place, in bytes."""
    return aligned(at, 4) + 4 + len(text.encode()) + 1


def aligned(at: int, size: int) -> int:
    """The first place from here on whose number of bytes is a multiple of a size."""
    return at + -at % size
