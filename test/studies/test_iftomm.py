# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The benchmark problems: references by their own properties, against mechanisms, and the command.

That simulations follow the references is what the study itself bounds; see test_studies.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support import diagonal_spring

from uk_dynamics import Mechanism
from uk_dynamics.cli.main import main
from uk_dynamics_studies.commands.reproduce import MISSED
from uk_dynamics_studies.papers.iftomm import (
    bricard,
    four_bars,
    governor,
    pendulum,
    problems,
    published,
    squeezer,
    study,
)

STEP = 1e-3  # s, of five-point differences


def differences(motion, t, step=STEP):
    """Positions, rates and accelerations of all joints at a time, by five-point differences.

    Their errors are those of sixth derivatives, step⁴ times some 1e2 (slow problems) or less, and
    rounding over step²: below 1e-8 for all that is used here.
    """
    # The references integrate from 0 on, to increasing times.
    times = np.concatenate(([0.0], t + step * np.arange(-2.0, 3.0)))
    found = {joint: np.asarray(x)[1:] for joint, x in motion(times).items()}
    rate = np.array([1.0, -8.0, 0.0, 8.0, -1.0]) / (12.0 * step)
    second = np.array([-1.0, 16.0, -30.0, 16.0, -1.0]) / (12.0 * step**2)
    return (
        {joint: float(x[2]) for joint, x in found.items()},
        {joint: float(rate @ x) for joint, x in found.items()},
        {joint: float(second @ x) for joint, x in found.items()},
    )


def accelerations(mechanism, motion, t, step=STEP, tau=None):
    """Joint by joint: what the mechanism does in a state of the reference, and the reference."""
    q, v, wanted = differences(motion, t, step)
    solution = mechanism.dynamics("interpreted").evaluate(
        mechanism.state(q, v), mechanism.inputs(tau)
    )
    found = dict(zip(mechanism.joint_names, solution.qdd, strict=True))
    assert set(wanted) <= set(found)
    return np.array([found[joint] for joint in wanted]), np.array(list(wanted.values()))


def test_the_pendulum_swings_over_and_over_with_its_energy():
    t = np.linspace(0.0, 10.0, 101)
    place = pendulum.motion(t)
    assert place["bob_x"][0] == pytest.approx(-1.0, abs=1e-15)
    assert place["bob_x"] ** 2 + place["bob_z"] ** 2 == pytest.approx(np.ones(101), abs=1e-14)
    for when in (0.3, 1.0, 7.7):
        q, v, _ = differences(pendulum.motion, when)
        energy = 0.5 * (v["bob_x"] ** 2 + v["bob_z"] ** 2) + pendulum.GRAVITY * q["bob_z"]
        assert energy == pytest.approx(0.0, abs=1e-7)  # errors of differences times 4 m/s
    found, wanted = accelerations(Mechanism.from_file("simple_pendulum"), pendulum.motion, 1.0)
    assert found == pytest.approx(wanted, abs=1e-6)


# 40 cells are interpreted here: to compile them takes half a minute.
@pytest.mark.parametrize("cells", [1, 40])
def test_all_cells_accelerate_as_one_pendulum(cells):
    mechanism = four_bars.mechanism(cells)

    def motion(t):
        return four_bars.motion(cells, t)

    q, v, _ = differences(motion, 2.0 * STEP)
    begin = four_bars.start(mechanism, cells)
    assert list(mechanism.state(q, v).q) == pytest.approx(begin.q + 2e-3 * begin.v, abs=1e-4)
    for when in (0.4, 1.3):  # away from flat: 0.7 rad and more
        found, wanted = accelerations(mechanism, motion, when)
        # A rank of 2 N: the differences' tilt of 1e-12 rad is not enlarged here.
        assert found == pytest.approx(wanted, abs=1e-6)


def test_it_is_flat_twice_a_turn():
    angle = four_bars.motion(40, np.array([0.0, 10.0]))["crank_0"]
    turns = (angle[0] - angle[1]) / (2 * np.pi)
    assert turns > 5.0
    assert abs(four_bars.passes(40, 10.0) - 2.0 * turns) <= 1.0


