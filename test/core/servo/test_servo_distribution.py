# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How efforts are shared: the Udwadia–Kalaba force and the feedback of the review's (71), (72)."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uk_dynamics.core.linalg.mass_factor import mass_factor
from uk_dynamics.core.servo.servo_law import servo_efforts
from uk_dynamics.core.solver_methods import factorize

SEEDS = st.integers(0, 10_000)
ROUNDING = 1e-8  # conditions of up to 1e4 of random matrices of size eight, squared at worst


def system(seed, rows=0, tasks=2, nv=8):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((nv, nv)) + 3.0 * np.eye(nv)
    M, A = root @ root.T + np.eye(nv), rng.standard_normal((rows, nv))
    return rng, M, A, rng.standard_normal((tasks, nv)), rng.standard_normal(nv)


@settings(deadline=None, max_examples=25)
@given(seed=SEEDS)
def test_with_a_motor_on_every_coordinate_gauss_gives_the_force_of_udwadia_and_kalaba(seed):
    rng, M, A, A_t, F = system(seed)
    b = rng.standard_normal(2)
    factorization = factorize(mass_factor(M), A)
    free = np.linalg.solve(M, F)
    servo = servo_efforts(factorization, free, np.eye(8), A_t, b, distribution="gauss")
    values, vectors = np.linalg.eigh(M)
    half = (vectors * np.sqrt(values)) @ vectors.T
    expected = half @ np.linalg.pinv(A_t @ np.linalg.inv(half)) @ (b - A_t @ free)
    assert servo.efforts == pytest.approx(expected, abs=ROUNDING)
    assert servo.fully_reachable


@settings(deadline=None, max_examples=25)
@given(seed=SEEDS)
def test_feedback_by_the_generalized_inverse_is_that_of_the_review(seed):
    rng, M, A, A_t, F = system(seed)
    b, r = rng.standard_normal(2), rng.standard_normal(2)
    factorization = factorize(mass_factor(M), A)
    free = np.linalg.solve(M, F)
    args = factorization, free, np.eye(8), A_t
    without = servo_efforts(*args, b, distribution="gauss")
    servo = servo_efforts(*args, b + r, distribution="gauss", feedback=r)
    expected = M @ A_t.T @ np.linalg.solve(A_t @ A_t.T, r)
    assert servo.efforts - without.efforts == pytest.approx(expected, abs=ROUNDING)
    assert servo.residual == pytest.approx(np.zeros(2), abs=ROUNDING)


@pytest.mark.parametrize("method", ["udwadia_kalaba", "nullspace"])
@settings(deadline=None, max_examples=15)
@given(seed=SEEDS)
def test_within_loops_no_other_efforts_change_the_motion_less(method, seed):
    rng, M, A, A_t, F = system(seed, rows=2)
    S, b, r = rng.standard_normal((8, 5)), rng.standard_normal(2), rng.standard_normal(2)
    factorization = factorize(mass_factor(M), A, method=method)
    free = factorization.solve(F, np.zeros(2)).qdd
    C = A_t @ factorization.admissible(S)
    idle = np.linalg.svd(C)[2][2:].T  # efforts that leave the tasks alone
    gauss = servo_efforts(factorization, free, S, A_t, b, distribution="gauss")
    back = servo_efforts(factorization, free, S, A_t, A_t @ free + r, feedback=r)
    for servo, wanted in ((gauss, b - A_t @ free), (back, r)):
        assert C @ servo.efforts == pytest.approx(wanted, abs=ROUNDING)
    # The derivative of ẍᵀMẍ, and of ẍᵀẍ, along every idle effort vanishes.
    moved = factorization.admissible(S @ idle)
    assert moved.T @ M @ factorization.admissible(S @ gauss.efforts) == pytest.approx(
        np.zeros(3), abs=ROUNDING
    )
    assert moved.T @ factorization.admissible(S @ back.efforts) == pytest.approx(
        np.zeros(3), abs=ROUNDING
    )


def test_motors_that_do_the_same_share_by_their_weights():
    rng, M, A, A_t, F = system(1)
    S = np.hstack((np.eye(8), np.eye(8)))
    weights = np.concatenate((np.ones(8), np.full(8, 4.0)))
    factorization = factorize(mass_factor(M), A)
    free = np.linalg.solve(M, F)
    b = rng.standard_normal(2)
    servo = servo_efforts(factorization, free, S, A_t, b, weights=weights, distribution="gauss")
    assert servo.efforts[:8] == pytest.approx(4.0 * servo.efforts[8:], abs=ROUNDING)


@pytest.mark.parametrize("distribution", ["effort", "gauss"])
def test_a_preload_acts_where_the_tasks_leave_freedom(distribution):
    rng, M, A, A_t, F = system(2)
    factorization = factorize(mass_factor(M), A)
    free = np.linalg.solve(M, F)
    b, s = rng.standard_normal(2), rng.standard_normal(8)
    servo = servo_efforts(
        factorization, free, np.eye(8), A_t, b, preload=s, distribution=distribution
    )
    assert servo.residual == pytest.approx(np.zeros(2), abs=ROUNDING)


def test_motors_that_move_nothing_are_left_at_rest():
    M, A_t = np.diag([1.0, 2.0]), np.array([[1.0, 0.0]])
    factorization = factorize(mass_factor(M), np.zeros((0, 2)))
    S = np.array([[0.0], [1.0]])
    servo = servo_efforts(
        factorization, np.zeros(2), S, A_t, np.ones(1), distribution="gauss", feedback=np.ones(1)
    )
    assert (servo.rank, servo.task_rank) == (0, 1)
    assert servo.efforts.tolist() == [0.0]
    assert servo.residual == pytest.approx([1.0], abs=0)
