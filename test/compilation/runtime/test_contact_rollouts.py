# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Trajectories of many states over contacts, stops and stiction: single ones, and closed forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from compilation.runtime.test_compiled_contacts import LEG
from simulation.test_contacts import PLANK, G
from simulation.test_stiction import MASS, SLIDE
from support.mechanism_builder import link, mechanism
from support.repository import ROOT

import uk_dynamics as ukd
from uk_dynamics.compilation.build import compiler
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.contact import ClosedContacts
from uk_dynamics.mechanism.resolution import Inputs, State

STEP = 1e-3  # s
OVER: dict[str, Any] = {"dt": STEP, "method": "moreau"}
needs_compiler = pytest.mark.skipif(
    compiler.find_compiler() is None, reason="there is no C compiler on this machine"
)
BACKENDS = [pytest.param("compiled", marks=needs_compiler), "interpreted"]


@pytest.fixture(scope="module")
def leg() -> ukd.Mechanism:
    return ukd.Mechanism.from_data(LEG)


@pytest.fixture(scope="module")
def plank() -> ukd.Mechanism:
    return mechanism(link("plank", 2.0, 0.02), PLANK % 0.0)


def starts(machine: ukd.Mechanism, count: int, speed: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    """The first at rest, all others with velocities of their own, on the loops."""
    dynamics, home = machine.dynamics("compiled"), machine.start()
    rng = np.random.default_rng(4)
    v = speed * rng.standard_normal((count, machine.model.nv))
    v[0] = 0.0
    base = ClosedContacts(machine).without(machine.hierarchy.initial)
    found = [dynamics.project(State(0.0, home.q, x), Inputs(active=base)) for x in v]
    return np.array([x.q for x in found]), np.array([x.v for x in found])


@needs_compiler
@pytest.mark.parametrize(
    ("example", "steps", "speed"),
    [
        # in the air: points with friction and restitution, a joint that sticks, a rope
        ("", 400, 0.3),
        # standing, where simulations begin with impacts of what moves: loops and friction
        pytest.param("plantigrade", 300, 0.0, marks=pytest.mark.slow),
        # in the air: loops and stops
        pytest.param("stewart_drop", 300, 0.3, marks=pytest.mark.slow),
    ],
)
def test_each_is_a_simulation_of_its_own(
    example: str, steps: int, speed: float, leg: ukd.Mechanism
) -> None:
    machine = leg
    if example:
        machine = ukd.Mechanism.from_file(ROOT / f"examples/{example}/{example}.yaml")
    dynamics, (q, v) = machine.dynamics("compiled"), starts(machine, 4, speed)
    tau = np.random.default_rng(5).uniform(-0.5, 0.5, v.shape)
    many = dynamics.rollout(q, v, tau, steps=steps, every=20, **OVER)
    assert not many.stopped
    assert not many.warnings
    contacts, struck = ClosedContacts(machine), False
    for k in range(len(q)):
        period = 20 * STEP
        alone = ukd.simulate(
            machine,
            State(0.0, q[k], v[k]),
            steps * STEP,
            tau=tau[k],
            method="moreau",
            step=STEP,
            sample_period=period,
            backend="compiled",
        )
        # rounding of some hundred steps, multiplied by impacts
        np.testing.assert_allclose(many.q[k], alone.q, rtol=0, atol=1e-10)
        np.testing.assert_allclose(many.v[k], alone.v, rtol=0, atol=1e-8)
        struck |= bool(alone.switchings)
        for t, *state in zip(many.t, many.q[k], many.v[k], strict=True):
            assert contacts.places(State(t, *state)).gap.min() > -1.1e-9  # m or rad
            residual = dynamics.residual(State(t, *state)).position
            closed = [i for i in range(len(residual)) if i not in contacts.tables.row]
            assert not closed or np.abs(residual[closed]).max() < 1e-12
    assert struck


@pytest.mark.slow
@needs_compiler
def test_threads_change_nothing_and_efforts_act_step_by_step(leg: ukd.Mechanism) -> None:
    dynamics, (q, v) = leg.dynamics("compiled"), starts(leg, 7)
    tau = np.random.default_rng(6).uniform(-2.0, 2.0, (7, 60, leg.model.nv))
    alone, many = (
        dynamics.rollout(q, v, tau, steps=60, every=3, threads=threads, **OVER)
        for threads in (1, 3)
    )
    np.testing.assert_array_equal(alone.q, many.q)
    np.testing.assert_array_equal(alone.v, many.v)
    expected = leg.dynamics("interpreted").rollout(q, v, tau, steps=60, every=3, **OVER)
    np.testing.assert_allclose(many.q, expected.q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(many.v, expected.v, rtol=0, atol=1e-8)
    # efforts do something, and not only those of the first step
    held = dynamics.rollout(q, v, tau[:, 0], steps=60, every=3, **OVER)
    assert np.abs(held.q - many.q).max() > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_slides_stops_and_sticks_up_to_the_cone(backend, plank: ukd.Mechanism) -> None:
    """A plank with friction 0.5 on five feet, pushed in its centre of mass."""
    force = np.array([0.49, 0.5, 0.51, 0.6, 0.0, 0.0]) * 2.0 * G
    speed = np.array([0.0, 0.0, 0.0, 0.0, 0.2, 0.1])
    q = np.tile(plank.start().q, (6, 1))
    v, tau = np.zeros((2, 6, 6))
    v[:, 0], tau[:, 0] = speed, force
    steps = 100
    found = plank.dynamics(backend).rollout(q, v, tau, steps=steps, every=steps, **OVER)
    time = steps * STEP
    x, v = found.q[:, -1, 0], found.v[:, -1, 0]
    # at 0.5 either is right
    assert x[0] == pytest.approx(0.0, abs=1e-12)
    for k, part in ((2, 0.01), (3, 0.1)):
        assert x[k] == pytest.approx(0.5 * part * G * time**2, abs=1e-10)
    stops = speed[4:] ** 2 / G  # v²/(2 mu g)
    # the last step takes what is left of the velocity, constant deceleration does not
    np.testing.assert_allclose(x[4:], stops, rtol=0, atol=0.5 * G * STEP**2)
    np.testing.assert_allclose(v[[0, 4, 5]], 0.0, rtol=0, atol=1e-9)
    np.testing.assert_allclose(found.q[:, -1, 2], q[:, 2], rtol=0, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_a_joint_at_rest_begins_with_its_static_friction(backend) -> None:
    slide = mechanism(SLIDE, "joints: {x: {friction: 3.0, stiction: 5.0}}")
    tau = np.array([[4.99], [5.01], [4.99]])
    v = np.array([[0.0], [0.0], [0.1]])
    found = slide.dynamics(backend).rollout(np.zeros((3, 1)), v, tau, steps=100, every=100, **OVER)
    end = found.q[:, -1, 0]
    assert end[0] == pytest.approx(0.0, abs=1e-15)
    # with friction 3 once it moves; before, in one step, with 5
    moves = 0.5 * (5.01 - 3.0) / MASS * 0.1**2
    assert end[1] == pytest.approx(moves, abs=0.1 * STEP * 2.0 / MASS)
    assert end[2] == pytest.approx(0.01 + 0.5 * (4.99 - 3.0) / MASS * 0.1**2, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_those_that_cannot_begin_or_go_on_stop_alone(backend, plank: ukd.Mechanism) -> None:
    q, v = np.tile(plank.start().q, (3, 1)), np.zeros((3, 6))
    q[0, 2] -= 0.01
    v[1, 3:] = 1e160  # its square is no number any more
    found = plank.dynamics(backend).rollout(q, v, steps=4, every=2, t=1.0, **OVER)
    assert set(found.stopped) == {0, 1}
    assert found.stopped[0].t == 1.0
    assert "foot.left is 0.01 m or rad inside" in found.stopped[0].reason
    assert np.isnan(found.q[0]).all()
    assert found.stopped[1].t == pytest.approx(1.0 + STEP, abs=1e-12)
    assert "infinite" in found.stopped[1].reason
    assert np.isnan(found.q[1, 1:]).all()
    np.testing.assert_allclose(found.q[2], [q[2]] * 3, rtol=0, atol=1e-9)


@needs_compiler
def test_forces_that_c_does_not_know_act_as_well(plank: ukd.Mechanism) -> None:
    """A non-ideal force in a direction that nothing constrains is one of ``tau``."""
    q, v, push = plank.start().q, np.zeros(6), np.array([0.6 * 2.0 * G, 0, 0, 0, 0, 0])
    dynamics = plank.dynamics("compiled")
    asked = dynamics.rollout(q, v, steps=20, inputs=Inputs(nonideal=push), **OVER)
    known = dynamics.rollout(q, v, push, steps=20, **OVER)
    np.testing.assert_allclose(asked.q, known.q, rtol=0, atol=1e-10)
    assert known.q[0, -1, 0] > 1e-4


@pytest.mark.parametrize("backend", BACKENDS)
def test_methods_that_do_not_fit_are_refused(backend, plank: ukd.Mechanism) -> None:
    q, v = plank.start().q, np.zeros(6)
    dynamics = plank.dynamics(backend)
    with pytest.raises(InputError, match=r'foot\.left: rk4 .* take method="moreau"'):
        dynamics.rollout(q, v, steps=2, dt=STEP)
    with pytest.raises(InputError, match="project: steps of moreau end on the constraints"):
        dynamics.rollout(q, v, steps=2, project=False, **OVER)
    smooth = mechanism(SLIDE, "").dynamics(backend)
    with pytest.raises(InputError, match="method: moreau is for contacts"):
        smooth.rollout([[0.0]], [[0.0]], steps=2, **OVER)
