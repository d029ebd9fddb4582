# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Gains, limits, preload and mode as parameters of a servo_controller that drives."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("rclpy")

from support.nodes.ros_fixtures import Ros
from support.nodes.servo_bench import Bench

from uk_dynamics.control.hold_and_gravity_compensation import GravityCompensation, Hold
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.resources import share_directory

pytestmark = pytest.mark.ros

GRAVITY = "gravity_compensation"


class Driving(Bench):
    """A controller that is active; each state has a stamp of its own."""

    def __init__(self, ros: Ros, **parameters: Any) -> None:
        still = {"autostart": True, "state_timeout": 60.0, "transfer_time": 0.0}
        still["position_jump"] = 10.0
        super().__init__(ros, **{**still, **parameters})
        self._clock = itertools.count(1)
        if "crank" in self.mechanism.joint_names:
            self.q = self.mechanism.assemble(crank=0.61)  # a little off the task

    def effort(self) -> float:
        """Effort at a state that was sent from now on."""
        for _ in range(3):
            self.ros.spin_once(0.0)
        return self.command(next(self._clock) * 1e-6)

    def until(self, effort: float) -> None:
        # times are microseconds apart, efforts change by some 100 N m per s
        what = f"an effort of {effort:.6g} N m"
        self.ros.until(lambda: self.effort() == pytest.approx(effort, abs=0.02), what)

    def law(self) -> ServoController:
        return ServoController(self.mechanism, Tasks.from_file("five_bar_sweep", self.mechanism))

    @property
    def state(self) -> State:
        return State(0.0, self.q, np.zeros(4))


def test_gains_take_effect_while_it_drives(ros: Ros) -> None:
    bench, law = Driving(ros), None
    law = bench.law()
    bench.until(float(law.command(bench.state).efforts[0]))
    for name, value in (("frequency", 8.0), ("frequency", 2), ("damping_ratio", 0.5)):
        assert bench.set(f"gains.sweep.{name}", value).successful
        gains = law.gains["sweep"]._asdict()
        law.gains.set("sweep", **{**gains, name: value})
        bench.until(float(law.command(bench.state).efforts[0]))


def test_modes_are_changed_while_it_drives(ros: Ros) -> None:
    bench = Driving(ros)
    follow = float(bench.law().command(bench.state).efforts[0])
    carry = float(GravityCompensation(bench.mechanism).command(bench.state).efforts[0])
    assert abs(follow - carry) > 1.0
    bench.until(follow)
    assert bench.set("mode", GRAVITY).successful
    bench.until(carry)
    ros.until(lambda: bench.diagnostics.values.get("mode") == GRAVITY, "the mode in diagnostics")
    assert bench.set("mode", "hold").successful
    hold = Hold(bench.mechanism)
    bench.until(float(hold.command(bench.state).efforts[0]))
    bench.q = bench.mechanism.assemble(crank=0.63)
    bench.until(float(hold.command(bench.state).efforts[0]))
    assert bench.set("hold_frequency", 2.0).successful
    hold.tune(2.0, 1.0)
    bench.until(float(hold.command(bench.state).efforts[0]))
    ros.until(
        lambda: float(bench.diagnostics.values["tracking_error"]) == pytest.approx(0.02, abs=1e-5),
        "the deviation in diagnostics",
    )
    assert bench.set("mode", "tasks").successful
    bench.until(float(bench.law().command(bench.state).efforts[0]))


def test_a_change_goes_over_without_a_step(ros: Ros) -> None:
    bench = Driving(ros, transfer_time=0.1)
    follow = float(bench.law().command(bench.state).efforts[0])
    carry = float(GravityCompensation(bench.mechanism).command(bench.state).efforts[0])
    bench.until(follow)
    assert bench.set("mode", GRAVITY).successful
    for part, left in ((0.0, 1.0), (0.02, 0.896), (0.05, 0.5), (0.08, 0.104), (0.1, 0.0)):
        # the transfer is timed by the stamps of the states
        bench.settle(1.0 + part, carry + left * (follow - carry), 0.02)


