"""The desired motion: closed, on its references, one setpoint ahead of the other."""

from __future__ import annotations

import numpy as np
from support.mechanism_builder import arm, mechanism, shipped

from uk_dynamics.control.hold import Hold
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.control.servo.setpoint_generator import SetpointGenerator
from uk_dynamics.mechanism.resolution.state import State
from uk_dynamics.mechanism.tasks import Tasks

STEP = 0.005


def test_it_stays_on_the_loops_and_follows_the_task_from_an_error_on() -> None:
    machine = shipped("five_bar")
    controller = ServoController(machine, Tasks.from_file("five_bar_sweep", machine))
    desired = SetpointGenerator(machine)
    measured = machine.start({"crank": 0.65})
    dynamics = machine.dynamics()
    ahead = None
    for k in range(400):
        # the machine stands still, its time goes on
        state = desired.desired_state(State(k * STEP, measured.q, measured.v))
        if k == 0:
            assert np.abs(state.q - measured.q).max() < 1e-9
        if ahead is not None and k > 1:
            # what projection and the change of the acceleration leave of a step
            assert np.abs(state.q - ahead.q).max() < 1e-9 + 1e-4 * STEP
            assert np.abs(state.v - ahead.v).max() < 1e-3
            assert ahead.duration == STEP or abs(ahead.duration - STEP) < 1e-12
        assert np.abs(dynamics.residual(state).position).max() < 1e-10
        command = controller.command(state)
        ahead = desired.setpoint(command)
        if k == 0:
            assert ahead.duration == 0.0
            np.testing.assert_array_equal(ahead.q, state.q)
    # acceleration of 3 rad/s² constant over 5 ms at feedback of 31 rad/s: some 1e-4 rad
    assert np.abs(controller.tracking_error(state)).max() < 1e-3


def test_a_step_is_a_parabola_of_the_commanded_acceleration() -> None:
    """Of a machine without loops, which no projection corrects."""
    machine = mechanism(arm([0.5, 0.5]), "actuators: {m1: {joint: j1}, m2: {joint: j2}}\n")
    hold = Hold(machine)
    hold.position = np.zeros(2)
    desired = SetpointGenerator(machine)
    q, v, h = np.array([0.2, -0.1]), np.array([0.3, 0.4]), 0.05
    command = hold.command(desired.desired_state(State(1.0, q, v)))
    desired.setpoint(command)
    assert np.abs(command.qdd).min() > 1.0, "or there is nothing to see"
    state = desired.desired_state(State(1.0 + h, q, v))
    assert state.t == 1.0 + h
    np.testing.assert_allclose(state.q, q + h * v + 0.5 * h * h * command.qdd, rtol=0, atol=1e-12)
    np.testing.assert_allclose(state.v, v + h * command.qdd, rtol=0, atol=1e-12)
