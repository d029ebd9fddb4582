# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Efforts that are held: right in the middle of the control period, or at its start."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import arm, joint, link, mechanism, near, shipped

from uk_dynamics.control.servo.prediction_and_bumpless_start import Prediction
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.files.tasks_specification import TasksSpec
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.simulation.simulate import simulate


def largest_error(name: str, task_file: str, period: float, *, middle: bool) -> float:
    """Largest tracking error after 0.6 s, when at 5 Hz the start has died away to 1e-7 of it."""
    machine = shipped(name)
    tasks = Tasks.from_file(task_file, machine)
    servo = ServoController(machine, tasks, control_period=period if middle else None)
    run = simulate(machine, machine.start(), 1.0, controller=servo, control_period=period)
    return float(np.abs(run.tracking_error[60:]).max())


@pytest.mark.slow
def test_the_middle_is_right_to_second_order():
    name, task_file = "parallel_2dof", "parallel_2dof_line"
    start = largest_error(name, task_file, 4e-3, middle=False)
    middle = largest_error(name, task_file, 4e-3, middle=True)
    finer = largest_error(name, task_file, 2e-3, middle=True)
    assert middle < 0.1 * start
    assert finer < 0.3 * middle  # a quarter


def test_prediction_of_constant_acceleration_is_exact():
    machine = mechanism(arm([1.0, 1.0]))
    sizes = {"past_known": 1, "past_t": 1, "past_v": 2, "acceleration_known": 1, "measured_qdd": 2}
    memory = {name: np.zeros(size) for name, size in sizes.items()}
    prediction = Prediction(machine.model, 0.2, memory)
    q, v, qdd = np.array([0.1, 0.2]), np.array([1.0, -2.0]), np.array([3.0, 5.0])
    before = State(0.8, q - 0.2 * v + 0.02 * qdd, v - 0.2 * qdd)
    ahead = prediction.ahead(before)
    near(ahead.v, before.v)  # nothing is known of the acceleration
    near(ahead.q, before.q + 0.1 * before.v)
    for _ in range(2):  # the same state once more is no other one
        ahead = prediction.ahead(State(1.0, q, v))
        assert ahead.t == pytest.approx(1.1, abs=1e-15)
        near(ahead.v, v + 0.1 * qdd)
        near(ahead.q, q + 0.1 * v + 0.005 * qdd)
    for elsewhere in (3.0, 0.5):  # after a pause, and where time went back
        near(prediction.ahead(State(elsewhere, q, 2.0 * v)).v, 2.0 * v)
    prediction.reset()
    near(prediction.ahead(State(1.0, q, v)).v, v)


def test_a_wrong_velocity_is_forgotten_beside_a_singularity():
    """The five-bar swings through its flat configuration; there one state is off the loops."""
    machine = shipped("five_bar")
    servo = ServoController(
        machine, Tasks.from_file("five_bar_sweep", machine), control_period=0.01
    )
    run = simulate(
        machine, machine.start({"crank": -0.0203}, {"crank": 2.0}), 0.2, sample_period=0.01
    )
    dynamics = machine.dynamics()
    for k, (t, q, v) in enumerate(zip(run.t, run.q, run.v, strict=True)):
        v[1:] *= k != 1  # at a crank angle of -0.0009 rad
        state = State(t, q, v)
        command = servo.command(state)
        if k > 2:  # the two states after the wrong one know of it
            # some 8 rad/s², which change by less than 1 % in half a period
            caused = dynamics.evaluate(state, servo.inputs(command)).qdd
            near(command.qdd, caused, relative=0.01)


RUBS = link("base") + link("l1", com="0.5 0 0")
RUBS += joint("j1", "base", "l1", more='<dynamics damping="2.0" friction="3.0"/>')
HOLD = "schema: 1\ntasks: {hold: {type: joint, joint: j1}}"


def test_friction_is_fed_forward_or_left_to_the_feedback():
    machine = mechanism(RUBS, "actuators: {m: {joint: j1}}\n")
    tasks = Tasks(TasksSpec.from_text(HOLD), machine)
    state = machine.state(v={"j1": 0.5})
    known = ServoController(machine, tasks).command(state)
    unknown = ServoController(machine, tasks, friction="none").command(state)
    # 2 N m s/rad · 0.5 rad/s + 3 N m
    assert known.efforts[0] - unknown.efforts[0] == pytest.approx(4.0, abs=1e-9)
    with pytest.raises(InputError, match="friction"):
        ServoController(machine, tasks, friction="much")


def test_a_command_tells_the_acceleration_it_causes():
    machine = shipped("coordinated_robots")
    servo = ServoController(machine, Tasks.from_file("coordinated_robots_lift", machine))
    state = machine.start()
    command = servo.command(state)
    near(machine.dynamics().evaluate(state, servo.inputs(command)).qdd, command.qdd)
    assert command.settled
    assert command.missing == {}
    assert command.actuation == "redundantly actuated"


@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
def test_gains_and_limits_that_are_replaced_act_at_once(backend):
    machine = shipped("five_bar")
    tasks = Tasks.from_file("five_bar_sweep", machine)
    servo = ServoController(machine, tasks, control_period=0.002, backend=backend)
    start = machine.start()
    late = State(0.01, start.q, start.v)  # the task has moved on
    before = servo.command(late).efforts
    servo.reset()
    servo.gains.stiffness = 4.0 * servo.gains.stiffness
    assert np.abs(servo.command(late).efforts - before).max() > 0.1  # N·m
    servo.limits.effort = np.full(1, 0.01)
    assert np.abs(servo.command(late).efforts).max() <= 0.01