def test_limits_are_lowered_at_once_and_never_raised_above_the_file(ros: Ros) -> None:
    bench = Driving(ros)
    bench.q = bench.mechanism.assemble(crank=1.4)
    bench.until(-60.0)
    assert bench.set("limits.crank_motor.effort", 7.0).successful
    bench.until(-7.0)
    ros.until(lambda: bench.diagnostics.values.get("limited_by") == "crank_motor: effort", "why")
    refused = bench.set("limits.crank_motor.effort", 61.0)
    assert not refused.successful
    assert "60" in refused.reason
    bench.until(-7.0)
    assert bench.set("limits.crank_motor.effort", 0.0).successful, "the motor is off"
    bench.until(0.0)
    assert bench.set("limits.crank_motor.effort", 60.0).successful
    bench.until(-60.0)


@pytest.mark.slow
def test_preload_of_redundant_motors(ros: Ros) -> None:
    files = {"mechanism": "coordinated_robots", "tasks": "coordinated_robots_lift"}
    bench = Driving(ros, **files, residual_limit=10.0)
    motor = bench.mechanism.actuators.names[0]
    said = bench.diagnostics
    ros.until(
        lambda: bench.effort() and said.values.get("actuation") == "redundantly actuated", "it"
    )
    before = bench.effort()
    assert bench.set(f"preload.{motor}", 5.0).successful
    ros.until(lambda: abs(bench.effort() - before) > 0.5, "another effort")
    assert bench.set(f"preload.{motor}", 0.0).successful
    bench.until(before)


def test_loops_are_pressed_while_it_drives(ros: Ros, tmp_path: Path) -> None:
    row = "load_seam.x"
    file = tmp_path / "lift.yaml"
    text = (share_directory() / "config" / "tasks" / "coordinated_robots_lift.yaml").read_text()
    file.write_text(f"{text}allocation: {{internal_forces: {{{row}: 10.0}}}}\n")
    bench = Driving(ros, mechanism="coordinated_robots", tasks=str(file), residual_limit=10.0)
    machine = bench.mechanism
    law = ServoController(machine, Tasks.from_file(file, machine))
    state = State(0.0, bench.q, np.zeros(len(bench.q)))
    assert bench.get(f"internal_forces.{row}") == 10.0
    efforts = []
    for force in (10.0, 40.0, 0.0):
        assert bench.set(f"internal_forces.{row}", force).successful
        law.set_internal_forces({row: force})
        efforts.append(law.command(state).efforts)

        def pressed() -> bool:
            bench.effort()
            # times are microseconds apart, efforts change by less than 100 N m per s
            return np.abs(bench.commands.messages[-1].data - efforts[-1]).max() < 0.02

        ros.until(pressed, f"{force} N")
    assert np.abs(efforts[1] - efforts[0]).max() > 1.0
    refused = bench.set(f"internal_forces.{row}", math.inf)
    assert not refused.successful
    assert bench.get(f"internal_forces.{row}") == 0.0


def test_a_row_that_motors_cannot_press_is_refused(ros: Ros, tmp_path: Path) -> None:
    row = Mechanism.from_file("five_bar").row_names[0]
    file = tmp_path / "sweep.yaml"
    text = (share_directory() / "config" / "tasks" / "five_bar_sweep.yaml").read_text()
    file.write_text(f"{text}allocation: {{internal_forces: {{{row}: 0.0}}}}\n")
    bench = Driving(ros, tasks=str(file))
    refused = bench.set(f"internal_forces.{row}", 5.0)
    assert not refused.successful
    assert f"internal forces in {row}" in refused.reason or "redundant rows share" in refused.reason


