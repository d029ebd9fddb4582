# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""servo_controller: its life cycle, and what it commands in each part of it."""

from __future__ import annotations

import itertools
import math
from array import array
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from rclpy.parameter import Parameter
from support.nodes.ros_ears import overrides
from support.nodes.ros_fixtures import Ros
from support.nodes.servo_bench import Bench
from trajectory_msgs.msg import JointTrajectoryPoint

from uk_dynamics import ServoController, Tasks
from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.control.hold_and_gravity_compensation import GravityCompensation
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.resources import share_directory
from uk_dynamics.ros.nodes.servo_controller import ServoControllerNode

pytestmark = pytest.mark.ros

WARN, ERROR = b"\x01", b"\x02"


def test_life_cycle_from_configure_to_shutdown(ros: Ros) -> None:
    bench = Bench(ros, state_timeout=60.0)
    assert bench.phase == "unconfigured"
    assert bench.change("configure")
    assert bench.phase == "inactive"
    for _ in range(5):
        bench.send()
        ros.spin_once()
    assert not bench.commands.messages, "an inactive controller is silent"
    assert bench.change("activate")
    assert bench.command() == pytest.approx(bench.expected(0.0), abs=1e-12)  # rounding
    assert bench.change("deactivate")
    ros.until(lambda: bench.commands.messages[-1].data[0] == 0.0, "zero effort")
    assert bench.change("cleanup")
    assert bench.phase == "unconfigured"
    assert bench.change("configure")
    assert bench.change("activate")
    assert bench.command() == pytest.approx(bench.expected(0.0), abs=1e-12)
    assert bench.change("active_shutdown")
    ros.until(lambda: bench.commands.messages[-1].data[0] == 0.0, "zero effort")
    assert bench.phase == "finalized"


def test_impossible_transition_is_answered(ros: Ros) -> None:
    bench = Bench(ros)
    assert not bench.change("activate")
    assert not bench.change("deactivate")
    assert bench.phase == "unconfigured"
    assert bench.change("configure"), "the node is well"


def test_time_of_the_tasks_starts_with_the_first_state_after_activation(ros: Ros) -> None:
    bench = Bench(ros, autostart=True, state_timeout=60.0)
    assert bench.command(50.0) == pytest.approx(bench.expected(0.0), abs=1e-12)
    late = bench.expected(0.75)
    assert abs(late - bench.expected(0.0)) > 1.0, "the reference has moved"
    # the stamps are exact, their difference in s is rounded
    ros.until(lambda: bench.command(50.75) == pytest.approx(late, abs=1e-6), "a later command")
    assert bench.change("deactivate")
    assert bench.change("activate")
    ros.until(
        lambda: bench.command(60.0) == pytest.approx(bench.expected(0.0), abs=1e-6), "the start"
    )


def test_tasks_begin_with_the_first_command_that_arrives(ros: Ros) -> None:
    patience = {"state_timeout": 60.0, "listener_timeout": 60.0}
    bench = Bench(ros, autostart=True, watchdog="required", **patience)
    bench.acknowledge()
    bench.deafen()
    ros.until(lambda: bench.send(50.0) or bench.controller.loop.efforts is not None, "an answer")
    bench.listen()
    assert bench.command(50.75) == pytest.approx(bench.expected(0.0), abs=1e-6)
    late = bench.expected(0.5)
    assert abs(late - bench.expected(0.0)) > 1.0, "the reference moves"
    bench.settle(51.25, late)


def test_tasks_begin_with_the_control_under_a_clock_too(ros: Ros) -> None:
    bench = Bench(ros, autostart=True, state_timeout=60.0, use_sim_time=True)
    late = bench.expected(0.75)
    assert abs(late - bench.expected(0.0)) > 1.0, "the reference moves"
    bench.settle(50.75, bench.expected(0.0))  # stamps of 150.75 s
    bench.settle(51.5, late)


@pytest.mark.slow
def test_a_machine_that_moves_in_time_shares_its_clock_with_the_tasks(
    ros: Ros, tmp_path: Path
) -> None:
    file = tmp_path / "five_bar.yaml"
    text = (share_directory() / "config" / "five_bar.yaml").read_text()
    # Too little to be seen in the efforts, and the rows that hold the coupler do not know of it.
    drive = "forces: {hum: {type: expression, joints: {crank: 1.0}, expression: 1e-15*sin(t)}}"
    file.write_text(f"{text}\n{drive}\n")
    bench = Bench(ros, mechanism=str(file), autostart=True, state_timeout=60.0, use_sim_time=True)
    bench.settle(50.75, bench.expected(150.75))


