# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A robot that floats and a sled in a tilted plane, by name, between processes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from support.nodes.ros_ears import DiagnosticsEar, Ear
from support.nodes.ros_fixtures import Ros, StartProcess
from trajectory_msgs.msg import MultiDOFJointTrajectory

from uk_dynamics import Mechanism, State
from uk_dynamics.ros.timing.clock import nanoseconds

pytestmark = [pytest.mark.ros, pytest.mark.together("floating base")]

BODY = """<inertial><mass value="2"/>
  <inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0" ixz="0" iyz="0"/></inertial>"""
# A slope of 0.3 rad whose normal is the sled's axis; the robot has an arm.
URDF = f"""<robot name="two">
  <link name="world"/>
  <link name="robot">{BODY}</link> <link name="arm">{BODY}</link> <link name="sled">{BODY}</link>
  <joint name="flight" type="floating"><parent link="world"/><child link="robot"/>
    <origin xyz="1 2 3" rpy="0.1 0.2 0.3"/></joint>
  <joint name="shoulder" type="continuous"><parent link="robot"/><child link="arm"/>
    <origin xyz="0.5 0 0"/><axis xyz="0 1 0"/></joint>
  <joint name="slope" type="planar"><parent link="world"/><child link="sled"/>
    <origin xyz="-1 0 0" rpy="0.3 0 0"/><axis xyz="0 0 1"/></joint>
</robot>"""
MACHINE = """schema: 1
model: {urdf: two.urdf}
actuators: {motor: {joint: shoulder, effort_limit: 10.0}}
initial_velocity: {flight.wx: 1.0, flight.vy: 0.5, shoulder: 2.0, slope.wz: 1.5}
"""


def test_each_has_its_own_topic(ros: Ros, start_node: StartProcess, tmp_path: Path) -> None:
    (tmp_path / "two.urdf").write_text(URDF)
    file = tmp_path / "two.yaml"
    file.write_text(MACHINE)
    mechanism = Mechanism.from_file(file)
    model, evaluator = mechanism.model, mechanism.dynamics("interpreted")
    node = ros.node()
    joints = Ear(node, JointState, "joint_states")
    odoms = {base.name: Ear(node, Odometry, f"{base.name}/odom") for base in model.bases}
    answers = Ear(node, MultiDOFJointTrajectory, "forward_dynamics/base_dynamics")
    diagnostics = DiagnosticsEar(node, "forward_dynamics")
    common = {"mechanism": str(file), "backend": "interpreted"}
    start_node("forward_dynamics", parameters=common)
    start_node("simulator", parameters={**common, "rate": 100.0})

    def by_stamps() -> list[dict[int, Any]]:
        return [
            {nanoseconds(m.header.stamp): m for m in ear.messages}
            for ear in (joints, *odoms.values(), answers)
        ]

    def both() -> set[int]:
        return set.intersection(*map(set, by_stamps()))

    ros.until(lambda: len(answers.messages) > 50 and len(both()) > 20, "answers")
    by_stamp, stamps = by_stamps(), both()
    for stamp in sorted(stamps):
        state, *bases, answer = (messages[stamp] for messages in by_stamp)
        q, v = model.neutral(), np.zeros(model.nv)
        q[model.position_of_joint], v[model.velocity_of_joint] = state.position, state.velocity
        for base, message in zip(model.bases, bases, strict=True):
            assert (message.header.frame_id, message.child_frame_id) == ("world", base.link)
            base.place(q, v, pose(message), six(message.twist.twist))
        expected = evaluator.evaluate(State(0.0, q, v)).qdd
        assert list(answer.joint_names) == ["flight", "slope"]
        for number, base in enumerate(model.bases):
            found = six(answer.points[0].accelerations[number])
            # accelerations of size ten; the state went through pose and twist in the world
            np.testing.assert_allclose(found, base.twist(expected), atol=1e-11, rtol=0)
    last = pose(by_stamp[2][max(stamps)])
    # down a slope of 0.3 rad about x, which z = y tan 0.3 describes
    assert last[1] < -1e-3
    assert last[2] == pytest.approx(last[1] * np.tan(0.3), abs=1e-9)
    ros.until(
        lambda: diagnostics.message and "nothing usable" not in diagnostics.message, "a report"
    )


def pose(message: Odometry) -> np.ndarray:
    place, turn = message.pose.pose.position, message.pose.pose.orientation
    return np.array([place.x, place.y, place.z, turn.x, turn.y, turn.z, turn.w])


def six(twist: Any) -> np.ndarray:
    return np.array(
        [getattr(part, axis) for part in (twist.linear, twist.angular) for axis in "xyz"]
    )
