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
from support.nodes.floating_machine import state_of
from support.nodes.ros_ears import DiagnosticsEar, Ear
from support.nodes.ros_fixtures import Ros, StartProcess
from support.robot_and_sled import robot_and_sled
from trajectory_msgs.msg import MultiDOFJointTrajectory

from uk_dynamics import Mechanism
from uk_dynamics.ros.timing.clock import nanoseconds

pytestmark = [pytest.mark.ros, pytest.mark.together("floating base")]


@pytest.mark.slow
def test_each_has_its_own_topic(ros: Ros, start_node: StartProcess, tmp_path: Path) -> None:
    file = robot_and_sled(tmp_path)
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
        for base, message in zip(model.bases, bases, strict=True):
            assert (message.header.frame_id, message.child_frame_id) == ("world", base.link)
        expected = evaluator.evaluate(state_of(mechanism, state, *bases)).qdd
        assert list(answer.joint_names) == ["flight", "slope"]
        for number, base in enumerate(model.bases):
            found = six(answer.points[0].accelerations[number])
            # accelerations of size ten; the state went through pose and twist in the world
            np.testing.assert_allclose(found, base.twist(expected), atol=1e-11, rtol=0)
    last = by_stamp[2][max(stamps)].pose.pose.position
    # down a slope of 0.3 rad about x, which z = y tan 0.3 describes
    assert last.y < -1e-3
    assert last.z == pytest.approx(last.y * np.tan(0.3), abs=1e-9)
    ros.until(
        lambda: diagnostics.message and "nothing usable" not in diagnostics.message, "a report"
    )


def six(twist: Any) -> np.ndarray:
    return np.array(
        [getattr(part, axis) for part in (twist.linear, twist.angular) for axis in "xyz"]
    )
