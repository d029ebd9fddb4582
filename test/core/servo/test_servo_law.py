# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The servo law against inverse dynamics, least squares and the equation it is meant for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.forms import METHODS

from uk_dynamics.core.linalg.mass_factor import mass_factor
from uk_dynamics.core.servo.servo_law import servo_efforts
from uk_dynamics.core.solver_methods import factorize


class Plant:
    """A random structure with motors: M, F, A q̈ = b with one redundant row, S."""

    def __init__(self, seed: int, nv: int = 7, rows: int = 3, motors: int = 4) -> None:
        rng = np.random.default_rng(seed)
        root = rng.standard_normal((nv, nv))
        self.rng, self.nv = rng, nv
        self.M = root @ root.T + nv * np.eye(nv)
        self.A = rng.standard_normal((rows, nv))
        self.A = np.vstack((self.A, self.A.sum(axis=0))) if rows else self.A
        self.b = self.A @ rng.standard_normal(nv)
        self.F = rng.standard_normal(nv)
        self.S = rng.standard_normal((nv, motors))
        self.Z = np.linalg.svd(self.A)[2][rows:].T

    def task(self, rows: int) -> tuple[np.ndarray, np.ndarray]:
        return self.rng.standard_normal((rows, self.nv)), self.rng.standard_normal(rows)

    def servo(self, A_t, b_t, method="auto", **options):
        factorization = factorize(mass_factor(self.M), self.A, method=method)
        free = factorization.solve(self.F, self.b).qdd
        servo = servo_efforts(factorization, free, self.S, A_t, b_t, **options)
        return servo, factorization.solve(self.F + self.S @ servo.efforts, self.b).qdd


@pytest.mark.parametrize("method", METHODS)
@given(st.integers(0, 2**32 - 1))
def test_efforts_are_those_of_inverse_dynamics_where_tasks_fix_the_motion(method, seed) -> None:
    """u = pinv(ZᵀS) Zᵀ (M q̈ − F): fully determined tasks, as many motors as freedoms."""
    plant = Plant(seed)
    A_t, b_t = plant.task(4)
    if max(np.linalg.cond(A_t @ plant.Z), np.linalg.cond(plant.Z.T @ plant.S)) > 1e4:
        return  # the two ways differ by rounding times this
    servo, qdd = plant.servo(A_t, b_t, method)
    particular = np.linalg.lstsq(np.vstack((plant.A, A_t)), np.append(plant.b, b_t), rcond=None)[0]
    effort = np.linalg.pinv(plant.Z.T @ plant.S) @ plant.Z.T @ (plant.M @ particular - plant.F)
    size = 1.0 + np.abs(effort).max()
    np.testing.assert_allclose(servo.efforts, effort, rtol=0, atol=1e-9 * size)
    np.testing.assert_allclose(A_t @ qdd, b_t, rtol=0, atol=1e-9 * size)
    np.testing.assert_allclose(plant.A @ qdd, plant.b, rtol=0, atol=1e-9 * size)
    assert servo.fully_reachable
    assert servo.rank == servo.task_rank == 4


@pytest.mark.parametrize("method", METHODS)
def test_spare_motors_share_by_weight_and_approach_the_preload(method) -> None:
    plant = Plant(0, motors=5)
    A_t, b_t = plant.task(2)
    weights, preload = np.array([1.0, 4.0, 0.01, 100.0, 2.0]), np.arange(5.0)
    servo, qdd = plant.servo(A_t, b_t, method, weights=weights, preload=preload)
    np.testing.assert_allclose(A_t @ qdd, b_t, rtol=0, atol=1e-11)
    # Stationary: W (u − s) is in the range of Cᵀ, C = A_t N S, so no other u is nearer to s.
    N = plant.Z @ np.linalg.inv(plant.Z.T @ plant.M @ plant.Z) @ plant.Z.T
    idle = np.linalg.svd(A_t @ N @ plant.S)[2][2:]
    np.testing.assert_allclose(idle @ (weights * (servo.efforts - preload)), 0.0, atol=1e-10)


