# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The lemmas of the servo paper as they stand there, on random systems of every rank."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uk_dynamics.core.linalg.mass_factor import mass_factor
from uk_dynamics.core.servo.lemmas import servo_lemmas, solutions
from uk_dynamics.core.servo.servo_law import servo_efforts
from uk_dynamics.core.solver_methods import factorize

seeds = st.integers(0, 2**32 - 1)


def matrix(rng, m, n, rank):
    """A random matrix of given rank whose singular values lie between 0.5 and 2."""
    left = np.linalg.qr(rng.standard_normal((m, m)))[0][:, :rank]
    right = np.linalg.qr(rng.standard_normal((n, n)))[0][:, :rank]
    return left @ np.diag(rng.uniform(0.5, 2.0, rank)) @ right.T


def system(seed, m=4, n=6, p=5):
    """M^{-1/2}, A, b consistent, Q, B of a plant without structure, as the paper has it."""
    rng = np.random.default_rng(seed)
    root = matrix(rng, n, n, n)
    values, vectors = np.linalg.eigh(root @ root.T + np.eye(n))
    half = (vectors / np.sqrt(values)) @ vectors.T
    A = matrix(rng, m, n, rng.integers(1, m + 1))
    return rng, half, A, A @ rng.standard_normal(n), rng.standard_normal(n), matrix(rng, n, p, p)


@given(seeds)
def test_lemma_1_a_consistent_equation_is_told_from_a_contradiction(seed) -> None:
    _, half, A, b, _, _ = system(seed)
    found = solutions(A, b)
    assert found.consistent
    assert found.rank == np.linalg.matrix_rank(A)
    np.testing.assert_allclose(found.least, np.linalg.pinv(A, rcond=1e-9) @ b, rtol=0, atol=1e-11)
    # Lemma 2: M^{1/2} changes nothing about it.
    assert solutions(A @ half, b).consistent
    left = np.linalg.svd(A)[0][:, found.rank :]  # combinations of rows that vanish
    if left.shape[1]:
        wrong = solutions(A, b + left[:, 0])
        assert not wrong.consistent
        assert not solutions(A @ half, b + left[:, 0]).consistent
        # Only rows of a vanishing combination can be to blame.
        assert not wrong.contradicting[np.abs(left).max(axis=1) < 1e-9].any()


@given(seeds)
def test_lemmas_3_and_4_the_arbitrary_vectors_change_nothing_but_themselves(seed) -> None:
    rng, half, A, b, Q, _ = system(seed)
    C, a, n = A @ half, half @ Q, len(Q)
    c = rng.standard_normal(n)
    pinv = np.linalg.pinv(C, rcond=1e-9)
    motion = solutions(C, b)
    np.testing.assert_allclose(C @ motion.at(c), b, rtol=0, atol=1e-10)
    expected = pinv @ b + (np.eye(n) - pinv @ C) @ c  # (28)
    np.testing.assert_allclose(motion.at(c), expected, rtol=0, atol=1e-10)
    force = solutions(C, b - C @ a)
    np.testing.assert_allclose(C @ (a + force.at(c)), b, rtol=0, atol=1e-10)  # (29)
    # (30), (31): the least force is the one a passive constraint gives.
    passive = pinv @ (b - C @ a)
    np.testing.assert_allclose(force.at(np.zeros(n)), passive, rtol=0, atol=1e-10)
    assert np.linalg.norm(force.at(c)) >= np.linalg.norm(passive) - 1e-10
    assert motion.freedom == force.freedom == n - motion.rank


