# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Joint states read from and written to the wire, compared with what rclpy makes of them."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy")

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from uk_dynamics.ros.topics import serialized
from uk_dynamics.ros.topics.serialized import JointStateMessage, SerializedJointState

pytestmark = pytest.mark.ros

FIELDS = ("position", "velocity", "effort")


def a_message(rng: np.random.Generator, names: list[str], frame: str, present: tuple) -> JointState:
    message = JointState(name=names)
    message.header.frame_id = frame
    message.header.stamp = Time(sec=int(rng.integers(-5, 9)), nanosec=int(rng.integers(10**9)))
    for field in present:
        setattr(message, field, rng.normal(size=len(names)).tolist())
    return message


def numbers(sample: object) -> list:
    return [list(getattr(sample, field)) for field in FIELDS]


def test_samples_are_those_of_rclpy_whatever_changes_from_one_to_the_next():
    rng = np.random.default_rng(3)
    sample = SerializedJointState()
    for case in range(300):
        if case % 3 == 0:  # else as the one before, in which numbers alone change
            count = int(rng.integers(5))
            names = ["é" * int(rng.integers(3)) + "j" * int(rng.integers(8)) for _ in range(count)]
            frame = "f" * int(rng.integers(9))
            present = tuple(field for field in FIELDS if rng.random() < 0.7)
        message = a_message(rng, names, frame, present)
        sample.read(serialize_message(message))
        assert sample.name == names
        assert numbers(sample) == numbers(message)
        stamp = message.header.stamp
        assert (sample.seconds, sample.nanoseconds) == (stamp.sec, stamp.nanosec)


def test_numbers_are_read_in_place_where_nothing_else_has_changed(monkeypatch):
    rng = np.random.default_rng(4)
    sample = SerializedJointState()
    first, second = (a_message(rng, ["a", "bcd"], "world", FIELDS) for _ in range(2))
    sample.read(serialize_message(first))
    monkeypatch.setattr(serialized, "deserialize_message", None)
    sample.read(serialize_message(second))
    assert numbers(sample) == numbers(second)
    other = JointState(name=["a", "bcd"], position=[1.0, 2.0], effort=[3.0, 4.0])
    for message in (other, a_message(rng, ["a", "bcd"], "World", FIELDS)):
        with pytest.raises(TypeError, match="not callable"):  # rclpy is asked
            sample.read(serialize_message(message))


@pytest.mark.parametrize("order", [b"\x00\x01", b"none"])
def test_arrays_are_written_in_their_places_or_by_rclpy_where_these_are_not_known(
    order: bytes, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(serialized, "_LITTLE_ENDIAN", order)
    published = []

    class Publisher:
        def publish(self, message: JointState | bytes) -> None:
            plain = isinstance(message, JointState)
            assert plain == (order == b"none")
            published.append(message if plain else deserialize_message(message, JointState))

    states = JointStateMessage(["one", "three"], "position", "effort")
    for position, effort in (((1.5, -2.0), (0.0, 3e-300)), ((4.0, 5.0), (6.0, 7.0))):
        states.position[:], states.effort[:] = position, effort
        states.publish(Publisher(), Time(sec=7, nanosec=9))
        (message,) = published
        assert numbers(message) == [list(position), [], list(effort)]
        assert message.name == ["one", "three"]
        assert message.header.stamp == Time(sec=7, nanosec=9)
        published.clear()
