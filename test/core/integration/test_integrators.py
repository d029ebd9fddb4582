# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Time stepping on rotations and with projection, against what is conserved or known exactly."""

from __future__ import annotations

import numpy as np
import pytest

from uk_dynamics.core.equation.projection import project_position, project_velocity
from uk_dynamics.core.integration.adaptive import (
    ADAPTIVE_METHODS,
    AdaptiveStepper,
    Tolerances,
    motion_jacobian,
)
from uk_dynamics.core.integration.fixed_step import rk4_step, semi_implicit_euler_step
from uk_dynamics.core.linalg import rotations as so3
from uk_dynamics.core.linalg.mass_factor import mass_factor
from uk_dynamics.core.solver_methods import factorize
from uk_dynamics.exceptions import SimulationError

INERTIA = np.diag([1.0, 2.0, 3.5])  # kg m²
SPIN = np.array([1.0, 2.0, -0.5])  # rad/s in the body


class Rotations:
    """Configurations are rotation matrices as (9,), velocities angular velocities in the body."""

    nv = 3

    def integrate(self, q: np.ndarray, w: np.ndarray) -> np.ndarray:
        return (q.reshape(3, 3) @ so3.exp(w)).ravel()

    def tangent_rate(self, q: np.ndarray, xi: np.ndarray, v: np.ndarray) -> np.ndarray:
        return so3.left_jacobian_inverse(-xi) @ v


class Vectors:
    def __init__(self, nv: int) -> None:
        self.nv = nv

    def integrate(self, q: np.ndarray, w: np.ndarray) -> np.ndarray:
        return q + w

    def tangent_rate(self, q: np.ndarray, xi: np.ndarray, v: np.ndarray) -> np.ndarray:
        return v


