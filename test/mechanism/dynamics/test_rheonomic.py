# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Structural constraints with a reference change in time and drive the machine."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.integrate import trapezoid
from support.mechanism_builder import pinned_arm

from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.exceptions import StateError, UnknownNameError
from uk_dynamics.mechanism.resolution.state import Inputs
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.simulate import simulate

DRIVEN = """  drive: {type: joint, joint: j1, reference: {type: sinusoid, offset: 0.2,
    amplitude: 0.5, frequency: 0.7, phase: 0.3}}
"""
LED = """  lead: {type: frame, axes: [x, z, ry], parent: {link: base},
    child: {link: l3, xyz: [1, 0, 0]},
    reference: {type: sinusoid, offset: [1.5, 0.3, 0.4], amplitude: [0.2, 0.3, 0.5],
    frequency: [0.5, 0.3, 0.4], phase: [0.0, 1.0, 2.0]}}
"""


@pytest.fixture(scope="module")
def driven() -> Mechanism:
    return pinned_arm(DRIVEN)


def _reference(t: float) -> tuple[float, float, float]:
    omega = 2 * np.pi * 0.7
    angle = omega * t + 0.3
    return (
        0.2 + 0.5 * np.sin(angle),
        0.5 * omega * np.cos(angle),
        -0.5 * omega**2 * np.sin(angle),
    )


def test_the_driven_joint_has_the_acceleration_of_its_reference(driven: Mechanism) -> None:
    dynamics = driven.dynamics()
    for t in (0.0, 0.4, 3.1):
        position, rate, acceleration = _reference(t)
        state = driven.state({"j1": position, "j2": 0.7}, {"j1": rate, "j2": -1.0}, t)
        # position and rate agree, so that stabilisation adds nothing but rounding
        assert abs(dynamics.evaluate(state).qdd[0] - acceleration) < 1e-10


def test_positions_and_rates_close_at_their_time(driven: Mechanism) -> None:
    q = driven.assemble(t=0.4)
    assert abs(q[0] - _reference(0.4)[0]) < 1e-12
    state = driven.dynamics().project(driven.state(q + 0.01, {"j2": 2.0}, 0.4))
    assert abs(state.q[0] - _reference(0.4)[0]) < 1e-12
    assert abs(state.v[0] - _reference(0.4)[1]) < 1e-12


def test_simulation_follows_the_reference(driven: Mechanism) -> None:
    start = driven.dynamics().project(driven.state(driven.assemble()))
    trajectory = simulate(driven, start, 1.0)
    expected = [_reference(t)[0] for t in trajectory.t]
    # every step is projected: what is left is rounding of the projection
    np.testing.assert_allclose(trajectory.position("j1"), expected, rtol=0, atol=1e-11)


@pytest.mark.slow
def test_power_of_the_drive_is_the_change_of_energy(driven: Mechanism) -> None:
    start = driven.dynamics().project(driven.state(driven.assemble()))
    trajectory = simulate(driven, start, 1.0, sample_period=0.0005)
    dynamics = driven.dynamics()
    power, energy = [], []
    for t, q, v in zip(trajectory.t, trajectory.q, trajectory.v, strict=True):
        state = driven.state(q, v, float(t))
        power.append(dynamics.evaluate(state).constraint_force @ v)
        energy.append(dynamics.energy(state).total)
    work = trapezoid(power, trajectory.t)
    # trapezoidal rule: h²/12 of the slope of the power at the ends (some 1e3 W/s), h = 5e-4 s
    assert abs(work - (energy[-1] - energy[0])) < 1e-4
    assert abs(energy[-1] - energy[0]) > 0.1, "the drive does work in this motion"


def test_a_pose_over_time_is_a_constraint_too() -> None:
    arm = pinned_arm(LED, (1.0, 1.0, 1.0), "initial_guess: {j1: -1.0, j2: 1.0, j3: 0.5}")
    start = arm.dynamics().project(arm.state(arm.assemble()))
    trajectory = simulate(arm, start, 1.0, sample_period=0.1)
    assert np.max(np.abs(trajectory.residual)) < 1e-11


def test_a_live_reference_replaces_that_of_the_file(driven: Mechanism) -> None:
    live = ReferenceSample(np.array([0.5]), np.array([2.0]), np.array([-3.0]))
    inputs = Inputs(references={"drive": live})
    dynamics = driven.dynamics()
    state = dynamics.project(driven.state(), inputs)
    assert abs(state.q[0] - 0.5) < 1e-12
    assert abs(state.v[0] - 2.0) < 1e-12
    assert abs(dynamics.evaluate(state, inputs).qdd[0] + 3.0) < 1e-10
    assert np.max(np.abs(dynamics.residual(state, inputs).position)) < 1e-12


def test_live_references_are_checked(driven: Mechanism) -> None:
    sample = ReferenceSample(np.zeros(1), np.zeros(1), np.zeros(1))
    dynamics = driven.dynamics()
    with pytest.raises(UnknownNameError, match='no constraint "driv"; did you mean "drive"'):
        dynamics.evaluate(driven.state(), Inputs(references={"driv": sample}))
    wrong = dataclasses.replace(Inputs(), references={"drive": sample._replace(rate=np.zeros(2))})
    with pytest.raises(StateError, match="drive"):
        dynamics.evaluate(driven.state(), wrong)
