# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The two-mass spring system of the servo paper: (47) at every state, the motion in closed form."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.simulate import simulate

MASS_1, MASS_2, STIFFNESS, LENGTH = 1.0, 2.0, 10.0, 0.5
MACHINE = Mechanism.from_file("two_mass_spring")
CONTROLLER = ServoController(MACHINE, Tasks.from_file("two_mass_spring_stretch", MACHINE))
numbers = st.floats(-5.0, 5.0)


@settings(deadline=None)
@given(st.tuples(numbers, numbers), st.tuples(numbers, numbers))
def test_the_force_is_that_of_the_paper_on_the_constraint_and_off_it(q, v):
    command = CONTROLLER.command(MACHINE.state(q, v))
    expected = -(1.0 + MASS_1 / MASS_2) * STIFFNESS * (q[1] - q[0] - LENGTH)
    # Forces of up to 150 N.
    assert command.requested == pytest.approx([expected], abs=1e-11)
    assert (command.servo.rank, command.unreachable) == (1, ())


def test_the_pair_accelerates_for_ever():
    trajectory = simulate(MACHINE, MACHINE.start(), 3.0, controller=CONTROLLER, rtol=1e-11)
    fallen = -0.5 * STIFFNESS * LENGTH / MASS_2 * trajectory.t**2
    assert trajectory.position("x1") == pytest.approx(fallen, abs=1e-9)
    assert trajectory.position("x2") == pytest.approx(fallen + 2.0 * LENGTH, abs=1e-9)
    assert np.abs(trajectory.tracking_error).max() < 1e-9
    assert trajectory.warnings == ()