def test_the_reduced_squeezer_ends_in_the_published_state():
    t = np.array([0.0, 0.01, published.SQUEEZER_TIME])
    found = squeezer.motion(t)
    for joint, value in published.SQUEEZER_STATE.items():
        # The published state, of tolerances 1e-14 relative to β of 16 rad and rates of 1e3 rad/s.
        assert found[joint][-1] == pytest.approx(value, abs=3e-9)
    found, wanted = accelerations(
        Mechanism.from_file("andrews_squeezer"),
        squeezer.motion,
        0.01,
        step=1e-5,
        tau={"beta": squeezer.TORQUE},
    )
    # Rad/s², of some 1e5: rounding of angles over step² leaves 1e-5, the differences some 1e-4.
    assert found == pytest.approx(wanted, abs=1e-2)
    assert np.abs(wanted).max() > 1e3


def test_bricards_angles_close_its_loop():
    mechanism = Mechanism.from_file("bricard")
    t = np.linspace(0.0, 2.5, 6)
    angles = bricard.motion(t)
    for k in range(len(t)):
        state = mechanism.state({joint: float(x[k]) for joint, x in angles.items()})
        residual = mechanism.dynamics("interpreted").residual(state, mechanism.inputs())
        assert np.abs(residual.position).max() <= 1e-14
    found, wanted = accelerations(mechanism, bricard.motion, 1.0)
    assert found == pytest.approx(wanted, abs=1e-6)


def test_the_governor_in_minimal_coordinates_is_the_mechanism():
    # The springs are stiff: 1e-9 m of the differences is 1e-3 N, and 1e-9 m/s 1e-4 N.
    found, wanted = accelerations(
        Mechanism.from_file("flyball_governor"), governor.motion, 0.5, step=2e-3
    )
    assert found == pytest.approx(wanted, abs=1e-3)
    # The published graph of the slider ends there.
    assert governor.motion(np.array([0.0, 10.0]))["slider"][-1] == pytest.approx(0.62, abs=5e-3)


def linearized(mechanism, q0, damping_free):
    """Eigenvalue of the one freedom by differences of the acceleration along it."""
    dynamics = mechanism.dynamics("interpreted")
    names = mechanism.joint_names
    along = {"left": 1.0, "coupler": -1.0, "right": 1.0}

    def acceleration(angle, rate):
        q = {joint: way * (q0 + angle) for joint, way in along.items()}
        v = {joint: way * rate for joint, way in along.items()}
        return dynamics.evaluate(mechanism.state(q, v)).qdd[names.index("left")]

    step = 1e-3
    weights, steps = np.array([1.0, -8.0, 8.0, -1.0]) / 12e-3, step * np.array([-2, -1, 1, 2])
    by_angle = weights @ [acceleration(x, 0.0) for x in steps]
    by_rate = weights @ [acceleration(0.0, x) for x in steps]
    assert (abs(by_rate) < 1e-9) == damping_free
    assert abs(acceleration(0.0, 0.0)) <= 1e-9  # an equilibrium
    return complex(0.5 * by_rate, np.sqrt(-by_angle - 0.25 * by_rate**2))


def test_the_rhombus_rests_and_its_eigenvalue_is_the_closed_form():
    mechanism = Mechanism.from_file("diagonal_spring")
    q0 = float(diagonal_spring.equilibrium())
    found = linearized(mechanism, q0, damping_free=False)
    # Five-point differences: fourth powers of 1e-3 rad, rounding over 1e-3.
    assert abs(found - diagonal_spring.eigenvalue(1.0)) <= 1e-10


@pytest.mark.parametrize("damping", [0.0, 1.0])
def test_the_published_eigenvalues_are_those_of_the_published_equilibrium(damping):
    wanted = diagonal_spring.PUBLISHED[damping]
    there = diagonal_spring.eigenvalue(damping, diagonal_spring.PUBLISHED_EQUILIBRIUM)
    assert abs(there - wanted) <= 5e-11  # all digits that were published
    # That equilibrium is 4e-11 rad off.
    assert 1e-10 < abs(diagonal_spring.eigenvalue(damping) - wanted) < 2e-10


@pytest.mark.slow
def test_a_miss_is_an_exit_status(monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib")
    short = [replace(p, shorter=0.05 * p.shorter) for p in problems.problems(quick=True)]
    monkeypatch.setattr(study, "problems", lambda quick: short)
    monkeypatch.setattr(published, "ACCURACY", 1e-20)
    assert main(["reproduce", "iftomm", "--quick", "--out", str(tmp_path)]) == MISSED
    # Every problem has a distance of its own; Andrews' mechanism is stopped before 0.03 s.
    assert capsys.readouterr().out.count(" NO\n") == 6
