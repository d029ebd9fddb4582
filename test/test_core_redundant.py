"""The quick path for redundant rows agrees with the form that takes rows by their remainders."""

from __future__ import annotations

import numpy as np
import pytest
from solution_checks import NEAR, assert_same_solution

from uk_dynamics.core.factorization import factorize
from uk_dynamics.core.mass_factor import mass_factor
from uk_dynamics.core.redundant import RedundantMotion
from uk_dynamics.core.solution import Status

TOLERANCE = 1e-4
NV = 7


def redundant(rng, rank=4, others=3, zero_rows=1):
    """Rows in any order: independent ones, sums of them, and rows of zeros; b is one of motions."""
    root = rng.standard_normal((NV, NV))
    M = root @ root.T + np.eye(NV)
    base = rng.standard_normal((rank, NV))
    sums = rng.standard_normal((others, rank)) @ base
    A = rng.permutation(np.vstack((base, sums, np.zeros((zero_rows, NV)))))
    return M, rng.standard_normal(NV), A, A @ rng.standard_normal(NV)


def general(M, A):
    natural = np.maximum(np.linalg.norm(mass_factor(M).whiten(A.T), axis=0), 1.0)
    return factorize(mass_factor(M), A, natural_scale=natural, rank_tolerance=TOLERANCE), natural


def quick(M, A):
    there, natural = general(M, A)
    return RedundantMotion(NV, natural, TOLERANCE, there.taken)


@pytest.mark.parametrize(("rank", "others", "zero_rows"), [(1, 1, 0), (4, 3, 1), (7, 4, 0)])
def test_everything_is_as_the_general_form_says(rank, others, zero_rows):
    rng = np.random.default_rng(rank)
    answered = 0
    for _ in range(20):
        M, F, A, b = redundant(rng, rank, others, zero_rows)
        found = quick(M, A).solve(M, F, A, b)
        expected = general(M, A)[0].solve(F, b)
        if found is None:  # not by a safe margin
            continue
        answered += 1
        assert_same_solution(found, expected, A, b)
        np.testing.assert_allclose(A @ found.qdd, b, rtol=0, atol=1e-10)
        assert (found.rank, found.status) == (rank, Status.OK)
    assert answered >= 10


def test_the_rows_may_depend_in_other_ways_at_other_states():
    rng = np.random.default_rng(7)
    M, F, A, _ = redundant(rng, zero_rows=0)
    motion = quick(M, A)
    answered = 0
    for _ in range(20):
        mixed = (np.eye(len(A)) + 0.3 * rng.standard_normal((len(A), len(A)))) @ A
        b = mixed @ np.ones(NV)
        found = motion.acceleration(M, F, mixed, b)
        if found is not None:
            answered += 1
            np.testing.assert_allclose(found, general(M, mixed)[0].acceleration(F, b), **NEAR)
    assert answered >= 10


def test_rows_that_contradict_each_other_are_left_to_others():
    rng = np.random.default_rng(8)
    M, F, A, b = redundant(rng)
    motion = quick(M, A)
    assert motion.solve(M, F, A, b) is not None
    for row in range(len(A)):
        off = b.copy()
        off[row] += 1e-9
        there = general(M, A)[0]
        if there.determined[row]:  # then any value of it can be held
            assert motion.solve(M, F, A, off) is not None
        else:
            assert motion.solve(M, F, A, off) is None


@pytest.mark.parametrize("size", [1e-8, 1e-3])
def test_rows_that_nearly_depend_are_left_to_others(size):
    rng = np.random.default_rng(9)
    M, F, A, _ = redundant(rng)
    motion = quick(M, A)
    dropped = np.setdiff1d(np.arange(len(A)), motion.independent)
    for row in dropped:
        bent = A.copy()
        bent[row] += size * rng.standard_normal(NV)
        assert motion.solve(M, F, bent, bent @ np.ones(NV)) is None


def test_a_row_that_holds_by_chance_is_no_sum_of_others():
    M, F, A, b = redundant(np.random.default_rng(12))
    motion = quick(M, A)
    qdd = motion.acceleration(M, F, A, b)
    row = np.setdiff1d(np.arange(len(A)), motion.independent)[0]
    bent, chance = A.copy(), b.copy()
    bent[row] += 1e-3 * np.arange(NV)
    chance[row] = bent[row] @ qdd
    assert general(M, bent)[0].rank == len(motion.independent) + 1
    assert motion.solve(M, F, bent, chance) is None


def test_numbers_that_are_none_are_left_to_others():
    M, F, A, b = redundant(np.random.default_rng(10))
    motion = quick(M, A)
    for matrix in (M, F, A, b):
        for bad in (np.nan, np.inf):
            wrong = [x.copy() for x in (M, F, A, b)]
            place = next(i for i, x in enumerate((M, F, A, b)) if x is matrix)
            wrong[place].flat[0] = bad
            assert motion.solve(*wrong) is None


def test_answers_outlive_the_next_question():
    rng = np.random.default_rng(11)
    M, F, A, b = redundant(rng)
    motion = quick(M, A)
    first = motion.solve(M, F, A, b)
    expected = general(M, A)[0].solve(F, b)
    motion.solve(2.0 * M, 3.0 * F, 4.0 * A, 5.0 * b)
    np.testing.assert_allclose(first.qdd, expected.qdd, **NEAR)
    np.testing.assert_allclose(first.multipliers, expected.multipliers, **NEAR)
    np.testing.assert_allclose(first.ideal_force, expected.ideal_force, **NEAR)