MODES_WITHOUT_TASKS = ("gravity_compensation", "hold")


@pytest.mark.parametrize("mode", MODES_WITHOUT_TASKS)
def test_modes_that_need_no_tasks(ros: Ros, mode: str) -> None:
    bench = Bench(ros, tasks="", mode=mode, autostart=True, state_timeout=60.0)
    weight = GravityCompensation(bench.mechanism).compute(bench.mechanism.state(bench.q))
    # at rest both carry the weight and nothing else
    assert bench.command() == pytest.approx(weight["crank_motor"], abs=1e-9)
    assert abs(weight["crank_motor"]) > 1.0
    refused = bench.set("mode", "tasks")
    assert not refused.successful
    assert "there are no tasks" in refused.reason
    other = next(one for one in MODES_WITHOUT_TASKS if one != mode)
    assert bench.set("mode", other).successful
    bench.settle(0.1, weight["crank_motor"])
    assert bench.get("gains.sweep.frequency") is None


def test_following_tasks_needs_their_file(ros: Ros) -> None:
    bench = Bench(ros, tasks="")
    assert not bench.change("configure")
    bench.diagnostics.until(ros, "parameter tasks: name a tasks file")
    assert "mode gravity_compensation, hold: none" in bench.diagnostics.message
    assert bench.set("mode", "hold").successful
    assert bench.change("configure"), "now it needs none"


def test_incomplete_states_are_named_and_not_answered(ros: Ros) -> None:
    bench = Bench(ros, autostart=True, state_timeout=60.0)
    bench.command()
    # said once and answered unlike all before it, which have been answered by then
    bench.send(0.5)
    last = bench.expected(0.5)
    ros.until(lambda: abs(bench.commands.messages[-1].data[0] - last) < 1e-6, "the last answer")
    heard = len(bench.commands.messages)
    passive_missing = {
        "name": ["crank"],
        "position": array("d", [0.7]),
        "velocity": array("d", [0.0]),
    }
    wrong = {
        '"coupler", "middle", "right" missing': passive_missing,
        "position of crank is nan": {"position": array("d", [math.nan] * 4)},
    }
    for text, changes in wrong.items():

        def said(changes: dict[str, Any] = changes, text: str = text) -> bool:
            bench.send(**changes)
            return text in bench.diagnostics.values.get("last_message_problem", "")

        ros.until(said, text)
    assert len(bench.commands.messages) == heard
    assert bench.diagnostics.level >= WARN


def test_saturated_effort_and_tracking_error_are_reported(ros: Ros) -> None:
    bench = Bench(ros, autostart=True, state_timeout=60.0)
    bench.q = bench.mechanism.assemble(crank=1.4)
    ros.until(
        lambda: bench.send() or "effort limit reached: crank_motor" in bench.diagnostics.message
    )
    assert abs(bench.commands.messages[-1].data[0]) == 60.0
    assert "task sweep is off by 0.8" in bench.diagnostics.message
    assert bench.diagnostics.values["task_rank"] == "1"


def test_mistakes_in_files_leave_the_node_alive_and_can_be_mended(ros: Ros, tmp_path: Path) -> None:
    bench = Bench(ros, tasks=str(tmp_path / "none.yaml"), state_timeout=60.0)
    assert not bench.change("configure")
    bench.diagnostics.until(ros, "none.yaml")
    assert bench.diagnostics.level == ERROR
    assert bench.phase == "unconfigured"
    bench.controller.set_parameters([Parameter("tasks", value="five_bar_sweep")])
    assert bench.change("configure")
    assert bench.change("activate")
    assert bench.command() != 0.0


def test_autostart_with_a_mistake_in_the_files_is_an_error() -> None:
    import rclpy

    rclpy.init()
    try:
        with pytest.raises(InputError, match="did you mean"):
            ServoControllerNode(
                **overrides(mechanism="five_bar", tasks="five_bar_sweeep", autostart=True)
            )
    finally:
        rclpy.try_shutdown()