@given(seeds)
def test_theorem_1_all_controls_serve_the_task_and_differ_where_it_is_blind(seed) -> None:
    rng, half, A, b, Q, B = system(seed)
    C, a = A @ half, half @ Q
    K, missing = C @ half @ B, b - C @ a
    found = solutions(K, missing)
    if not found.consistent:  # (33) may fail even where (34) holds: fewer motors than rows
        assert 1 <= found.rank < np.linalg.matrix_rank(A, tol=1e-9)
        return
    s = rng.standard_normal(B.shape[1])
    pinv = np.linalg.pinv(K, rcond=1e-9)
    np.testing.assert_allclose(K @ found.at(s), missing, rtol=0, atol=1e-9)
    expected = pinv @ missing + (np.eye(len(s)) - pinv @ K) @ s  # (35)
    size = 1.0 + np.abs(pinv).max()
    np.testing.assert_allclose(found.at(s), expected, rtol=0, atol=1e-9 * size)
    assert found.freedom == B.shape[1] - found.rank


def structure():
    """Three unit masses, x₂ = 0 held; a motor on x₁ alone."""
    factorization = factorize(mass_factor(np.eye(3)), np.array([[0.0, 1.0, 0.0]]))
    return factorization, np.zeros(3), np.array([[1.0], [0.0], [0.0]])


@pytest.mark.parametrize(
    ("A_t", "rank", "task_rank"),
    [
        ([[1.0, 0.0, 0.0]], 1, 1),
        ([[0.0, 0.0, 1.0]], 0, 1),  # (34) fails
        ([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], 1, 2),  # (34) holds and does not suffice
        ([[1.0, 0.0, 0.0], [2.0, 0.0, 0.0]], 1, 1),
        ([[0.0, 1.0, 0.0]], 0, 0),  # nothing to do: the structure does it
        ([[1.0, 1e5, 0.0]], 1, 1),
    ],
)
def test_rank_at_least_one_is_necessary_only(A_t, rank, task_rank) -> None:
    factorization, free, S = structure()
    A = np.array(A_t)
    lemmas = servo_lemmas(factorization, free, S, A, np.zeros(len(A)))
    assert (lemmas.rank, lemmas.task_rank) == (rank, task_rank)
    assert lemmas.necessary == (rank >= 1)
    assert lemmas.controllable == (rank == task_rank)
    assert lemmas.held.tolist() == [row[0] == row[2] == 0.0 for row in A_t]


def test_each_row_in_trouble_is_told_from_the_others() -> None:
    factorization, free, S = structure()
    A = np.array([[1.0, 0, 0], [0, 0, 1.0], [2.0, 0, 0], [0, 1.0, 0]])
    fine = servo_lemmas(factorization, free, S, A, np.array([1.0, 0.0, 2.0, 0.0]))
    assert fine.tasks.consistent
    assert fine.efforts.consistent  # x₃ stays where it is, as asked
    found = servo_lemmas(factorization, free, S, A, np.array([1.0, 1.0, 3.0, 1.0]))
    assert found.tasks.contradicting.tolist() == [True, False, True, True]
    assert found.efforts.contradicting.tolist() == [True, True, True, True]


@given(seeds)
def test_the_lemmas_and_the_servo_law_agree(seed) -> None:
    rng = np.random.default_rng(seed)
    root = matrix(rng, 7, 7, 7)
    A = matrix(rng, 3, 7, 2)
    factorization = factorize(mass_factor(root @ root.T + np.eye(7)), A)
    S, A_t = matrix(rng, 7, 3, 3), matrix(rng, 3, 7, rng.integers(1, 4))
    b_t, free = A_t @ rng.standard_normal(7), np.zeros(7)
    law = servo_efforts(factorization, free, S, A_t, b_t)
    lemmas = servo_lemmas(factorization, free, S, A_t, b_t)
    if min(np.linalg.svd(A_t @ factorization.admissible(S), compute_uv=False)[: law.rank]) < 1e-3:
        return  # near a rank change the two may count differently
    assert (lemmas.rank, lemmas.task_rank) == (law.rank, law.task_rank)
    np.testing.assert_allclose(lemmas.efforts.least, law.efforts, rtol=0, atol=1e-6)
    assert lemmas.efforts.consistent == law.fully_reachable
