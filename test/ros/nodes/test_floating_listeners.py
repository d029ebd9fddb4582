# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Other nodes that hear the states of a machine that floats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy")

from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from support.floating_five_bar import floating_five_bar
from support.nodes.ros_ears import DiagnosticsEar, Ear
from support.nodes.ros_fixtures import Ros, StartProcess
from visualization_msgs.msg import MarkerArray

from uk_dynamics import Mechanism
from uk_dynamics.ros.timing.clock import nanoseconds

pytestmark = [pytest.mark.ros, pytest.mark.together("floating base")]


@pytest.mark.slow
def test_marks_are_where_the_base_is(ros: Ros, start_node: StartProcess, tmp_path: Path) -> None:
    file = str(floating_five_bar(tmp_path))
    node = ros.node()
    bases = Ear(node, Odometry, "odom")
    marks = Ear(node, MarkerArray, "mechanism_markers")
    start_node("markers", parameters={"mechanism": file})
    start_node("simulator", parameters={"mechanism": file, "backend": "interpreted"})

    def compared() -> int:
        heights = {nanoseconds(m.header.stamp): m.pose.pose.position.z for m in bases.messages}
        found = 0
        for message in marks.messages:
            frames = next(m for m in message.markers if m.ns == "loop_frames")
            assert frames.header.frame_id == "odom"
            stamp = nanoseconds(frames.header.stamp)
            if stamp in heights:
                # the first pin is on the coupler, 0.56 m above the ground's origin, as is known
                above = frames.points[0].z - heights[stamp]
                assert above == pytest.approx(np.sin(0.6), abs=0.01)
                found += 1
        return found

    ros.until(lambda: compared() > 3, "marks of states whose base is known")


@pytest.mark.slow
def test_nothing_pushes_a_machine_that_falls(
    ros: Ros, start_node: StartProcess, tmp_path: Path
) -> None:
    file = floating_five_bar(tmp_path)
    names = Mechanism.from_file(file).model.velocity_names[:6]
    node = ros.node()
    efforts = Ear(node, JointState, "wrench_observer/external_efforts")
    diagnostics = DiagnosticsEar(node, "wrench_observer")
    motors = node.create_publisher(Float64MultiArray, "effort_controller/commands", 10)
    start_node("wrench_observer", parameters={"mechanism": str(file)})
    start_node(
        "simulator", parameters={"mechanism": str(file), "backend": "interpreted", "rate": 250.0}
    )

    def moved() -> bool:
        motors.publish(Float64MultiArray(data=[20.0]))
        return len(efforts.messages) > 60

    ros.until(moved, "external efforts")
    ros.until(lambda: diagnostics.message and "odom" not in diagnostics.message, "a report")
    assert tuple(efforts.messages[-1].name[:6]) == names
    # of 236 N of weight and 20 N m of the motor; states that are missed leave a little for a while
    ros.until(lambda: np.abs(efforts.next(ros).effort).max() < 2.0, "small efforts")