def test_a_live_reference_is_followed_and_checked(ros: Ros) -> None:
    bench = Bench(ros, tasks="five_bar_track", state_timeout=60.0, position_jump=10.0)
    bench.change("configure")
    bench.change("activate")
    mechanism = bench.mechanism
    controller = ServoController(mechanism, Tasks.from_file("five_bar_track", mechanism))
    state = State(0.0, bench.q, np.zeros(4))
    held = float(controller.command(state).efforts[0])
    assert abs(bench.command() - held) < 1e-9

    reference = bench.node.create_publisher(
        JointTrajectoryPoint, "servo_controller/track/reference", 10
    )
    sample = ReferenceSample(np.array([0.72]), np.array([0.1]), np.array([-0.2]))
    followed = float(controller.command(state, {"track": sample}).efforts[0])
    assert abs(followed - held) > 0.1
    message = JointTrajectoryPoint(
        positions=sample.value, velocities=sample.rate, accelerations=sample.acceleration
    )
    clock = itertools.count(1)  # a state that is said again is answered as before
    ros.until(
        lambda: (
            reference.publish(message) or abs(bench.command(next(clock) * 1e-3) - followed) < 1e-9
        ),
        "the effort",
    )
    for wrong, problem in (
        (JointTrajectoryPoint(positions=[0.7, 0.8]), "2 numbers in positions, expected 1"),
        (JointTrajectoryPoint(positions=[math.nan]), "positions has nan"),
    ):
        ros.until(
            lambda wrong=wrong, problem=problem: (
                reference.publish(wrong)
                or problem in bench.diagnostics.values.get("last_message_problem", "")
            ),
            problem,
        )
        assert abs(bench.command(next(clock) * 1e-3) - followed) < 1e-9, (
            "the last usable sample holds"
        )


RATE_LIMITED = """
schema: 1
model: {urdf: package://uk_dynamics/urdf/five_bar.urdf.xacro}
actuators:
  crank_motor: {joint: crank, effort_limit: 60.0, rate_limit: 1000.0}
initial_guess: {crank: 0.6, coupler: -0.6, middle: 0.6, right: 0.6}
constraints:
  middle_pin:
    type: frame
    axes: [x, z]
    parent: {link: coupler_link, xyz: [1.0, 0.0, 0.0]}
    child: {link: middle_leg, xyz: [1.0, 0.0, 0.0]}
  right_pin:
    type: frame
    axes: [x, z]
    parent: {link: coupler_link, xyz: [2.0, 0.0, 0.0]}
    child: {link: right_leg, xyz: [1.0, 0.0, 0.0]}
"""


@pytest.mark.slow
def test_rate_limits_count_from_the_measured_efforts(ros: Ros, tmp_path: Path) -> None:
    file = tmp_path / "limited.yaml"
    file.write_text(RATE_LIMITED)
    bench = Bench(ros, mechanism=str(file), update_rate=200.0, autostart=True, state_timeout=60.0)
    bench.q = bench.mechanism.assemble(crank=1.4)  # wants all that the motor has
    measured = array("d", [20.0, 0.0, 0.0, 0.0])
    ros.until(lambda: bench.send(effort=measured) or bench.commands.messages, "the first command")
    # 1000 N m/s for 5 ms, exact but for rounding
    assert bench.commands.messages[-1].data[0] == pytest.approx(15.0, abs=1e-9)
    bench.settle(0.005, 10.0)


@pytest.mark.slow
def test_rate_limits_need_the_rate_of_the_updates(ros: Ros, tmp_path: Path) -> None:
    file = tmp_path / "limited.yaml"
    file.write_text(RATE_LIMITED)
    bench = Bench(ros, mechanism=str(file))
    assert not bench.change("configure")
    bench.diagnostics.until(ros, "a rate limit needs a control period")
    bench.controller.set_parameters([Parameter("update_rate", value=200.0)])
    assert bench.change("configure")


def test_efforts_are_right_for_the_middle_of_a_period(ros: Ros) -> None:
    bench = Bench(ros, autostart=True, state_timeout=60.0, update_rate=100.0)
    bench.q = bench.mechanism.assemble(crank=0.605)  # near, so that no limit is reached
    tasks = Tasks.from_file("five_bar_sweep", bench.mechanism)
    law = ServoController(bench.mechanism, tasks, control_period=0.01)
    expected = [law.command(State(t, bench.q, np.zeros(4))).efforts[0] for t in (0.0, 0.01, 0.02)]
    assert abs(expected[0] - bench.expected(0.0)) > 1e-3, "the middle differs from the start"
    # a state that is said again is answered as before, or this would not be the third
    for i in range(3):
        bench.settle(0.01 * i, expected[i])
        bench.settle(0.01 * i, expected[i])