def tumbling(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Euler's equations without torque."""
    return np.linalg.solve(INERTIA, -np.cross(v, INERTIA @ v))


def momentum(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return q.reshape(3, 3) @ INERTIA @ v


def fixed_steps(step, count: int, duration: float = 1.0) -> np.ndarray:
    q, v, h = np.eye(3).ravel(), SPIN, duration / count
    for k in range(count):
        q, v = step(Rotations(), tumbling, k * h, q, v, h)
    return q.reshape(3, 3)


def test_one_runge_kutta_step_sees_forces_at_its_start_middle_and_end() -> None:
    """Simpson's rule: exact for a force that is a parabola of time."""
    start, h = 0.7, 1.3
    end = start + h
    q, v = rk4_step(
        Vectors(1), lambda t, q, v: np.array([1.0 + t + t * t]), start, np.zeros(1), np.zeros(1), h
    )
    speed = np.polynomial.Polynomial([0.0, 1.0, 1 / 2, 1 / 3])  # at t, from rest at 0
    way = speed.integ()
    assert v[0] == pytest.approx(speed(end) - speed(start), abs=1e-14)
    assert q[0] == pytest.approx(way(end) - way(start) - speed(start) * h, abs=1e-14)


# The first errors are about 1e-2 and 1e-5, so that neither rounding nor the next order shows.
@pytest.mark.parametrize(
    ("step", "order", "count"), [(rk4_step, 4, 20), (semi_implicit_euler_step, 1, 100)]
)
def test_observed_order_on_rotations(step, order: int, count: int) -> None:
    exact = fixed_steps(rk4_step, 320)
    errors = [np.linalg.norm(so3.log(fixed_steps(step, count * 2**k) @ exact.T)) for k in range(3)]
    observed = np.log2(np.array(errors[:-1]) / errors[1:])
    np.testing.assert_allclose(observed, order, rtol=0, atol=0.15)


def stepper(method: str = "DOP853", duration: float = 3.0, **options) -> AdaptiveStepper:
    return AdaptiveStepper(
        Rotations(), tumbling, 0.0, np.eye(3).ravel(), SPIN, duration, method=method, **options
    )


@pytest.mark.parametrize("method", ADAPTIVE_METHODS)
def test_every_method_keeps_the_tolerance_on_rotations(method: str) -> None:
    """Angular momentum in space is conserved, and it feels both position and velocity."""
    tolerance = 1e-9 if method == "DOP853" else 1e-6
    run = stepper(method, tolerances=Tolerances(tolerance, tolerance))
    samples = []
    while not run.finished:
        before = run.t
        run.step()
        samples += [run.sample(before + part * (run.t - before)) for part in (0.3, 0.8, 1.0)]
    assert run.t == 3.0
    errors = [np.abs(momentum(q, v) - INERTIA @ SPIN).max() for q, v in samples]
    # Local errors of some ten to hundred steps add up; the first samples are held as well.
    assert max(errors) < 300 * tolerance
    for q, _ in samples:
        np.testing.assert_allclose(q.reshape(3, 3).T @ q.reshape(3, 3), np.eye(3), atol=1e-12)


def test_turns_beyond_a_half_need_no_care() -> None:
    """The chart moves with the body: 12 rad about one axis are 12 rad."""
    run = AdaptiveStepper(
        Rotations(), lambda t, q, v: np.zeros(3), 0.0, np.eye(3).ravel(), SPIN, 5.0
    )
    while not run.finished:
        run.step()
    np.testing.assert_allclose(run.q.reshape(3, 3), so3.exp(5.0 * SPIN), rtol=0, atol=1e-9)


def test_evaluations_are_counted() -> None:
    calls = []

    def counted(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        calls.append(t)
        return tumbling(t, q, v)

    run = AdaptiveStepper(Rotations(), counted, 0.0, np.eye(3).ravel(), SPIN, 1.0)
    while not run.finished:
        run.step()
        run.sample(run.t - 1e-3)
    assert run.evaluations == len(calls)
    assert run.steps > 1


class Pendulum:
    """A point mass on a rod of 1 m in Cartesian coordinates, hung up at the origin."""

    G = np.array([0.0, -9.81])

    @staticmethod
    def acceleration(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        factorization = factorize(mass_factor(np.eye(2)), q[None, :])
        return factorization.solve(Pendulum.G, np.array([-(v @ v)])).qdd

    @staticmethod
    def project(t: float, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        def linearize(x: np.ndarray):
            return factorize(mass_factor(np.eye(2)), x[None, :]), np.array([0.5 * (x @ x - 1.0)])

        q, there = project_position(q, linearize, lambda x, w: x + w)
        return q, project_velocity(v, there, there.A @ v)

    @staticmethod
    def energy(q: np.ndarray, v: np.ndarray) -> float:
        return float(0.5 * v @ v - Pendulum.G @ q)


@pytest.mark.parametrize("method", ["DOP853", "RK45", "Radau"])
def test_projection_holds_steps_and_samples_on_the_constraint(method: str) -> None:
    tolerance = 1e-8
    run = AdaptiveStepper(
        Vectors(2),
        Pendulum.acceleration,
        0.0,
        np.array([1.0, 0.0]),
        np.zeros(2),
        2.0,
        method=method,
        tolerances=Tolerances(tolerance, tolerance),
        project=Pendulum.project,
    )
    while not run.finished:
        before = run.t
        run.step()
        for q, v in (run.sample(0.5 * (before + run.t)), (run.q, run.v)):
            assert abs(q @ q - 1.0) < 1e-13
            assert abs(q @ v) < 1e-13
            # of an energy that goes up and down by 9.81 J/kg
            assert abs(Pendulum.energy(q, v)) < 1e3 * tolerance


def test_without_projection_the_same_motion_drifts() -> None:
    """Shows that the test above does not pass by itself."""
    run = AdaptiveStepper(
        Vectors(2),
        Pendulum.acceleration,
        0.0,
        np.array([1.0, 0.0]),
        np.zeros(2),
        2.0,
        method="RK45",
        tolerances=Tolerances(1e-8, 1e-8),
    )
    while not run.finished:
        run.step()
    assert abs(run.q @ run.q - 1.0) > 1e-10


def test_the_step_size_survives_the_moves_of_the_chart() -> None:
    """Twenty periods of an oscillator need as many evaluations with projection as without."""

    def run(project) -> int:
        way = AdaptiveStepper(
            Vectors(1), lambda t, q, v: -q, 0.0, np.ones(1), np.zeros(1), 20.0, project=project
        )
        while not way.finished:
            way.step()
        assert way.q[0] == pytest.approx(np.cos(20.0), abs=1e-7)
        return way.evaluations

    assert run(lambda t, q, v: (q, v)) < 1.1 * run(None)


@pytest.mark.parametrize("method", ADAPTIVE_METHODS)
def test_a_start_without_a_finite_acceleration_is_refused(method: str) -> None:
    with pytest.raises(SimulationError, match="not finite") as caught:
        AdaptiveStepper(
            Vectors(1),
            lambda t, q, v: np.array([np.nan]),
            0.5,
            np.zeros(1),
            np.zeros(1),
            1.0,
            method=method,
        )
    assert caught.value.time == 0.5


def test_a_motion_that_ends_in_finite_time_is_stopped_there() -> None:
    """v̇ = v² from v = 1 leaves every bound at t = 1."""
    run = AdaptiveStepper(Vectors(1), lambda t, q, v: v * v, 0.0, np.zeros(1), np.ones(1), 2.0)

    def to_the_end() -> None:
        while not run.finished:
            run.step()

    with np.errstate(over="ignore"), pytest.raises(SimulationError) as caught:
        to_the_end()
    assert caught.value.time == pytest.approx(1.0, abs=1e-3)


def test_samples_where_the_interpolant_is_unsound_are_integrated() -> None:
    """A force that acts only while a point of the interpolant, not of the step, is evaluated."""
    strange: list[float] = []

    def acceleration(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        value = Pendulum.acceleration(t, q, v)
        return value + np.array([1e3, 1e3]) if strange else value

    run = AdaptiveStepper(
        Vectors(2),
        acceleration,
        0.0,
        np.array([1.0, 0.0]),
        np.zeros(2),
        1.0,
        project=Pendulum.project,
    )
    run.step()
    run.step()
    dense_output = run._solver.dense_output
    run._solver.dense_output = lambda: (strange.append(1.0), dense_output(), strange.clear())[1]
    q, v = run.sample(run.t - 0.3 * (run.t - run.start[0]))
    assert abs(Pendulum.energy(q, v)) < 1e-7


# --- derivatives ---------------------------------------------------------------------------------


def test_the_derivative_of_the_motion_is_that_of_its_equations() -> None:
    """A damped oscillator beside a wheel that nothing holds."""

    def accelerations(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.stack((-4.0 * q[:, 0] - 0.3 * v[:, 0] ** 3, 0.0 * v[:, 1]), axis=1)

    q, v = np.array([1e3, -2e5]), np.array([0.5, 40.0])
    found = motion_jacobian(Vectors(2), accelerations, 0.0, q, np.zeros(2), v)
    expected = np.zeros((4, 4))
    expected[0, 2] = expected[1, 3] = 1.0
    expected[2, 0], expected[2, 2] = -4.0, -0.3 * 3.0 * 0.25
    # rounding of positions and forces of 1e3 over steps of 1e-8
    np.testing.assert_allclose(found, expected, rtol=0, atol=2e-5)


def test_the_derivative_is_taken_to_the_other_side_where_there_is_none() -> None:
    """3 v for v ≤ 1, as of an expression with a root that has no value beyond."""
    found = motion_jacobian(
        Vectors(1),
        lambda t, q, v: np.where(v > 1.0, np.nan, 3.0 * v),
        *(0.0, np.zeros(1), np.zeros(1), np.ones(1)),
    )
    assert found[1, 1] == pytest.approx(3.0, abs=1e-6)


def test_an_implicit_method_takes_a_coordinate_that_nothing_depends_on() -> None:
    """A wheel turns freely beside an oscillator for whose sake the derivative is taken again often.

    Steps of the difference quotient that grow until something changes would become infinite.
    """
    run = AdaptiveStepper(
        Vectors(2),
        lambda t, q, v: np.array([-100.0 * np.sin(q[0]), 0.0 * np.cos(q[1])]),
        *(0.0, np.array([3.0, 0.0]), np.array([0.0, 3.0]), 50.0),
        method="Radau",
        tolerances=Tolerances(1e-3, 1e-4),
        project=lambda t, q, v: (q, v),
    )
    while not run.finished:
        run.step()
    assert run.q[1] == pytest.approx(150.0, abs=1e-6)


def test_errors_of_implicit_methods_name_the_joint() -> None:
    def acceleration(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([-v[0], np.nan if v[1] != 1.0 else 0.0])

    with pytest.raises(SimulationError, match="not finite where wrist moves"):
        AdaptiveStepper(
            Vectors(2),
            acceleration,
            *(0.0, np.zeros(2), np.ones(2), 1.0),
            method="Radau",
            names=("elbow", "wrist"),
        )
