# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Error control in C: closed forms, order, SciPy on interpreted equations, and what stops it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipj
from support.mechanism_builder import arm, joint, link, mechanism, pinned_arm, shipped

from uk_dynamics.compilation.build import compiler
from uk_dynamics.compilation.runtime import CompiledDynamics, compiled_motion
from uk_dynamics.control.servo import ServoController
from uk_dynamics.core.integration import Tolerances
from uk_dynamics.exceptions import SimulationError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import Instants
from uk_dynamics.mechanism.resolution.state import Inputs
from uk_dynamics.simulation import simulate

pytestmark = [
    pytest.mark.skipif(compiler.find_compiler() is None, reason="there is no C compiler here"),
    pytest.mark.together("adaptive"),
]

LOOP = """\
  tip: {type: frame, axes: [x, z], parent: {link: base, xyz: [1.2, 0, -0.4]},
        child: {link: l3, xyz: [1, 0, 0]}}
"""
DRIVEN = """\
constraints:
  drive: {type: joint, joint: j1, reference: {type: expression, value: "atan2(sin(6*t), cos(6*t))"}}
"""


@pytest.fixture(scope="module")
def pendulum():
    """Hung up horizontally, at rest; J = 0.35 kg m², m g l = 9.81/2 N m."""
    machine = mechanism(arm([1.0]))
    return machine, machine.state()


def exact(t):
    """φ = 2 asin(k cd(ω t)) from a quarter turn."""
    k = np.sin(np.pi / 4.0)
    _, cn, dn, _ = ellipj(np.sqrt(0.5 * 9.81 / 0.35) * t, k * k)
    return np.pi / 2.0 - 2.0 * np.arcsin(k * cn / dn)


def test_a_pendulum_moves_as_elliptic_functions_say(pendulum):
    machine, state = pendulum
    motion = simulate(machine, state, 3.0, rtol=1e-10, sample_period=2e-3, backend="compiled")
    # some fifty steps of 1e-10, which gravity does not amplify by much; so for the interpolant
    assert np.abs(motion.q[:, 0] - exact(motion.t)).max() < 2e-8
    assert np.ptp(motion.energy) < 1e-8
    assert motion.statistics.steps < 120


def equal_steps(machine, state, count, when):
    """States at instants, by steps of the same size over a second."""
    dynamics = CompiledDynamics(machine)
    motion = dynamics.motion()
    motion.act(Inputs(stabilize=False), np.zeros(0), np.zeros(machine.model.nv))
    kept, none = np.ones(len(when)), np.zeros(len(when))
    found = motion.adapt(
        state,
        Instants(when, none, kept, none),
        tolerances=Tolerances(1e3, 1e3, 1.0 / count),
        first_step=1.0 / count,
        resume=False,
    )
    assert found.steps == count
    return np.vstack((found.q, found.state.q))[: len(when)], found


def test_steps_are_of_eighth_order_and_what_is_between_of_seventh(pendulum):
    """The local error of the interpolant is of order 8 too, as is that of all steps."""
    machine, state = pendulum
    ends, between = [], []
    for count in (6, 12):
        when = np.sort(np.concatenate((np.arange(count + 1), np.arange(count) + 0.3))) / count
        q, _ = equal_steps(machine, state, count, when)
        error = np.abs(q[:, 0] - exact(when))
        ends.append(error[::2].max())
        between.append(error[1::2].max())
    assert np.log2(ends[0] / ends[1]) > 7.0
    assert 7.0 < np.log2(between[0] / between[1]) < 10.0


def test_the_interpolant_is_continuous_where_steps_meet(pendulum):
    machine, state = pendulum
    gap = 1e-7
    when = np.array([0.0, *(k / 10 + side for k in range(1, 10) for side in (-gap, gap)), 1.0])
    q, _ = equal_steps(machine, state, 10, when)
    speed = np.diff(q[1:-1, 0])[::2] / (2.0 * gap)
    expected = (exact(np.arange(1, 10) / 10 + gap) - exact(np.arange(1, 10) / 10 - gap)) / (
        2.0 * gap
    )
    # a jump of 1e-12 rad would be 5e-6 rad/s; curvature and rounding are less
    np.testing.assert_allclose(speed, expected, rtol=0, atol=1e-6)