def test_redundant_task_rows_do_not_disturb() -> None:
    plant = Plant(1)
    A_t, b_t = plant.task(2)
    once, _ = plant.servo(A_t, b_t)
    twice, _ = plant.servo(np.vstack((A_t, 3.0 * A_t)), np.append(b_t, 3.0 * b_t))
    np.testing.assert_allclose(twice.efforts, once.efforts, rtol=0, atol=1e-11)
    assert twice.rank == twice.task_rank == 2
    assert twice.fully_reachable


def test_contradicting_tasks_are_served_in_the_mean_and_reported() -> None:
    plant = Plant(2)
    A_t, _ = plant.task(1)
    servo, qdd = plant.servo(np.vstack((A_t, A_t)), np.array([1.0, 2.0]))
    np.testing.assert_allclose(A_t @ qdd, 1.5, rtol=0, atol=1e-11)
    np.testing.assert_allclose(servo.residual, [-0.5, 0.5], rtol=0, atol=1e-11)
    assert servo.controllable.all()
    assert not servo.reachable.any()


def test_too_few_motors_leave_the_least_residual() -> None:
    plant = Plant(3, motors=2)
    A_t, b_t = plant.task(4)
    servo, qdd = plant.servo(A_t, b_t)
    np.testing.assert_allclose(servo.residual, b_t - A_t @ qdd, rtol=0, atol=1e-11)
    N = plant.Z @ np.linalg.inv(plant.Z.T @ plant.M @ plant.Z) @ plant.Z.T
    np.testing.assert_allclose((A_t @ N @ plant.S).T @ servo.residual, 0.0, atol=1e-11)
    assert (servo.rank, servo.task_rank) == (2, 4)
    assert not servo.reachable.any()


def test_one_row_out_of_reach_does_not_hide_the_other() -> None:
    """Two free masses, one motor on the first."""
    factorization = factorize(mass_factor(np.diag([2.0, 3.0])), np.zeros((0, 2)))
    servo = servo_efforts(
        factorization, np.zeros(2), np.array([[1.0], [0.0]]), np.eye(2), np.array([1.0, 1.0])
    )
    np.testing.assert_allclose(servo.efforts, [2.0], rtol=0, atol=1e-14)
    assert servo.reachable.tolist() == [True, False]
    assert servo.controllable.tolist() == [True, False]


@pytest.mark.parametrize(("wanted", "reachable"), [(0.0, True), (1.0, False)])
def test_a_row_that_the_structure_holds_is_reachable_only_where_it_is(wanted, reachable) -> None:
    M, A = np.diag([1.0, 2.0, 3.0]), np.array([[1.0, 0.0, 0.0]])
    factorization = factorize(mass_factor(M), A)
    free = factorization.solve(np.zeros(3), np.zeros(1)).qdd
    servo = servo_efforts(factorization, free, np.eye(3), A, np.array([wanted]))
    assert servo.task_rank == 0
    assert bool(servo.reachable[0]) is reachable
    np.testing.assert_allclose(servo.efforts, 0.0, atol=1e-14)


def test_forces_and_torques_of_very_different_size_do_not_hide_each_other() -> None:
    """A 10 kN press and a 1 mN m motor, each with its task row."""
    factorization = factorize(mass_factor(np.diag([1e4, 1e-7])), np.zeros((0, 2)))
    b_t = np.array([0.5, 20.0])
    servo = servo_efforts(
        factorization, np.zeros(2), np.eye(2), np.eye(2), b_t, weights=np.array([1e-8, 1e6])
    )
    np.testing.assert_allclose(servo.efforts, [5e3, 2e-6], rtol=1e-12, atol=0)
    assert servo.rank == 2
    assert servo.fully_reachable


def test_the_law_needs_no_inverse_of_the_mass() -> None:
    """A massless feeler tied to a carriage; the motor pulls at the feeler."""
    M, A = np.diag([2.0, 0.0]), np.array([[1.0, -1.0]])
    factorization = factorize(mass_factor(M), A)
    free = factorization.solve(np.zeros(2), np.zeros(1)).qdd
    servo = servo_efforts(
        factorization, free, np.array([[0.0], [1.0]]), np.array([[1.0, 0.0]]), np.array([3.0])
    )
    np.testing.assert_allclose(servo.efforts, [6.0], rtol=0, atol=1e-13)
