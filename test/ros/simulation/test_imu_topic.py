# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The simulator's inertial unit: free fall, rest, bias, and what is wrong with its parameters."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from sensor_msgs.msg import Imu
from support.floating_five_bar import floating_five_bar
from support.nodes.ros_ears import Ear, overrides
from support.nodes.ros_fixtures import Ros, StartProcess

from uk_dynamics.exceptions import InputError
from uk_dynamics.ros.nodes.simulator import Simulator
from uk_dynamics.ros.timing.clock import nanoseconds

pytestmark = [pytest.mark.ros, pytest.mark.together("floating base")]


def heard(ros: Ros, start_node: StartProcess, **parameters: Any) -> list[Imu]:
    ear = Ear(ros.node(), Imu, "imu")
    start_node("simulator", parameters={"rate": 100.0, "backend": "interpreted", **parameters})
    ros.until(lambda: len(ear.messages) > 30, "samples")
    return ear.messages[1:]  # the first one has none before it


def numbers(messages: list[Imu]) -> tuple[np.ndarray, np.ndarray]:
    """Angular velocities and specific forces, (n, 3) each."""
    found = [
        [
            [getattr(part, axis) for axis in "xyz"]
            for part in (m.angular_velocity, m.linear_acceleration)
        ]
        for m in messages
    ]
    return np.array(found)[:, 0], np.array(found)[:, 1]


def test_a_machine_that_falls_feels_nothing_but_its_bias(
    ros: Ros, start_node: StartProcess, tmp_path: Path
) -> None:
    messages = heard(
        ros,
        start_node,
        mechanism=str(floating_five_bar(tmp_path)),
        imu_gyroscope_bias="0.1 -0.2 0.3",
        imu_accelerometer_bias="1 2 3",
    )
    rates, forces = numbers(messages)
    # nothing but gravity acts: no part of it moves relative to another
    np.testing.assert_allclose(rates, [[0.1, -0.2, 0.3]] * len(rates), atol=1e-9, rtol=0)
    np.testing.assert_allclose(forces, [[1.0, 2.0, 3.0]] * len(forces), atol=1e-9, rtol=0)
    message = messages[0]
    assert message.header.frame_id == "ground"
    assert message.orientation_covariance[0] == -1.0, "no orientation is measured"
    stamps = [nanoseconds(m.header.stamp) for m in messages]
    assert np.diff(stamps).min() > 0


def test_a_link_of_a_fixed_machine(ros: Ros, start_node: StartProcess) -> None:
    """At rest under brakes: gravity, and noise as declared in the covariance."""
    messages = heard(
        ros,
        start_node,
        mechanism="five_bar",
        imu_link="coupler_link",
        imu_accelerometer_noise=0.01,
        brakes=True,
    )
    _, forces = numbers(messages)
    sizes = np.linalg.norm(forces, axis=1)
    # a density of 0.01 at 100 Hz is a deviation of 0.1
    assert abs(sizes.mean() - 9.81) < 0.1
    assert 0.03 < sizes.std() < 0.3
    assert messages[0].linear_acceleration_covariance[0] == pytest.approx(0.01, abs=1e-12)


def test_biases_are_three_numbers(ros: Ros, tmp_path: Path) -> None:
    file = floating_five_bar(tmp_path)
    with pytest.raises(InputError, match=r'imu_gyroscope_bias: expected three numbers.*"0 1"'):
        ros.add(Simulator(**overrides(mechanism=str(file), imu_gyroscope_bias="0 1")))
