# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Linear systems, equilibria and modes against closed forms and against the motion itself."""

from __future__ import annotations

import numpy as np
import pytest
import yaml
from support import diagonal_spring
from support.mechanism_builder import link, shipped

from uk_dynamics import (
    GravityCompensation,
    Inputs,
    Mechanism,
    State,
    equilibrium,
    linearize,
    linearize_along,
    simulate,
)
from uk_dynamics.cli.main import main
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.resources import shipped_files


def test_the_five_bar_hangs_as_the_pendulum_that_it_is() -> None:
    """All legs stay parallel: J θ̈ = −G cos θ (de Falco); at rest ω² = G / J."""
    mechanism = shipped("five_bar")
    found = equilibrium(mechanism, stable=True)
    system = linearize(mechanism, found.state, found.inputs)
    (mode,) = system.modes()
    inertia, moment = 3 * (0.1 + 0.25) + 2.0, 9.81 * (3 * 0.5 + 2.0)
    # rounding of a stiffness that is known to 1e-10 of the forces
    assert mode.frequency == pytest.approx(np.sqrt(moment / inertia) / (2 * np.pi), abs=1e-9)
    assert abs(mode.damping_ratio) < 1e-9
    assert mode.shape["middle"] == pytest.approx(1.0, abs=1e-9)
    assert mode.shape["coupler"] == pytest.approx(-1.0, abs=1e-9)
    assert np.abs(system.drift).max() < 1e-8


def test_an_undamped_mode_is_printed_without_the_sign_of_rounding(capsys) -> None:
    assert main(["modes", "five_bar", "--motors", "off"]) == 0
    assert "Hz, damping ratio 0: crank 1," in capsys.readouterr().out


@pytest.mark.parametrize("damping", [0.0, 1.0])
def test_the_four_bar_with_a_spring_in_its_diagonal(damping: float) -> None:
    """The IFToMM library's; its published digits are those at an angle that is 4e-11 rad off."""
    data = yaml.safe_load(shipped_files("mechanism")["diagonal_spring"].read_text())
    (spring,) = [f for f in data["forces"].values() if f.get("stiffness")]
    spring["damping"] = damping
    mechanism = Mechanism.from_data(data)
    found = equilibrium(mechanism)
    angle = float(found.state.q[0])
    assert angle == pytest.approx(
        float(diagonal_spring.equilibrium()), abs=2e-11
    )  # as its loop is closed
    (mode,) = linearize(mechanism, found.state, found.inputs).modes()
    assert abs(mode.eigenvalue - diagonal_spring.eigenvalue(damping)) < 1e-10
    assert abs(mode.eigenvalue - diagonal_spring.PUBLISHED[damping]) < 2e-10


def test_it_falls_to_where_it_hangs() -> None:
    """Near the upright pose the curvature has the other sign; forces lead away from there."""
    upright = dict.fromkeys(("crank", "middle", "right"), np.pi / 2 - 0.3)
    found = equilibrium(shipped("five_bar"), upright | {"coupler": 0.3 - np.pi / 2}, stable=True)
    assert np.sin(found.state.q[0]) == pytest.approx(-1.0, abs=1e-9)


