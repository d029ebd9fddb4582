# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Starting where the references are: inverse kinematics through the loops, rates included."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import arm, mechanism, shipped

from uk_dynamics.cli.main import main
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.exceptions import AssemblyError, InputError
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.simulation.simulate import simulate

MOTORS = "actuators: {m1: {joint: j1}, m2: {joint: j2}}\n"


def tip(built, reference, axes="[x, z]"):
    text = f"schema: 1\ntasks:\n  tip: {{type: frame, axes: {axes}, parent: {{link: base}},"
    text += f" child: {{link: l2, xyz: [1, 0, 0]}}, reference: {reference}}}\n"
    return Tasks(TasksSpec.from_text(text), built)


@pytest.mark.parametrize("t", [0.0, 0.37])
@pytest.mark.parametrize(
    ("machine", "tasks"),
    [
        ("stewart_platform", "stewart_platform_heave_roll"),
        ("rrr3", "rrr3_track"),
        ("coordinated_robots", "coordinated_robots_lift"),
        ("differential_drive", "differential_drive_slalom"),
    ],
)
def test_loops_and_tasks_are_met_in_position_and_velocity(machine, tasks, t):
    built = shipped(machine)
    wanted = Tasks.from_file(tasks, built)
    state = built.start(t=t, tasks=wanted)
    workspace = wanted.model.workspace()
    workspace.update(state.q, state.v)
    rows = wanted.evaluate(workspace, state.q, state.v, t)
    residual = built.dynamics().residual(state)
    # the search ends at 1e-10; rates are linear in what they are solved for
    assert np.abs(rows.residual[wanted.constraints.position_rows]).max(initial=0.0) < 1e-9
    assert np.abs(rows.rate).max() < 1e-9
    assert np.abs(residual.position).max() < 1e-9
    assert np.abs(residual.velocity).max() < 1e-9


@pytest.mark.slow
def test_a_motion_from_there_is_followed_from_the_first_instant_on():
    built = mechanism(arm([1.0, 1.0]), MOTORS + "initial_guess: {j1: 0.4, j2: 0.9}\n")
    circle = '{type: expression, value: ["1 + 0.3*cos(2*t)", "0.3*sin(2*t) - 0.5"]}'
    tasks = tip(built, circle)
    controller = ServoController(built, tasks)
    run = simulate(built, built.start(tasks=tasks), 1.0, controller=controller)
    assert np.abs(run.tracking_error).max() < 1e-8  # continuous control, rtol 1e-9


def test_the_branch_is_that_of_the_guess():
    for elbow in (1.0, -1.0):
        built = mechanism(arm([1.0, 1.0]), MOTORS + f"initial_guess: {{j1: 0.0, j2: {elbow}}}\n")
        q = built.start(tasks=tip(built, "{type: constant, value: [1.2, 0.3]}")).q
        assert np.sign(q[1]) == np.sign(elbow)


def test_what_tasks_leave_open_stays_where_it_is_held():
    built = mechanism(arm([1.0, 1.0]), MOTORS + "initial_guess: {j1: 0.2, j2: 0.9}\n")
    state = built.start({"j1": 0.5}, tasks=tip(built, "{type: constant, value: 1.5}", "[x]"))
    assert state.q[0] == 0.5
    # the y axis of the joints: x = cos j1 + cos (j1 + j2)
    assert np.cos(0.5) + np.cos(state.q.sum()) == pytest.approx(1.5, abs=1e-9)


def test_a_reference_out_of_reach_says_by_how_much():
    built = mechanism(arm([1.0, 1.0]), MOTORS + "initial_guess: {j1: 0.1, j2: 0.1}\n")
    with pytest.raises(AssemblyError, match="references are out of reach at t = 0 s") as raised:
        built.start(tasks=tip(built, "{type: constant, value: [5.0, 0.0]}"))
    assert raised.value.violations == {"tip": pytest.approx(3.0, abs=1e-3)}  # the arm is 2 m long


def test_limits_in_the_way_are_named():
    limited = mechanism(arm([1.0, 1.0], [(-3, 3), (0.5, 2.5)]), MOTORS)
    with pytest.raises(AssemblyError, match=r"only outside the joint limits: .*j2"):
        limited.start(tasks=tip(limited, "{type: constant, value: [1.999, 0.0]}"))


def test_rates_that_contradict_each_other_are_refused():
    built = mechanism(arm([1.0]), "actuators: {m1: {joint: j1}}\n")
    text = "schema: 1\ntasks:\n"
    for name, rate in (("one", 1.0), ("two", 2.0)):
        reference = f"{{type: polynomial, coefficients: [0, {rate}]}}"
        text += f"  {name}: {{type: joint, joint: j1, reference: {reference}}}\n"
    with pytest.raises(InputError, match=r"rates of the references contradict (one|two) by"):
        built.start(tasks=Tasks(TasksSpec.from_text(text), built))


def test_the_command_line_starts_there_and_says_how_far_the_start_is(capsys):
    assert main(["describe", "five_bar", "--tasks", "five_bar_sweep", "--set", "crank=0.9"]) == 0
    assert "sweep 0.3 at t = 0" in capsys.readouterr().out
    there = ["--tasks", "five_bar_sweep", "--start-on-tasks"]
    assert main(["describe", "five_bar", *there]) == 0
    assert "tracking errors" not in capsys.readouterr().out
    assert main(["simulate", "five_bar", "--start-on-tasks", "--duration", "0.1"]) == 2
    assert "--start-on-tasks needs --tasks" in capsys.readouterr().err
