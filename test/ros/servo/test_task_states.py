# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What servo_controller publishes of its tasks row by row, and what recordings make of it."""

from __future__ import annotations

import math
from itertools import count

import numpy as np
import pytest

pytest.importorskip("rclpy")

from sensor_msgs.msg import JointState
from support.nodes.ros_ears import Ear
from support.nodes.ros_fixtures import Ros
from support.nodes.servo_bench import Bench
from trajectory_msgs.msg import JointTrajectory

import uk_dynamics as ukd
from uk_dynamics.cli.output.report_page import report_page
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.ros.timing.clock import nanoseconds
from uk_dynamics.simulation.recording.mcap_writer import McapReader

pytestmark = pytest.mark.ros

ROW = "sweep"
ROUNDING = 1e-9  # of stamps in ns, times the speed of the reference


def swing(t: float) -> tuple[float, float, float]:
    """Reference of five_bar_sweep: value, rate, acceleration."""
    omega, angle = math.pi, math.pi * t - 1.570796
    return (
        0.9 + 0.3 * math.sin(angle),
        0.3 * omega * math.cos(angle),
        -0.3 * omega * omega * math.sin(angle),
    )


class TaskBench(Bench):
    """The bench, with ears for the tasks."""

    def __init__(self, ros: Ros, **parameters: object) -> None:
        super().__init__(ros, autostart=True, state_timeout=60.0, **parameters)
        self.states = Ear(self.node, JointState, "servo_controller/task_states")
        self.references = Ear(self.node, JointTrajectory, "servo_controller/task_references")

    def heard(self, seconds: float) -> tuple[JointState, JointTrajectory]:
        """Both messages about one state; what is there at the first has the time 0."""
        stamp = (100 + int(seconds)) * 10**9 + round(seconds % 1.0 * 1e9)

        def of(ear: Ear) -> list:
            return [m for m in ear.messages if nanoseconds(m.header.stamp) == stamp]

        self.ros.until(lambda: self.send(seconds) or (of(self.states) and of(self.references)))
        return of(self.states)[0], of(self.references)[0]


def test_errors_and_references_of_every_row(ros: Ros) -> None:
    bench = TaskBench(ros)
    bench.command(0.0)
    # said again it is answered as before, so each time is a new one until both are heard
    steps = count(1)
    ros.until(
        lambda: (
            bench.send(next(steps) * 1e-3) or (bench.states.messages and bench.references.messages)
        )
    )
    tasks = ukd.Tasks.from_file("five_bar_sweep", bench.mechanism)
    law = ukd.ServoController(bench.mechanism, tasks)
    for t in (0.2, 0.9):  # the motor can do what is asked, and cannot
        states, references = bench.heard(t)
        value, rate, acceleration = swing(t)
        assert list(states.name) == list(references.joint_names) == [ROW]
        assert states.position[0] == pytest.approx(0.7 - value, abs=ROUNDING)
        assert states.velocity[0] == pytest.approx(-rate, abs=10.0 * ROUNDING)
        owed = law.command(State(t, bench.q, np.zeros(4))).residual
        assert states.effort[0] == pytest.approx(owed[0], abs=1e-5)
        (point,) = references.points
        assert point.positions[0] == pytest.approx(value, abs=ROUNDING)
        assert point.velocities[0] == pytest.approx(rate, abs=10.0 * ROUNDING)
        assert point.accelerations[0] == pytest.approx(acceleration, abs=10.0 * ROUNDING)


def test_with_trajectories_it_is_the_measured_machine_that_is_off(ros: Ros) -> None:
    bench = TaskBench(
        ros, command_mode="trajectory", update_rate=100.0, position_jump=10.0, tracking_warning=0.2
    )
    steps = count(1)

    def off() -> bool:
        """The desired motion goes its way, the machine stands still."""
        bench.send(next(steps) * 0.01)
        return bool(bench.states.messages) and bench.states.messages[-1].position[0] < -0.3

    ros.until(off, "the reference to move on")
    asked = {
        nanoseconds(m.header.stamp): m.points[0].positions[0] for m in bench.references.messages
    }
    told = [m for m in bench.states.messages if nanoseconds(m.header.stamp) in asked]
    assert len(told) > 5
    for message in told:
        error = 0.7 - asked[nanoseconds(message.header.stamp)]
        assert message.position[0] == pytest.approx(error, abs=1e-12)
    bench.diagnostics.until(ros, "task sweep is off by 0.")


def test_without_tasks_there_is_nothing_to_tell(ros: Ros) -> None:
    bench = TaskBench(ros, mode="hold")
    steps = count(1)
    for _ in range(30):
        bench.command(next(steps) * 1e-3)
    assert not bench.states.messages
    assert bench.set("mode", "tasks").successful
    ros.until(lambda: bench.command(next(steps) * 1e-3) is not None and bench.states.messages)
    assert list(bench.states.messages[-1].name) == [ROW]


@pytest.mark.slow
def test_a_live_recording_has_tracking_errors(ros: Ros, start_node, tmp_path) -> None:
    pytest.importorskip("mcap_ros2")
    pytest.importorskip("matplotlib", reason="reports are drawn")
    from uk_dynamics.ros.topics.topic_recorder import TopicRecorder

    path = tmp_path / "live.mcap"
    mechanism = ukd.Mechanism.from_file("five_bar")
    recorder = TopicRecorder(ros.node("recorder"), mechanism, path)
    rate = {"mechanism": "five_bar"}
    start_node("simulator", parameters={**rate, "rate": 100.0, "brakes": True})
    control = {"tasks": "five_bar_sweep", "autostart": True, "update_rate": 100.0}
    start_node("servo_controller", parameters={**rate, **control, "state_timeout": 20.0})
    told = ("/servo_controller/task_states", "/servo_controller/task_references")
    ros.until(lambda: min(recorder.counts[t] for t in told) > 100, "tasks at work", 60.0)
    recorder.close()
    motion = ukd.Trajectory.load(path)
    assert motion.names.task_rows == (ROW,)
    followed = {
        nanoseconds(message.content.header.stamp): message.content.points[0].positions[0]
        for message in McapReader(path).messages()
        if message.topic == told[1]
    }
    crank = motion.names.positions.index("crank")
    first = next(
        nanoseconds(m.content.header.stamp)
        for m in McapReader(path).messages()
        if m.topic == "/joint_states"
    )
    start = first - round(motion.t[0] * 1e9)
    checked = 0
    for t, q, error in zip(motion.t, motion.q[:, crank], motion.tracking_error[:, 0], strict=True):
        stamp = start + round(t * 1e9)
        if stamp in followed and not np.isnan(error):
            assert error + followed[stamp] == pytest.approx(q, abs=1e-12)
            checked += 1
    assert checked > 50
    page = report_page(motion, path.name, "")
    assert f"({ROW})" in page
    assert "nan" not in page
