"""Joint states read from and written to the wire, compared with what rclpy makes of them."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy")

import numpy as np
from builtin_interfaces.msg import Time
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import JointState

from uk_dynamics.ros.topics import serialized_joint_states
from uk_dynamics.ros.topics.serialized_joint_states import SerializedEfforts, SerializedJointState

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
    monkeypatch.setattr(serialized_joint_states, "deserialize_message", None)
    sample.read(serialize_message(second))
    assert numbers(sample) == numbers(second)
    other = JointState(name=["a", "bcd"], position=[1.0, 2.0], effort=[3.0, 4.0])
    for message in (other, a_message(rng, ["a", "bcd"], "World", FIELDS)):
        with pytest.raises(TypeError, match="not callable"):  # rclpy is asked
            sample.read(serialize_message(message))


def test_efforts_are_written_in_their_places():
    class Publisher:
        def publish(self, data: bytes) -> None:
            self.message = deserialize_message(data, JointState)

    publisher = Publisher()
    commands = SerializedEfforts(["one", "three"])
    for efforts in (np.array([1.5, -2.0]), np.array([0.0, 3e-300])):
        commands.publish(publisher, Time(sec=7, nanosec=9), efforts)
        assert list(publisher.message.effort) == efforts.tolist()
        assert publisher.message.name == ["one", "three"]
        assert publisher.message.header.stamp == Time(sec=7, nanosec=9)
        assert not publisher.message.position