CASES = {
    "a loop": lambda: (pinned_arm(LOOP, (1.0, 1.0, 1.0)), None),
    "driven in time": lambda: (mechanism(arm([1.0, 0.7]), DRIVEN), None),
    "no slip": lambda: (shipped("differential_drive"), {"left_wheel": 3.0, "right_wheel": 5.0}),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_it_goes_as_scipy_on_the_interpreted_equations(case):
    machine, v = CASES[case]()
    start = machine.start()
    if v is not None:
        start = machine.state(start.q, v)
    here, there = (
        simulate(machine, start, 0.4, rtol=1e-9, sample_period=0.013, backend=backend)
        for backend in ("compiled", "interpreted")
    )
    # the same steps but for rounding, which the estimate of small errors amplifies
    np.testing.assert_allclose(here.q, there.q, rtol=0, atol=3e-9)
    np.testing.assert_allclose(here.v, there.v, rtol=0, atol=3e-8)
    assert np.abs(here.residual).max() < 1e-13
    assert abs(here.statistics.steps - there.statistics.steps) <= 2
    assert here.statistics.evaluations <= there.statistics.evaluations + 40
    assert here.statistics.largest_projection < 1e-7
    assert here.status == there.status


@pytest.fixture(scope="module")
def loop():
    machine = pinned_arm(LOOP, (1.0, 1.0, 1.0))
    return machine, machine.start()


def test_neither_samples_nor_pauses_change_the_steps(loop, monkeypatch):
    machine, start = loop

    def run(period):
        return simulate(machine, start, 1.0, rtol=1e-8, sample_period=period, backend="compiled")

    fine, coarse = run(1e-3), run(1.0)
    assert fine.statistics.steps == coarse.statistics.steps
    np.testing.assert_array_equal(fine.q[-1], coarse.q[-1])
    monkeypatch.setattr(compiled_motion, "_PATIENCE", 30)
    paused = run(1e-3)
    np.testing.assert_array_equal(paused.q, fine.q)
    assert paused.statistics.evaluations == fine.statistics.evaluations


def test_rejected_steps_are_counted(loop):
    machine, start = loop
    for backend in ("compiled", "interpreted"):
        statistics = simulate(machine, start, 1.0, rtol=1e-8, backend=backend).statistics
        assert 0 < statistics.rejected < statistics.steps
        assert statistics.evaluations > 12 * (statistics.rejected + statistics.steps) - 12


@pytest.mark.slow
def test_events_in_the_middle_of_a_motion():
    """The foot lands: velocities jump, rows are added, and energy is lost."""
    machine = shipped("landing_leg")
    here, there = (
        simulate(machine, machine.start(), 0.5, events=[(0.3, {"foot": True})], backend=backend)
        for backend in ("compiled", "interpreted")
    )
    np.testing.assert_allclose(here.q, there.q, rtol=0, atol=1e-8)
    assert here.switchings[0].energy_lost == pytest.approx(
        there.switchings[0].energy_lost, abs=1e-8
    )
    assert set(here.rank[-5:]) == {2}


@pytest.mark.slow
@pytest.mark.parametrize(("period", "delay"), [(None, 0.0), (0.01, 0.0), (0.01, 0.013)])
def test_it_goes_under_control_too(period, delay):
    """Continuously, and period by period, where efforts jump as well."""
    machine = shipped("five_bar")
    tasks = Tasks.from_file("five_bar_sweep", machine)
    found = []
    for backend in ("compiled", "interpreted"):
        controller = ServoController(machine, tasks, control_period=period, backend=backend)
        motion = simulate(
            machine,
            machine.start(),
            0.2,
            controller=controller,
            control_period=period,
            delay=delay,
            method="DOP853",
            sample_period=7e-3,
            backend=backend,
        )
        found.append(motion)
    here, there = found
    np.testing.assert_allclose(here.q, there.q, rtol=0, atol=1e-8)
    np.testing.assert_allclose(here.efforts, there.efforts, rtol=0, atol=1e-5)
    assert here.warnings == there.warnings


@pytest.mark.slow
def test_a_jump_ends_it_and_names_the_row():
    machine = mechanism(arm([1.0, 0.7]), DRIVEN)
    with pytest.raises(SimulationError, match=r"drive.* jump") as caught:
        simulate(machine, machine.start(), 0.7, backend="compiled")
    assert caught.value.time == pytest.approx(0.52, abs=0.1)  # π/6 s


def test_a_motion_that_grows_without_bound_names_the_joint():
    parts = link("base") + link("l1") + joint("j1", "base", "l1", axis="0 0 1")
    text = "forces: {blow: {type: expression, joints: {j1: 1}, expression: '0.1*d(j1)**2'}}"
    machine = mechanism(parts, text)
    with pytest.raises(SimulationError, match=r"step size vanished.*j1") as caught:
        simulate(machine, machine.state(v=[1.0]), 2.0, backend="compiled")
    assert caught.value.time == pytest.approx(1.0, abs=1e-3)  # v̇ = v² from v = 1


def test_it_says_why_it_creeps(caplog):
    """A damper of 1e6 N m s: steps of some microseconds, of which there are too many."""
    machine = pinned_arm(LOOP, (1.0, 1.0, 1.0), "joints: {j2: {damping: 1.0e6}}\n")
    motion = simulate(
        machine, machine.start(), 0.1, rtol=1e-6, sample_period=0.1, backend="compiled"
    )
    (warning,) = motion.warnings
    assert "creeps in steps of" in warning
    assert "the motion of j2 decays within" in warning
    assert "--method Radau" in warning
    assert warning.split(", first seen")[0] in caplog.text
    quick = simulate(machine, machine.start(), 0.1, method="Radau", rtol=1e-6, sample_period=0.1)
    assert quick.statistics.steps < 100
    np.testing.assert_allclose(quick.q[-1], motion.q[-1], rtol=0, atol=1e-6)
