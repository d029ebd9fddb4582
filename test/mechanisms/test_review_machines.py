# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Spiral particle and swarm of the review, sections 8.1 and 8.2, against closed forms."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.integrate import solve_ivp
from support.mechanism_builder import shipped

from uk_dynamics import simulate
from uk_dynamics.exceptions import ExpressionValueError, InputError
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.mechanism.resolution.state import Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.resources import share_directory

Array = NDArray[np.float64]

G = 9.81

# --- 8.1: r = exp(0.1 θ), θ = 30 − t --------------------------------------------------------------


def spiral_errors(q: Array, v: Array, t: Array) -> tuple[Array, Array]:
    """ε₁ and ε₂ of (58) and (59)."""
    theta, r = q.T
    theta_rate, r_rate = v.T
    radius = np.exp(0.1 * theta)
    return (
        np.hypot(r - radius, theta + t - 30.0),
        np.hypot(r_rate - 0.1 * radius * theta_rate, theta_rate + 1.0),
    )


def test_the_particle_stays_on_its_spiral_for_a_minute() -> None:
    mechanism = shipped("spiral_particle")
    assert mechanism.model.velocity_names == ("theta", "r")
    start = mechanism.start()
    # The paper's initial condition: r = e³, θ = 30, ṙ = −0.1 e³, θ̇ = −1.
    np.testing.assert_allclose(start.q, [30.0, math.exp(3.0)], rtol=0, atol=1e-13)
    np.testing.assert_allclose(start.v, [-1.0, -0.1 * math.exp(3.0)], rtol=0, atol=1e-13)
    trajectory = simulate(mechanism, start, 60.0, sample_period=0.05)
    position, rate = spiral_errors(trajectory.q, trajectory.v, trajectory.t)
    assert position.max() <= 1e-10
    assert rate.max() <= 1e-10
    # Both together leave no freedom, so the motion itself is a closed form.
    np.testing.assert_allclose(trajectory.q[:, 0], 30.0 - trajectory.t, rtol=0, atol=1e-10)
    np.testing.assert_allclose(
        trajectory.q[:, 1], np.exp(0.1 * (30.0 - trajectory.t)), rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("t", [0.0, 7.3, 31.0, 58.9])
def test_forces_on_the_spiral_in_closed_form(t: float) -> None:
    """(57) with (51): F^c = q̈ − a₀; in the URDF's coordinates the θ component is r² times it."""
    mechanism = shipped("spiral_particle")
    theta = 30.0 - t
    r = math.exp(0.1 * theta)
    state = State(t, np.array([theta, r]), np.array([-1.0, -0.1 * r]))
    solution = mechanism.dynamics().evaluate(state)
    np.testing.assert_allclose(solution.qdd, [0.0, 0.01 * r], rtol=0, atol=1e-12)
    in_r = 0.01 * r - r + G * math.sin(theta)
    in_theta = (2.0 * 0.1 * r + G * math.cos(theta)) / r
    np.testing.assert_allclose(
        solution.constraint_force, [r * r * in_theta, in_r], rtol=0, atol=1e-10 * (1.0 + r * r)
    )
    mass = mechanism.terms(state).M
    np.testing.assert_allclose(mass, np.diag([r * r, 1.0]), rtol=0, atol=1e-12)


def test_the_second_order_form_of_the_spiral() -> None:
    """A and b of (55); the drive's row comes second, coordinates are θ, r."""
    mechanism = shipped("spiral_particle")
    theta, rate = 1.3, -0.7
    state = State(4.0, np.array([theta, 0.9]), np.array([rate, 0.2]))
    terms = mechanism.terms(state, Inputs(stabilize=False))
    growth = math.exp(0.1 * theta)
    np.testing.assert_allclose(terms.A, [[-0.1 * growth, 1.0], [1.0, 0.0]], rtol=0, atol=1e-15)
    np.testing.assert_allclose(terms.b, [0.01 * growth * rate**2, 0.0], rtol=0, atol=1e-15)


# --- 8.2: the swarm ------------------------------------------------------------------------------


def drift(q: Array) -> Array:
    """What (61) with (62) wants the velocities to be, (2 N,), by coordinates x₁ y₁ x₂ y₂ ..."""
    places = q.reshape(-1, 2)
    wanted = np.zeros_like(places)
    for i, own in enumerate(places):
        for j, other in enumerate(places):
            if i != j:
                d = own - other
                wanted[i] -= d * (1.0 - 0.5 / np.linalg.norm(d))
    return wanted.reshape(-1)


def potential(q: Array) -> float:
    """Σ G_ij of (62) over pairs, without its constant."""
    places = q.reshape(-1, 2)
    distances = [np.linalg.norm(a - b) for i, a in enumerate(places) for b in places[:i]]
    return float(sum(0.5 * d * d - 0.5 * d for d in distances))


def published_acceleration(q: Array, v: Array) -> Array:
    """φ_i of (63)."""
    places, rates = q.reshape(-1, 2), v.reshape(-1, 2)
    found = np.zeros_like(places)
    for i in range(len(places)):
        for j in range(len(places)):
            if i != j:
                d, u = places[i] - places[j], rates[i] - rates[j]
                length = np.linalg.norm(d)
                found[i] -= u * (1.0 - 0.5 / length) + 0.5 * d * (d @ u) / length**3
    return found.reshape(-1)


def swarm_of(places: Array) -> Mechanism:
    """The shipped swarm with other robots: two numbers and their places, as its file says."""
    text = (share_directory() / "config" / "swarm.yaml").read_text()
    guess = ", ".join(f"x_{i}: {x}, y_{i}: {y}" for i, (x, y) in enumerate(places, start=1))
    changed = "\n".join(
        f"initial_guess: {{{guess}}}"
        if line.startswith("initial_guess")
        else line.replace("robots: 5", f"robots: {len(places)}")
        for line in text.splitlines()
    )
    return Mechanism.from_spec(MechanismSpec.from_text(changed, file="swarm.yaml"))


def test_the_swarm_obeys_its_law_and_its_potential_falls() -> None:
    mechanism = shipped("swarm")
    trajectory = simulate(mechanism, mechanism.start(), 3.0, sample_period=0.02)
    wanted = np.array([drift(q) for q in trajectory.q])
    # β of (65): rounding of velocities of up to 20 m/s
    assert np.abs(trajectory.v - wanted).max() <= 1e-13
    falls = np.diff([potential(q) for q in trajectory.q])
    assert falls.max() <= 1e-9
    centre = trajectory.q.reshape(-1, 5, 2).mean(axis=1)
    np.testing.assert_allclose(centre, centre[:1].repeat(len(centre), 0), rtol=0, atol=1e-9)
    # They come together, the two that start side by side move apart, and none meet.
    places = trajectory.q.reshape(-1, 5, 2)
    distances = np.array(
        [[np.linalg.norm(a - b) for i, a in enumerate(p) for b in p[:i]] for p in places]
    )
    assert distances[0].max() > 4.0
    assert distances[-1].max() < 1.0
    assert distances[0].min() == pytest.approx(0.1)
    assert distances[-1].min() > 0.2
    assert distances.min() > 0.099


def test_two_robots_in_closed_form() -> None:
    """Their distance obeys Ḋ = 1 − 2 D."""
    mechanism = swarm_of(np.array([[0.0, 0.0], [3.0, 4.0]]))
    trajectory = simulate(mechanism, mechanism.start(), 2.0, sample_period=0.1)
    distance = np.linalg.norm(trajectory.q[:, 2:] - trajectory.q[:, :2], axis=1)
    expected = 0.5 + 4.5 * np.exp(-2.0 * trajectory.t)
    np.testing.assert_allclose(distance, expected, rtol=0, atol=1e-8)  # rtol 1e-9 of the steps


@pytest.mark.parametrize("count", [2, 5, 9])
def test_any_number_of_robots(count: int) -> None:
    places = np.random.default_rng(count).uniform(-3.0, 3.0, (count, 2))
    mechanism = swarm_of(places)
    assert mechanism.row_names[:2] == ("swarm.x_1", "swarm.y_1")
    assert len(mechanism.row_names) == mechanism.model.nv == 2 * count
    state = mechanism.state(v=np.random.default_rng(1).uniform(-1.0, 1.0, 2 * count))
    terms = mechanism.terms(state, Inputs(stabilize=False))
    phi = published_acceleration(state.q, state.v)
    np.testing.assert_allclose(terms.A, np.eye(2 * count), rtol=0, atol=0)
    np.testing.assert_allclose(terms.b, phi, rtol=0, atol=1e-11 * (1.0 + np.abs(phi).max()))
    force = mechanism.dynamics().evaluate(state, Inputs(stabilize=False)).constraint_force
    np.testing.assert_allclose(force, 2.0 * phi, rtol=0, atol=1e-11 * (1.0 + np.abs(phi).max()))


@pytest.mark.parametrize("stabilize", [True, False])
def test_a_wrong_start_is_corrected_by_the_stabilisation_only(stabilize: bool) -> None:
    """β̇ = −ωβ; with (64) as it is written, b = φ, it stays what it was."""
    mechanism = shipped("swarm")
    dynamics = mechanism.dynamics()
    start = mechanism.state()  # at rest, and the law wants them to move
    n = len(start.q)
    inputs = Inputs(stabilize=stabilize)

    def motion(t: float, y: Array) -> Array:
        qdd = dynamics.evaluate(State(t, y[:n], y[n:]), inputs).qdd
        return np.concatenate((y[n:], qdd))

    y0 = np.concatenate((start.q, start.v))
    times = np.linspace(0.0, 0.5, 11)
    found = solve_ivp(motion, (0.0, 0.5), y0, t_eval=times, rtol=1e-10, atol=1e-11).y.T
    beta = np.linalg.norm([y[n:] - drift(y[:n]) for y in found], axis=1)
    omega = 2.0 * math.pi * 5.0 if stabilize else 0.0
    assert beta[0] > 10.0
    np.testing.assert_allclose(beta, beta[0] * np.exp(-omega * times), rtol=0, atol=1e-7)


def test_robots_in_one_place_have_no_law() -> None:
    mechanism = swarm_of(np.zeros((2, 2)))
    with pytest.raises(ExpressionValueError, match=r"swarm\.x_1: at t = 0 s .* has no value"):
        mechanism.dynamics().evaluate(mechanism.state())


# --- arguments of xacro --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "part"),
    [
        ("{urdf: URDF/swarm.urdf.xacro, xacro: {robot: 3}}", 'no xacro argument "robot".*"robots"'),
        ("{urdf: URDF/swarm.urdf.xacro, xacro: {robots: many}}", "xacro: .*n > 0"),
        ("{urdf: URDF/dual_panda.urdf, xacro: {robots: 3}}", "takes no arguments"),
        ("{urdf: URDF/four_bar.urdf.xacro, xacro: {robots: 3}}", "no xacro argument at all"),
    ],
)
def test_arguments_that_no_xacro_file_takes(model: str, part: str, tmp_path: Path) -> None:
    file = tmp_path / "robots.yaml"
    file.write_text(f"schema: 1\nmodel: {model.replace('URDF', 'package://uk_dynamics/urdf')}")
    with pytest.raises(InputError, match=part) as caught:
        Mechanism.from_file(file)
    urdf = model.split("/")[1].split(",")[0]  # who passes arguments, and who does not take them
    assert str(caught.value).startswith(f"{file}: model.xacro: {urdf}: ")


def test_arguments_of_xacro_are_text_or_numbers() -> None:
    text = "schema: 1\nmodel: {urdf: swarm.urdf.xacro, xacro: {robots: [3]}}"
    with pytest.raises(InputError, match=r"model\.xacro\.robots: found a list"):
        MechanismSpec.from_text(text)