def test_upright_it_falls_at_the_same_rate() -> None:
    mechanism = shipped("five_bar")
    upright = dict.fromkeys(("crank", "middle", "right"), np.pi / 2 - 0.05)
    found = equilibrium(mechanism, upright | {"coupler": -np.pi / 2 + 0.05})
    assert found.state.q[0] == pytest.approx(np.pi / 2, abs=1e-9)
    rate = np.sqrt(9.81 * 3.5 / 3.05)
    values = linearize(mechanism, found.state, found.inputs).eigenvalues
    assert np.sort(values.real) == pytest.approx([-rate, rate], abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stewart_platform", "excavator", "rolling_disc", "skate"])
def test_the_linear_system_predicts_the_motion(name: str) -> None:
    """Small deviations after a short time, to second order in both; nonholonomic ones included."""
    mechanism = shipped(name)
    dynamics = mechanism.dynamics("interpreted")
    rng = np.random.default_rng(4)
    nv = mechanism.model.nv
    state = dynamics.project(State(0.0, mechanism.start().q, 0.3 * rng.normal(size=nv)))
    inputs = Inputs(rng.normal(size=nv))
    system = linearize(mechanism, state, inputs)
    x = rng.normal(size=len(system.A))
    h = 1e-5

    def ahead(sign: float) -> tuple[np.ndarray, np.ndarray]:
        """Rates of the state, and velocities, of a deviated motion."""
        change = sign * h * (system.motion @ x)
        q = dynamics.model.integrate(state.q, change[:nv])
        moved = dynamics.project(State(state.t, q, state.v + change[nv:]))
        return moved.v, dynamics.evaluate(moved, inputs).qdd

    (v1, a1), (v0, a0) = ahead(1.0), ahead(-1.0)
    moving = [
        system.outputs.index(s.removesuffix(".rate")) for s in system.states if s.endswith(".rate")
    ]
    expected = system.A @ x
    # central differences: h² times third derivatives of some hundred, rounding 1e-11
    assert expected[-len(moving) :] == pytest.approx(
        ((a1 - a0) / (2 * h))[moving], abs=1e-5 * max(1.0, float(np.abs(expected).max()))
    )
    assert (system.motion @ x)[nv:] == pytest.approx((v1 - v0) / (2 * h), abs=1e-6)


def test_a_free_body_deviates_in_the_frame_that_moves_with_it() -> None:
    """ξ = difference of two motions; its rate by differences in time and in the deviation."""
    machine = Mechanism.from_data(
        {"schema": 1, "model": {"urdf": "body.urdf", "root": "floating"}},
        robot_description=f'<robot name="body">{link("body")}</robot>',
    )
    model, nv = machine.model, machine.model.nv
    rng = np.random.default_rng(2)
    state = State(0.0, model.integrate(model.neutral(), rng.normal(size=nv)), rng.normal(size=nv))
    system = linearize(machine, state)
    x = rng.normal(size=len(system.A))
    h = 1e-4
    change = h * (system.motion @ x)
    moved = model.integrate(state.q, change[:nv])
    ends = [
        model.difference(
            model.integrate(state.q, t * state.v),
            model.integrate(moved, t * (state.v + change[nv:])),
        )
        for t in (h, -h)
    ]
    rate = (ends[0] - ends[1]) / (2 * h) / h
    # differences are off by h times second derivatives of order ten
    assert (system.A @ x)[:nv] == pytest.approx(rate, abs=1e-2)


def test_efforts_act_as_they_do_in_the_mechanism() -> None:
    mechanism = shipped("stewart_platform")
    state = mechanism.start()
    system = linearize(mechanism, state)
    dynamics = mechanism.dynamics("interpreted")
    efforts = np.arange(1.0, 7.0)
    pushed = dynamics.evaluate(state, mechanism.inputs(efforts=efforts)).qdd
    free = dynamics.evaluate(state).qdd
    chosen = [system.outputs.index(s.removesuffix(".rate")) for s in system.states[6:]]
    assert (system.B @ efforts)[6:] == pytest.approx((pushed - free)[chosen], abs=1e-9)


def test_coordinates_of_ones_own_give_the_same_eigenvalues() -> None:
    mechanism = shipped("five_bar")
    found = equilibrium(mechanism, stable=True)
    values = [
        linearize(mechanism, found.state, found.inputs, coordinates=[name]).eigenvalues
        for name in ("crank", "coupler")
    ]
    assert values[0] == pytest.approx(values[1], abs=1e-9)
    with pytest.raises(UnknownNameError, match="crank"):
        linearize(mechanism, found.state, coordinates=["cranc"])
    with pytest.raises(InputError, match="expected 1 coordinates that determine the motion"):
        linearize(mechanism, found.state, coordinates=["crank", "middle"])


def test_held_joints_tell_what_holds_them() -> None:
    """The excavator's cylinders: inverse dynamics at rest needs the same forces."""
    mechanism = shipped("excavator")
    motors = [joint for motor in mechanism.spec.actuators for joint, _ in motor.joints]
    found = equilibrium(mechanism, hold=motors)
    assert (
        np.abs(mechanism.dynamics("interpreted").evaluate(found.state, found.inputs).qdd).max()
        < 1e-6
    )
    efforts = GravityCompensation(mechanism).compute(found.state).values()
    # forces of 2e5 N, known to 1e-10 of them
    assert list(found.holding.values()) == pytest.approx(list(efforts), abs=1e-3)


def test_an_equilibrium_that_is_not_there_is_an_error() -> None:
    mechanism = shipped("five_bar")
    with pytest.raises(InputError, match=r"no equilibrium found near the guess; .* out of balance"):
        equilibrium(mechanism, efforts={"crank_motor": 1000.0})


def test_discrete_steps_are_those_of_the_flow() -> None:
    mechanism = shipped("five_bar")
    found = equilibrium(mechanism, stable=True)
    system = linearize(mechanism, found.state, found.inputs)
    A, B = system.discrete(0.1)
    values, vectors = np.linalg.eig(system.A)
    flow = (vectors * np.exp(0.1 * values)) @ np.linalg.inv(vectors)
    assert pytest.approx(flow.real, abs=1e-12) == A
    assert pytest.approx(np.linalg.solve(system.A, (A - np.eye(2)) @ system.B), abs=1e-12) == B


@pytest.mark.slow
def test_steps_along_a_motion_lead_from_deviation_to_deviation() -> None:
    """The crank of the five-bar falls for 0.2 s; once it starts a little lower, and slower."""
    mechanism, period, steps = shipped("five_bar"), 0.002, 100
    deviation = 1e-5 * np.array([1.0, -3.0])

    def fall(deviation: np.ndarray) -> list[State]:
        start = mechanism.start(crank=0.9 + deviation[0])
        rate = deviation[1] * np.array([1.0 if "coupler" not in n else -1.0 for n in names])
        run = simulate(
            mechanism,
            State(0.0, start.q, rate),
            period * steps,
            sample_period=period,
            backend="interpreted",
        )
        return [State(*sample) for sample in zip(run.t, run.q, run.v, strict=True)]

    names = mechanism.model.velocity_names
    states, moved = fall(np.zeros(2)), fall(deviation)
    x = deviation
    for system in linearize_along(mechanism, states[:-1], coordinates=["crank"]):
        A, _ = system.discrete(period)
        x = A @ x
    crank = names.index("crank")
    found = [moved[-1].q - states[-1].q, moved[-1].v - states[-1].v]
    expected = np.array([part[crank] for part in found])
    # a period squared times curvature of ten, on deviations of 1e-5 to 1e-4
    assert x == pytest.approx(expected, abs=2e-7)
    assert np.abs(expected - deviation).max() > 1e-5
    with pytest.raises(InputError, match="efforts: expected efforts for 101 states, found 1"):
        linearize_along(mechanism, states, np.zeros((1, 1)))


def test_samples_of_a_motion_share_coordinates_and_have_efforts_of_their_own() -> None:
    crank = shipped("slider_crank")
    states, efforts = [crank.start(crank=angle) for angle in (2.2, 0.6)], [[0.5], [1.0]]
    alone = [
        linearize(crank, state, crank.inputs(efforts=np.array(effort)), coordinates=["crank"])
        for state, effort in zip(states, efforts, strict=True)
    ]
    assert linearize(crank, states[1]).states == ("rod", "rod.rate"), "which is better there"
    found = linearize_along(crank, states, np.array(efforts))
    for one, expected in zip(found, alone, strict=True):
        assert one.states == ("crank", "crank.rate")
        # the same numbers by the same steps
        assert pytest.approx(expected.A, abs=1e-12) == one.A
