# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Bases by the stamps of joint states: lag, time that goes back, TF; messages on the wire."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Time
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from sensor_msgs.msg import Imu
from support.floating_five_bar import floating_five_bar, random_state
from support.nodes.floating_machine import odometry
from support.nodes.ros_fixtures import Ros

from uk_dynamics import Mechanism, State
from uk_dynamics.exceptions import InputError
from uk_dynamics.ros.diagnostics.publisher import MessageProblems
from uk_dynamics.ros.topics.base_input import BASE_SETTINGS, BaseInput
from uk_dynamics.ros.topics.odometry_topics import BasePublishers
from uk_dynamics.ros.topics.serialized import IMU, NumbersMessage, SerializedOdometry

pytestmark = [pytest.mark.ros, pytest.mark.together("floating base")]

SECOND = 1_000_000_000


@pytest.fixture(scope="module")
def mechanism(tmp_path_factory: pytest.TempPathFactory) -> Mechanism:
    return Mechanism.from_file(floating_five_bar(tmp_path_factory.mktemp("machine")))


@pytest.fixture
def state(mechanism: Mechanism) -> State:
    return random_state(mechanism, np.random.default_rng(5))


class Input:
    """The input of a node, to which messages are given by hand."""

    def __init__(self, ros: Ros, mechanism: Mechanism, **settings: Any) -> None:
        node = ros.node()
        self.mechanism, self.heard = mechanism, 0
        self.problems: list[str] = []
        problems = MessageProblems(node)
        problems.note = lambda topic, problem: self.problems.append(problem)  # type: ignore[method-assign]
        given = BASE_SETTINGS | settings
        self.base = BaseInput(node, mechanism.model, problems, given, self._hear)

    def _hear(self) -> None:
        self.heard += 1

    def take(self, state: State, stamp: int) -> None:
        seconds, nanoseconds = divmod(stamp, SECOND)
        message = odometry(self.mechanism, state, Time(sec=seconds, nanosec=nanoseconds))
        self.base._on_odometry(0, SerializedOdometry(), serialize_message(message))

    def found(self, stamp: int) -> State | None:
        model = self.mechanism.model
        q, v = model.neutral(), np.zeros(model.nv)
        return State(0.0, q, v) if self.base.fill(stamp, q, v) else None


def place(mechanism: Mechanism, state: State) -> np.ndarray:
    return mechanism.model.bases[0].pose(state.q)


def test_stamps_have_to_be_the_same(ros: Ros, mechanism: Mechanism, state: State) -> None:
    listener = Input(ros, mechanism)
    listener.take(state, SECOND)
    for stamp in (SECOND - 1, SECOND + 1):
        assert listener.found(stamp) is None
    found = listener.found(SECOND)
    assert found is not None
    assert place(mechanism, found) == pytest.approx(place(mechanism, state), abs=1e-15)


def test_a_base_that_lags_is_moved_on_by_its_twist(
    ros: Ros, mechanism: Mechanism, state: State
) -> None:
    listener = Input(ros, mechanism, base_lag=0.01)
    listener.take(state, SECOND)
    assert listener.found(SECOND + 10_000_001) is None
    model, base = mechanism.model, mechanism.model.bases[0]
    w = np.zeros(model.nv)
    w[base.velocity] = 0.01 * state.v[base.velocity]
    expected = place(mechanism, State(0.0, model.integrate(state.q, w), state.v))
    found = listener.found(SECOND + 10_000_000)
    assert found is not None
    assert place(mechanism, found) == pytest.approx(expected, abs=1e-14)
    assert np.abs(expected - place(mechanism, state)).max() > 1e-3


def test_what_was_known_is_forgotten_when_time_goes_back(
    ros: Ros, mechanism: Mechanism, state: State
) -> None:
    listener = Input(ros, mechanism)
    for stamp in range(10):
        listener.take(state, stamp)
    assert listener.found(3) is not None
    listener.take(state, 0)
    assert listener.found(3) is None


def test_only_so_many_are_kept(ros: Ros, mechanism: Mechanism, state: State) -> None:
    listener = Input(ros, mechanism)
    for stamp in range(1000):
        listener.take(state, stamp)
    assert listener.found(999) is not None
    assert listener.found(900) is None
    assert listener.heard == 1000
    assert not listener.problems


