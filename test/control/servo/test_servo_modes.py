# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Modes, gains, limits and preload that change while the machine is driven."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.mechanism_builder import near, shipped

from uk_dynamics import Mechanism
from uk_dynamics.control.servo.servo_modes import MODES, ServoModes
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.ros.simulation.simulated_machine import SimulatedMachine

PERIOD = 2e-3


def driven(
    name: str, task_file: str, period: float | None = PERIOD
) -> tuple[ServoModes, SimulatedMachine]:
    mechanism = shipped(name)
    modes = ServoModes(mechanism, Tasks.from_file(task_file, mechanism), period)
    return modes, SimulatedMachine(mechanism, PERIOD)


def drive(modes: ServoModes, machine: SimulatedMachine, seconds: float) -> np.ndarray:
    """Efforts of each step, (steps, motors)."""
    efforts = []
    for _ in range(round(seconds / PERIOD)):
        efforts.append(modes.command(machine.state).efforts)
        machine.command(efforts[-1])
        machine.step()
    return np.array(efforts)


@pytest.mark.slow
@pytest.mark.parametrize("limits", ["60.0", "60.0, rate_limit: 2000.0"], ids=["effort", "rate"])
def test_changes_of_the_mode_make_no_step(limits: str, tmp_path: Path):
    text = (shipped("five_bar").spec.directory / "five_bar.yaml").read_text()
    (tmp_path / "limited.yaml").write_text(text.replace("60.0}", f"{limits}}}"))
    mechanism = Mechanism.from_file(tmp_path / "limited.yaml")
    modes = ServoModes(mechanism, Tasks.from_file("five_bar_sweep", mechanism), PERIOD)
    machine = SimulatedMachine(mechanism, PERIOD)
    drive(modes, machine, 0.3)
    modes.transfer_time = 0.2
    for mode in ("hold", "gravity_compensation", "tasks", "hold", "tasks"):
        before = machine.efforts.copy()
        hard = ServoModes(machine.mechanism, modes.tasks, PERIOD)
        hard.select(mode)
        gap = np.abs(hard.command(machine.state).efforts - before).max()
        modes.select(mode)
        assert modes.mode == mode
        run = drive(modes, machine, 0.22)
        steps = np.abs(np.diff(np.vstack([before, run]), axis=0)).max(axis=1)
        assert steps[0] < 1e-9, "the first command is the last one of the other mode"
        # at first the fading part changes little, and all of it by 1.5 of the gap per transfer time
        assert steps[:5].max() < 1.5 * gap * PERIOD / 0.2 + 0.5
        assert steps.max() < 0.5 * max(gap, 60.0), "later the law itself leaves a limit"
        assert not modes.in_transfer


def test_without_a_transfer_the_same_change_is_a_step():
    modes, machine = driven("five_bar", "five_bar_sweep")
    last = drive(modes, machine, 0.3)[-1]
    modes.select("gravity_compensation")
    assert np.abs(modes.command(machine.state).efforts - last).max() > 5.0


def test_without_tasks_there_are_the_other_modes():
    mechanism = shipped("five_bar")
    modes = ServoModes(mechanism, None, PERIOD)
    assert (modes.mode, modes.modes) == ("hold", ("gravity_compensation", "hold"))
    with pytest.raises(UnknownNameError, match='no mode "tasks"; there are: gravity_compensation'):
        modes.select("tasks")
    machine = SimulatedMachine(mechanism, PERIOD)
    begin = machine.state.q.copy()
    drive(modes, machine, 0.3)
    modes.select("gravity_compensation")
    drive(modes, machine, 0.3)
    # weight is carried exactly in both modes: what is left is rounding of some 1e3 steps
    np.testing.assert_allclose(machine.state.q, begin, rtol=0, atol=1e-9)


def test_hold_holds_where_it_begins():
    modes, machine = driven("five_bar", "five_bar_sweep")
    drive(modes, machine, 0.3)
    modes.transfer_time = 0.1
    modes.select("hold")
    begin = machine.state.q.copy()
    drive(modes, machine, 0.6)
    # 5 Hz, critically damped: 15 time constants after the end of the transfer some 1e-5 are left
    np.testing.assert_allclose(machine.state.q, begin, rtol=0, atol=1e-4)
    modes.command(machine.state)
    assert np.abs(modes.tracking_error(machine.state)).max() < 1e-4


def test_gains_change_the_feedback_of_their_task_alone():
    modes, machine = driven("parallel_2dof", "parallel_2dof_line", None)
    law = modes.servo
    (task,) = {name.partition(".")[0] for name in law.row_names}
    off = State(0.0, machine.state.q, machine.state.v + 0.01)
    first = modes.command(off)
    modes.servo.gains.set(task, 2.0, 0.5)
    second = modes.command(off)
    omega = 2.0 * np.pi * 2.0
    old = 2.0 * np.pi * 5.0
    position = modes.tasks.constraints.position_rows
    # what changes is the feedback: fully actuated, so that tasks get what they ask for
    change = first.servo.wanted - second.servo.wanted
    expected = -(2.0 * old - 1.0 * omega) * first.tracking_rate
    expected -= (old**2 - omega**2) * first.tracking_error
    near(change[position], expected[position], 1e3)
    assert law.gains[task] == (2.0, 0.5)
    for wrong in (-1.0, float("nan"), float("inf")):
        with pytest.raises(InputError):
            law.gains.set(task, wrong, 1.0)
        with pytest.raises(InputError):
            law.gains.set(task, 1.0, wrong)
    with pytest.raises(UnknownNameError):
        law.gains.set("none", 1.0, 1.0)
    assert law.gains[task] == (2.0, 0.5)


def test_limits_hold_from_the_next_command_on_in_every_mode():
    modes, machine = driven("five_bar", "five_bar_sweep")
    modes.transfer_time = 0.2
    assert np.abs(drive(modes, machine, 0.2)).max() > 6.0
    modes.restrict(np.array([5.0]))
    for mode in MODES:
        modes.select(mode)
        assert np.abs(drive(modes, machine, 0.05)).max() <= 5.0
    modes.restrict(np.array([1e6]))
    machine.reset()
    modes.reset()
    modes.select("tasks")
    far = State(0.0, machine.mechanism.assemble(crank=1.4), machine.state.v)
    assert np.abs(modes.command(far).efforts).max() == 60.0, "never more than the file allows"
    for wrong in (-1.0, float("nan")):
        with pytest.raises(InputError):
            modes.restrict(np.array([wrong]))
    assert np.abs(modes.command(far).efforts).max() == 60.0


def test_preload_goes_over_and_changes_no_motion():
    modes, machine = driven("coordinated_robots", "coordinated_robots_lift", None)
    before = drive(modes, machine, 0.1)[-1]
    plain = modes.command(machine.state)
    modes.transfer_time = 0.1
    wished = np.zeros(len(before))
    wished[0] = 30.0
    modes.set_preload(wished)
    first = modes.command(machine.state)
    near(first.efforts, plain.efforts, 1e3)
    drive(modes, machine, 0.2)
    tight = modes.command(machine.state)
    modes.transfer_time = 0.0
    modes.set_preload(None)
    loose = modes.command(machine.state)
    assert np.abs(tight.efforts - loose.efforts).max() > 1.0
    near(tight.qdd, loose.qdd, 1e3)


def test_an_unknown_mode_is_refused():
    modes, _ = driven("five_bar", "five_bar_sweep")
    with pytest.raises(UnknownNameError, match="hold"):
        modes.select("holding")
    assert modes.mode == "tasks"
