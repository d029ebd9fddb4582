# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""joint_state_completer publishes where a walking machine is, from what is measured on it."""

from __future__ import annotations

from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Time
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu, JointState
from support.nodes.ros_ears import DiagnosticsEar, Ear
from support.nodes.ros_fixtures import Ros, StartProcess
from support.walking_machine import CRANK, floating_plantigrade, walk, written

from uk_dynamics.ros.timing.clock import nanoseconds
from uk_dynamics.simulation import InertialUnit

pytestmark = [pytest.mark.ros, pytest.mark.together("floating base")]

PERIOD = 0.01


class Sensors:
    """Encoder of the crank, inertial unit and sensors under the feet, without errors."""

    def __init__(self, ros: Ros) -> None:
        self.machine = floating_plantigrade()
        node = self.node = ros.node()
        self._joints = node.create_publisher(JointState, "measured_joint_states", 10)
        self._imu = node.create_publisher(Imu, "imu", 10)
        self._feet = node.create_publisher(JointState, "simulator/contacts", 10)
        self._unit = InertialUnit(self.machine, "trunk")
        ends = ("front", "rear")
        self.names = [f"foot_{side}.{end}" for side in ("left", "right") for end in ends]

    def send(self, step: Any) -> None:
        stamp = Time(sec=10 + int(step.state.t), nanosec=round(step.state.t % 1.0 * 1e9) % 10**9)
        sample = self._unit.sample(step.state)
        imu = Imu()
        imu.header.stamp, imu.header.frame_id = stamp, "robot/trunk"
        rate, force = imu.angular_velocity, imu.linear_acceleration
        rate.x, rate.y, rate.z = sample.angular_velocity.tolist()
        force.x, force.y, force.z = sample.specific_force.tolist()
        self._imu.publish(imu)
        feet = JointState(name=[f"{name}.normal" for name in self.names])
        feet.effort = array("d", [9.0 * (name in step.standing) for name in self.names])
        self._feet.publish(feet)
        joints = JointState(name=[CRANK])
        joints.header.stamp = stamp
        model = self.machine.model
        joints.position = array("d", [step.state.q[model.position_index(CRANK)]])
        joints.velocity = array("d", [step.state.v[model.velocity_index(CRANK)]])
        self._joints.publish(joints)


@pytest.mark.slow
def test_the_base_of_a_walk(ros: Ros, start_node: StartProcess, tmp_path: Path) -> None:
    sensors = Sensors(ros)
    bases = Ear(sensors.node, Odometry, "odom")
    states = Ear(sensors.node, JointState, "joint_states")
    diagnostics = DiagnosticsEar(sensors.node, "joint_state_completer")
    start_node(
        "joint_state_completer",
        parameters={"mechanism": str(written(tmp_path)), "odometry": True, "state_timeout": 60.0},
    )
    diagnostics.until(ros, "nothing on imu yet")
    steps = list(walk(sensors.machine, 1.2, PERIOD, 0.3))
    for step in steps:
        heard = len(states.messages)
        sensors.send(step)
        ros.until(lambda heard=heard: len(states.messages) > heard, "a completed state")
    ros.until(lambda: len(bases.messages) > len(steps) - 10, "its bases")
    base, last = sensors.machine.model.bases[0], bases.messages[-1]
    truth = {round(step.state.t / PERIOD): base.pose(step.state.q)[:3] for step in steps}
    stamp = nanoseconds(last.header.stamp) - 10 * 10**9
    at = truth[round(stamp * 1e-9 / PERIOD)]
    place = last.pose.pose.position
    found = np.array([place.x, place.y, place.z])
    assert np.linalg.norm(at - truth[0]) > 0.05, "it walked"
    # sensors and messages come one after the other: a sample may be of the state before
    assert np.abs(found - at).max() < 1.5e-3
    assert (last.header.frame_id, last.child_frame_id) == ("odom", "trunk")
    assert 0.0 < last.pose.covariance[0] < 1e-3
    stamps = {nanoseconds(m.header.stamp) for m in states.messages}
    assert all(nanoseconds(m.header.stamp) in stamps for m in bases.messages)

    others = sensors.node.create_publisher(Odometry, "odom", 10)
    ros.until(lambda: "others" in diagnostics.values.get("odometry", ""), "others are preferred")
    sensors.node.destroy_publisher(others)
    ros.until(lambda: diagnostics.values.get("odometry") == "legs", "the legs again")
