"""The quick path for independent rows agrees with the form that takes rows by their remainders."""

from __future__ import annotations

import numpy as np
import pytest
from solution_checks import NEAR, assert_same_solution

from uk_dynamics.core.factorization import factorize
from uk_dynamics.core.mass_factor import mass_factor
from uk_dynamics.core.regular import RegularMotion
from uk_dynamics.core.solution import Status
from uk_dynamics.exceptions import InputError

TOLERANCE = 1e-4


def problem(rng, nv=7, m=4):
    root = rng.standard_normal((nv, nv))
    M = root @ root.T + np.eye(nv)
    return M, rng.standard_normal(nv), rng.standard_normal((m, nv)), rng.standard_normal(m)


def sizes(M, A):
    return np.linalg.norm(mass_factor(M).whiten(A.T), axis=0)


def both(M, F, A, b, natural=None):
    natural = sizes(M, A) if natural is None else natural
    found = RegularMotion(len(M), natural, TOLERANCE).solve(M, F, A, b)
    there = factorize(mass_factor(M), A, natural_scale=natural, rank_tolerance=TOLERANCE)
    return found, there.solve(F, b)


@pytest.mark.parametrize(("nv", "m"), [(1, 1), (4, 1), (7, 4), (6, 6), (24, 18)])
def test_everything_is_as_the_general_form_says(nv, m):
    rng = np.random.default_rng(nv)
    answered = 0
    for _ in range(20):
        M, F, A, b = problem(rng, nv, m)
        found, expected = both(M, F, A, b)
        if found is None:  # not by a safe margin
            continue
        answered += 1
        assert_same_solution(found, expected, A, b)
        assert (found.rank, found.status) == (m, Status.OK)
    assert answered >= 10


def test_acceleration_alone_is_the_same():
    M, F, A, b = problem(np.random.default_rng(3))
    motion = RegularMotion(len(M), sizes(M, A), TOLERANCE)
    alone = motion.acceleration(M, F, A, b)
    np.testing.assert_array_equal(alone, motion.solve(M, F, A, b).qdd)


def test_answers_outlive_the_next_question():
    rng = np.random.default_rng(4)
    M, F, A, b = problem(rng)
    motion = RegularMotion(len(M), sizes(M, A), TOLERANCE)
    first = motion.solve(M, F, A, b)
    qdd, multipliers, force = first.qdd.copy(), first.multipliers.copy(), first.ideal_force.copy()
    motion.solve(2.0 * M, 3.0 * F, 4.0 * A, 5.0 * b)
    np.testing.assert_array_equal(first.qdd, qdd)
    np.testing.assert_array_equal(first.multipliers, multipliers)
    np.testing.assert_array_equal(first.ideal_force, force)


@pytest.mark.parametrize("distance", [0.0, 1e-12, 1e-6, 1e-4, 1e-3])
def test_rows_that_nearly_depend_are_left_to_the_rank_rule(distance):
    M, F, A, b = problem(np.random.default_rng(5))
    A[3] = A[0] - A[1] + distance * A[3]
    assert both(M, F, A, b)[0] is None


def test_a_row_that_vanishes_is_left_to_the_rank_rule():
    M, F, A, b = problem(np.random.default_rng(6))
    natural = sizes(M, A)
    A[2] *= 1e-4
    assert both(M, F, A, b, natural)[0] is None


def test_sizes_of_rows_and_bodies_do_not_matter():
    M, F, A, b = problem(np.random.default_rng(7))
    light = np.array([1.0, 1e-4, 1.0, 1e2, 1e-3, 1.0, 1.0])  # root mass
    rows = np.array([1e-6, 1.0, 1e5, 1.0])
    M, F, A, b = light[:, None] * M * light, light * F, rows[:, None] * A * light, rows * b
    found, expected = both(M, F, A, b)
    np.testing.assert_allclose(light * found.qdd, light * expected.qdd, **NEAR)


@pytest.mark.parametrize("place", ["M", "A"])
def test_what_is_no_number_has_no_quick_answer(place):
    M, F, A, b = problem(np.random.default_rng(8))
    natural = sizes(M, A)
    {"M": M, "A": A}[place][1, 1] = np.nan
    assert RegularMotion(len(M), natural, TOLERANCE).solve(M, F, A, b) is None


def test_a_singular_mass_has_no_quick_answer():
    M, F, A, b = problem(np.random.default_rng(9))
    natural = sizes(M, A)
    M[2, :] = M[:, 2] = 0.0
    M[2, 2] = 1e-30
    assert RegularMotion(len(M), natural, TOLERANCE).solve(M, F, A, b) is None


@pytest.mark.filterwarnings("error")
def test_an_infinite_mass_is_refused_without_a_warning():
    with pytest.raises(InputError, match="not finite"):
        mass_factor(np.diag([np.inf, 1.0]))