def test_transforms_are_differentiated(ros: Ros, mechanism: Mechanism, state: State) -> None:
    """Two transforms of a constant twist give that twist, exactly."""
    model, base = mechanism.model, mechanism.model.bases[0]
    listener = Input(ros, mechanism)
    listener.base._poses = {}  # as where tf2_msgs is installed
    publishers = BasePublishers(ros.node(), model.bases, "odom")
    w = np.zeros(model.nv)
    w[base.velocity] = 0.02 * state.v[base.velocity]
    for number, q in enumerate((state.q, model.integrate(state.q, w))):
        stamp = Time(sec=1, nanosec=20_000_000 * number)
        (transform,) = publishers.transforms(stamp, q)
        assert (transform.header.frame_id, transform.child_frame_id) == ("odom", "ground")
        assert listener.base.on_transforms([transform]) == ""
    found = listener.found(SECOND + 20_000_000)
    assert found is not None
    # rounding of a pose over 0.02 s
    expected = base.twist(state.v)
    np.testing.assert_allclose(base.twist(found.v), expected, atol=1e-12, rtol=0)


def test_tf_needs_its_messages(ros: Ros, mechanism: Mechanism) -> None:
    try:
        import tf2_msgs.msg  # noqa: F401
    except ImportError:
        with pytest.raises(InputError, match="base_source: needs tf2_msgs"):
            Input(ros, mechanism, base_source="tf")
    else:
        Input(ros, mechanism, base_source="tf")


def test_an_odometry_on_the_wire(mechanism: Mechanism, state: State) -> None:
    reader = SerializedOdometry()
    for child in ("ground", "a/ground", "ground", ""):
        message = odometry(mechanism, state, Time(sec=-2, nanosec=7))
        message.child_frame_id = child
        message.pose.covariance[0] = 1.5
        message.twist.covariance[35] = 2.5
        for data in (serialize_message(message), swapped(message)):
            reader.read(data)
            assert (reader.frame, reader.child, reader.stamp) == ("odom", child, 7 - 2 * SECOND)
            position = message.pose.pose.position
            assert list(reader.numbers[:3]) == [position.x, position.y, position.z]
            assert (reader.numbers[7], reader.numbers[-1]) == (1.5, 2.5)


def swapped(message: Odometry) -> bytes:
    """As a machine with the other order of bytes writes it."""
    frame, child = (text.encode() + b"\0" for text in ("odom", message.child_frame_id))
    data = struct.pack(">iII", message.header.stamp.sec, message.header.stamp.nanosec, len(frame))
    data += frame
    data += bytes(-len(data) % 4) + struct.pack(">I", len(child)) + child
    data += bytes(-len(data) % 8)
    pose, twist = message.pose.pose, message.twist.twist
    numbers = [
        *(getattr(pose.position, axis) for axis in "xyz"),
        *(getattr(pose.orientation, axis) for axis in "xyzw"),
        *message.pose.covariance,
        *(getattr(part, axis) for part in (twist.linear, twist.angular) for axis in "xyz"),
        *message.twist.covariance,
    ]
    return b"\0\0\0\0" + data + struct.pack(f">{len(numbers)}d", *numbers)


def test_an_imu_on_the_wire() -> None:
    message = Imu()
    message.header.frame_id = "an_imu"
    writer = NumbersMessage(message, IMU)
    writer.numbers[:] = np.arange(IMU)

    class Ear:
        def publish(self, data: bytes) -> None:
            self.heard: Imu = deserialize_message(data, Imu)

    ear = Ear()
    writer.publish(ear, Time(sec=3, nanosec=4))
    heard = ear.heard
    assert (heard.header.stamp, heard.header.frame_id) == (Time(sec=3, nanosec=4), "an_imu")
    assert (heard.orientation.w, heard.angular_velocity.x) == (3.0, 13.0)
    assert heard.linear_acceleration.z == 27.0
    assert list(heard.linear_acceleration_covariance) == list(range(28, 37))
