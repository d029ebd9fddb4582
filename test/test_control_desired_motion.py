"""The desired motion: closed, on its references, one setpoint ahead of the other."""

from __future__ import annotations

import numpy as np
from mechanism_builder import shipped

from uk_dynamics.control.desired_motion import DesiredMotion
from uk_dynamics.control.servo_controller import ServoController
from uk_dynamics.mechanism.state import State
from uk_dynamics.mechanism.tasks import Tasks

STEP = 0.005


def test_it_stays_on_the_loops_and_follows_the_task_from_an_error_on() -> None:
    machine = shipped("five_bar")
    controller = ServoController(machine, Tasks.from_file("five_bar_sweep", machine))
    desired = DesiredMotion(machine)
    measured = machine.start({"crank": 0.65})
    dynamics = machine.dynamics()
    ahead = None
    for k in range(400):
        # the machine stands still, its time goes on
        state = desired.at(State(k * STEP, measured.q, measured.v))
        if k == 0:
            assert np.abs(state.q - measured.q).max() < 1e-9
        if ahead is not None and k > 1:
            # what projection and the change of the acceleration leave of a step
            assert np.abs(state.q - ahead.q).max() < 1e-9 + 1e-4 * STEP
            assert np.abs(state.v - ahead.v).max() < 1e-3
            assert ahead.duration == STEP or abs(ahead.duration - STEP) < 1e-12
        assert np.abs(dynamics.residual(state).position).max() < 1e-10
        command = controller.command(state)
        ahead = desired.follow(command)
        if k == 0:
            assert ahead.duration == 0.0
            np.testing.assert_array_equal(ahead.q, state.q)
    # acceleration of 3 rad/s² constant over 5 ms at feedback of 31 rad/s: some 1e-4 rad
    assert np.abs(controller.tracking_error(state)).max() < 1e-3
