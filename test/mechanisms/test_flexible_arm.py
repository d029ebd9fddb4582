# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The flexible joint arm of the review's section 8.3: its matrices, its control, its limits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.mechanism.analysis.report import report
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.simulate import simulate
from uk_dynamics_studies.papers.review.flexible_arm import P, bias, control, inertia

ARM = Mechanism.from_file("flexible_joint_arm")
CONTROLLER = ServoController(ARM, Tasks.from_file("flexible_joint_arm_links", ARM))
ROTORS = Mechanism.from_file("flexible_joint_arm_with_rotors")
ROTOR_TASKS = Tasks.from_file("flexible_joint_arm_with_rotors_links", ROTORS)

numbers = st.floats(-3.0, 3.0)
pairs = st.tuples(numbers, numbers).map(np.array)


@settings(deadline=None)
@given(pairs, pairs)
def test_mass_matrix_and_forces_are_those_of_the_paper(q, v):
    terms = ARM.terms(ARM.state(q, v))
    assert pytest.approx(inertia(q), abs=1e-12) == terms.M
    # C q̇ + G + q1 with the springs K = 1; m₁ = m₂, so that the print of c₁₁ does not matter.
    assert pytest.approx(-bias(q, v), abs=1e-11) == terms.F


@settings(deadline=None)
@given(pairs, pairs)
def test_the_efforts_are_the_control_of_the_paper(q, v):
    command = CONTROLLER.command(ARM.state(q, v))
    # Efforts of up to some hundred N·m.
    assert command.requested == pytest.approx(control(q, v), abs=1e-9)
    assert command.unreachable == ()


@pytest.mark.slow
def test_the_error_decays_as_the_feedback_says():
    trajectory = simulate(ARM, ARM.start(), 4.0, controller=CONTROLLER, rtol=1e-11)
    beta = trajectory.v.sum(axis=1)
    assert beta == pytest.approx(0.9 * np.exp(-trajectory.t / P), abs=1e-9)
    assert abs(beta[0]) == pytest.approx(0.9, abs=1e-12)
    assert np.abs(beta[trajectory.t >= 2.0]).max() < 1e-3
    assert trajectory.warnings == ()


def test_motors_on_rotors_cannot_serve_the_links():
    found = report(ROTORS, ROTORS.assemble(), ROTOR_TASKS).tasks
    assert (found.reachable_rows, found.independent_rows) == (0, 1)
    assert found.unreachable == ("links",)
    assert "springs" in found.reason
    command = ServoController(ROTORS, ROTOR_TASKS).command(ROTORS.start())
    assert command.unreachable == ("links",)
    assert command.efforts == pytest.approx([0.0, 0.0], abs=0)


def test_rotors_swing_on_their_springs_as_the_paper_writes():
    rng = np.random.default_rng(0)
    for _ in range(10):
        q, v, u = rng.normal(size=4), rng.normal(size=4), rng.normal(size=2)
        links, rotors = q[[0, 1]], q[[2, 3]]  # q2 q4, q1 q3
        assert ROTORS.model.joint_names == ("q2", "q4", "q1", "q3")
        solution = ROTORS.dynamics().evaluate(
            ROTORS.state(q, v), ROTORS.inputs(efforts={"u1": u[0], "u2": u[1]})
        )
        pull = links - rotors
        expected = np.linalg.solve(inertia(links), -(bias(links, v[:2]) - links) - pull)
        assert solution.qdd[:2] == pytest.approx(expected, abs=1e-11)
        assert solution.qdd[2:] == pytest.approx(u + pull, abs=1e-12)


def test_the_energy_of_the_arm_with_rotors_is_conserved():
    trajectory = simulate(ROTORS, ROTORS.start(), 3.0, rtol=1e-11)
    assert ROTORS.conservative
    assert np.ptp(trajectory.energy) < 1e-9
