# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Trajectories integrated in C: those of the interpreted evaluator, and true to physics."""

import numpy as np
import pytest
from support.mechanism_builder import closed_states, pinned_arm, shipped

from uk_dynamics.compilation.build import compiler
from uk_dynamics.exceptions import InputError, StateError
from uk_dynamics.mechanism.resolution.state import State

needs_compiler = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="there is no C compiler on this machine"
)


def starts(machine, count):
    states = list(closed_states(machine, np.random.default_rng(0), count))
    return np.array([s.q for s in states]), np.array([s.v for s in states])


def compare(machine, q, v, tau=None, **options):
    compiled = machine.dynamics("compiled").rollout(q, v, tau, **options)
    expected = machine.dynamics("interpreted").rollout(q, v, tau, **options)
    # Both round differently; a few steps amplify that little.
    assert compiled.q == pytest.approx(expected.q, abs=1e-11)
    assert compiled.v == pytest.approx(expected.v, abs=1e-9)
    assert compiled.t == pytest.approx(expected.t, abs=1e-15)
    assert not compiled.stopped
    assert not expected.stopped
    return compiled


@needs_compiler
@pytest.mark.parametrize("method", ["rk4", "semi_implicit_euler"])
@pytest.mark.parametrize("project", [True, False])
def test_trajectories_are_those_of_the_interpreted_evaluator(method, project):
    machine = shipped("five_bar")
    q, v = starts(machine, 5)
    tau = np.random.default_rng(1).standard_normal((5, 6, 4))
    done = compare(machine, q, v, tau, steps=6, dt=2e-3, method=method, project=project, every=2)
    assert done.q.shape == (5, 4, 4)


@pytest.mark.slow
@needs_compiler
def test_rows_on_velocities_and_on_time_are_projected_too():
    disc = shipped("rolling_disc")
    q, v = starts(disc, 3)
    compare(disc, q, v, steps=4, dt=2e-3)
    spiral = shipped("spiral_particle")
    start = spiral.start()
    compare(spiral, start.q, start.v, steps=4, dt=2e-3, t=start.t)
    driven = pinned_arm(
        "  drive: {type: joint, joint: j2,"
        " reference: {type: sinusoid, amplitude: 0.3, frequency: 1.0}}\n",
        lengths=(1.0, 0.7, 0.5),
    )
    done = compare(driven, np.zeros((1, 3)), np.zeros((1, 3)), steps=50, dt=2e-3, t=0.2)
    angle = 0.3 * np.sin(2.0 * np.pi * done.t)
    assert done.q[0, :, 1] == pytest.approx(angle, abs=1e-12)  # closed to rounding


@needs_compiler
def test_loops_stay_closed_and_energy_stays_where_it_is():
    machine = shipped("five_bar")
    dynamics = machine.dynamics("compiled")
    q, v = starts(machine, 3)
    done = dynamics.rollout(q, v, steps=2000, dt=1e-3, every=500)
    assert not done.stopped
    for k in range(3):
        energies = []
        for t, position, velocity in zip(done.t, done.q[k], done.v[k], strict=True):
            state = State(float(t), position, velocity)
            assert np.abs(dynamics.residual(state).position).max() < 1e-13
            energies.append(dynamics.energy(state).total)
        # RK4 at 1 ms: errors of h⁴ times fifth derivatives, whole turns take about a second
        assert energies == pytest.approx([energies[0]] * 5, abs=1e-8 * max(1.0, energies[0]))


@needs_compiler
def test_it_swings_through_the_flat_configuration():
    machine = shipped("five_bar")
    rates = np.array([1.0, -1.0, 1.0, 1.0])
    # all legs turn alike: the flat configuration, where the rank falls, is passed again and again
    q, v = np.array([0.3 * rates]), np.array([-6.0 * rates])
    done = machine.dynamics("compiled").rollout(q, v, steps=2000, dt=1e-3, every=10)
    assert not done.stopped
    assert done.q[0, :, 0].min() < 0.0
    together = done.q[0] @ np.diag(rates)
    assert np.ptp(together, axis=1).max() < 1e-6  # on the parallel branch, never the other


@needs_compiler
def test_a_trajectory_that_cannot_go_on_stops_alone():
    machine = shipped("five_bar")
    q, v = starts(machine, 2)
    v[0] *= 1e160  # its square is no number any more
    done = machine.dynamics("compiled").rollout(q, v, steps=3, dt=0.05)
    assert set(done.stopped) == {0}
    assert done.stopped[0].t == pytest.approx(0.05, abs=1e-12)
    assert "infinite" in done.stopped[0].reason
    assert np.isnan(done.q[0, 1:]).all()
    assert np.isfinite(done.q[1]).all()


@pytest.mark.slow
@pytest.mark.parametrize("backend", [pytest.param("compiled", marks=needs_compiler), "interpreted"])
def test_loops_that_cannot_be_closed_stop_at_the_start(backend):
    machine = pinned_arm(
        "  far: {type: point, parent: {link: base, xyz: [9.0, 0, 0]}, child: {link: l3}}\n",
        lengths=(1.0, 0.7, 0.5),
    )
    done = machine.dynamics(backend).rollout(
        np.full((2, 3), 0.3), np.zeros((2, 3)), steps=2, dt=0.1
    )
    assert {k: end.t for k, end in done.stopped.items()} == {0: 0.0, 1: 0.0}
    assert np.isnan(done.q).all()


@pytest.mark.slow
@pytest.mark.parametrize("backend", [pytest.param("compiled", marks=needs_compiler), "interpreted"])
def test_a_constraint_that_jumps_within_a_step_stops_the_trajectory(backend):
    """A projection would carry the mechanism along, with a speed that nothing explains."""
    machine = pinned_arm(
        "  steps: {type: expression, expression: j1 - 0.05*tanh(1e7*(t - 0.0103))}\n"
        "  moves: {type: expression, expression: j2 - 0.5*t}\n"
    )
    q, v = np.array([[-0.05, 0.0]]), np.array([[0.0, 0.5]])
    found = machine.dynamics(backend).rollout(q, v, steps=20, dt=1e-3)
    (stopped,) = found.stopped.values()
    assert stopped.t == pytest.approx(0.011)
    assert "jump" in stopped.reason
    assert np.isfinite(found.q[0, :11]).all()
    assert np.isnan(found.q[0, 11:]).all()


@pytest.mark.parametrize(
    ("options", "place"),
    [
        ({"steps": 0}, "steps"),
        ({"steps": 5, "every": 2}, "every"),
        ({"dt": -1.0}, "dt"),
        ({"method": "leapfrog"}, "method"),
        ({"tau": np.zeros((2, 4))}, "tau"),
        ({"q": np.zeros((1, 3))}, "q"),
    ],
)
def test_slips_are_named(options, place):
    given = {"q": np.zeros((1, 4)), "v": np.zeros((1, 4)), "steps": 4, "dt": 1e-3} | options
    with pytest.raises((InputError, StateError)) as caught:
        shipped("five_bar").dynamics("interpreted").rollout(**given)
    assert caught.value.place == place