WRONG = [
    ("gains.sweep.frequency", -1.0, "Min: 0.0, Max: 50.0"),
    ("gains.sweep.frequency", 51.0, "Min: 0.0, Max: 50.0"),
    ("gains.sweep.frequency", math.nan, "nan"),
    ("gains.sweep.damping_ratio", "much", "expected a number"),
    ("gains.sweep.damping_ratio", math.inf, "inf"),
    ("limits.crank_motor.effort", -1.0, "Min: 0.0, Max: 60.0"),
    ("preload.crank_motor", 61.0, "Min: -60.0, Max: 60.0"),
    ("mode", "hodl", "one of tasks, gravity_compensation, hold"),
    ("mode", 3, "a text"),
    ("hold_frequency", 0.0, "0.01"),
    ("transfer_time", -0.1, "Min: 0.0, Max: 60.0"),
    ("update_rate", 100.0, "clean up first"),
    ("command_mode", "joint_state", "clean up first"),
]


def test_bad_values_are_refused_and_change_nothing(ros: Ros) -> None:
    bench = Driving(ros, update_rate=500.0)
    effort = bench.effort()
    for name, value, reason in WRONG:
        before = bench.get(name)
        assert before is not None
        result = bench.set(name, value)
        assert not result.successful, (name, value)
        assert reason in result.reason
        assert bench.get(name) == before
    bench.until(effort)


def test_settings_come_and_go_with_the_files(ros: Ros) -> None:
    options = {"gains.sweep.frequency": 3.0, "limits.crank_motor.effort": 9.0}
    bench = Driving(ros, **options)
    law = bench.law()
    law.gains.set("sweep", 3.0, 1.0)
    law.limits.restrict(np.array([9.0]))
    bench.until(float(law.command(bench.state).efforts[0]))
    assert bench.change("deactivate")
    assert bench.change("cleanup")
    assert bench.get("gains.sweep.frequency") is None
    assert bench.set("tasks", "five_bar_lift").successful
    assert bench.change("configure")
    assert bench.get("gains.sweep.frequency") is None
    (task,) = Tasks.from_file("five_bar_lift", bench.mechanism).names
    assert bench.get(f"gains.{task}.frequency") is not None


def test_a_wrong_value_at_the_start_is_an_error_of_configure(ros: Ros) -> None:
    bench = Bench(ros, **{"gains.sweep.frequency": -3.0})
    assert not bench.change("configure")
    bench.diagnostics.until(ros, "gains.sweep.frequency")
    assert bench.phase == "unconfigured"


def test_drives_with_loops_of_their_own_cannot_be_weightless(ros: Ros) -> None:
    bench = Bench(ros, command_mode="trajectory", update_rate=100.0, autostart=True)
    refused = bench.set("mode", GRAVITY)
    assert not refused.successful
    assert "hold positions" in refused.reason
    assert bench.set("mode", "hold").successful
    with pytest.raises(InputError, match="hold positions"):
        Bench(ros, command_mode="trajectory", update_rate=100.0, autostart=True, mode=GRAVITY)


def test_what_tasks_miss_is_reported_by_name(ros: Ros) -> None:
    bench = Driving(ros, transfer_time=0.2)
    values = bench.diagnostics.values
    ros.until(lambda: bench.effort() and "actuation" in bench.diagnostics.values, "a report")
    values = bench.diagnostics.values
    assert values["actuation"] == "fully actuated"
    assert values["missing.sweep"] == "0"
    assert values["limited_by"] == values["unreachable"] == "none"
    assert values["settled"] == "true"
    bench.q = bench.mechanism.assemble(crank=1.4)
    ros.until(
        lambda: bench.effort() and float(bench.diagnostics.values["missing.sweep"]) > 1.0,
        "what is missing",
    )
    assert bench.diagnostics.values["limited_by"] == "crank_motor: effort"
    assert "tasks do not get their full desired acceleration, sweep: " in bench.diagnostics.message
    assert "effort limit reached: crank_motor" in bench.diagnostics.message
