# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Least squares within bounds: against SciPy, by its geometry, and at corners."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from uk_dynamics.core.linalg.bounded_least_squares import bounded_least_squares

SEEDS = st.integers(0, 2**32 - 1)


def solve(C, d, motions, start, lower, upper):
    found = bounded_least_squares(C, d, motions, start, lower, upper)
    assert found.finished
    assert (found.x >= lower).all()
    assert (found.x <= upper).all()
    return found


@given(SEEDS, st.integers(1, 8), st.integers(1, 10), st.sampled_from([0.05, 0.5, 2.0]))
def test_as_small_a_residual_as_scipy_finds(seed, rows, unknowns, room):
    rng = np.random.default_rng(seed)
    C, d = rng.standard_normal((rows, unknowns)), rng.standard_normal(rows)
    bound = room * rng.uniform(0.1, 1.0, unknowns)
    start = rng.choice([-1.0, 0.3, 1.0], unknowns) * bound
    found = solve(C, d, np.eye(unknowns), start, -bound, bound)
    other = lsq_linear(C, d, (-bound, bound), method="bvls", tol=1e-14)
    # The square root of what rounding does to the squares that SciPy compares.
    assert np.linalg.norm(d - C @ found.x) <= np.linalg.norm(d - C @ other.x) + 1e-7


@given(SEEDS, st.integers(1, 8), st.integers(2, 10))
def test_the_motions_left_change_nothing_and_are_all_there_are(seed, rows, unknowns):
    rng = np.random.default_rng(seed)
    C, d = rng.standard_normal((rows, unknowns)), 0.1 * rng.standard_normal(rows)
    bound = rng.uniform(0.5, 2.0, unknowns)
    found = solve(C, d, np.eye(unknowns), np.zeros(unknowns), -bound, bound)
    inside = np.abs(found.x) < bound
    np.testing.assert_allclose(C @ found.motions, 0.0, rtol=0, atol=1e-9)
    if inside.all():
        assert found.motions.shape[1] == max(0, unknowns - rows)


@given(SEEDS, st.integers(1, 6), st.integers(2, 10))
def test_the_nearest_point_is_the_nearest(seed, rows, unknowns):
    """Least |x − g| with K x kept: from x no allowed way leads closer, at corners neither."""
    rng = np.random.default_rng(seed)
    K, goal = rng.standard_normal((rows, unknowns)), 2.0 * rng.standard_normal(unknowns)
    start = rng.choice([-1.0, 0.0, 0.5, 1.0], unknowns)
    motions = np.linalg.svd(K)[2][rows:].T if rows < unknowns else np.zeros((unknowns, 0))
    one = np.ones(unknowns)
    x = solve(np.eye(unknowns), goal, motions, start, -one, one).x
    np.testing.assert_allclose(K @ x, K @ start, rtol=0, atol=1e-11)
    # Any other point that is allowed is further away: the angle at x is not acute.
    for _ in range(20):
        other = start + motions @ rng.standard_normal(motions.shape[1])
        way = other - start
        blocked = np.abs(way) > 0
        room = np.where(way > 0, one - start, -one - start)[blocked] / way[blocked]
        other = start + min(1.0, room.min(initial=np.inf)) * way if blocked.any() else start
        assert (goal - x) @ (other - x) <= 1e-9 * (1.0 + np.linalg.norm(goal))


def test_a_corner_where_multipliers_are_not_unique():
    """Three unknowns at a bound and one motion: a wrong sign of one multiplier means nothing."""
    motions = np.array([[1.0], [1.0], [1.0]]) / np.sqrt(3.0)
    goal = np.array([5.0, -1.0, -1.0])  # on the whole it pulls up, and two of three pull down
    one = np.ones(3)
    down = solve(np.eye(3), goal, motions, -one, -one, one)
    np.testing.assert_allclose(down.x, one, rtol=0, atol=1e-12)
    back = solve(np.eye(3), -goal, motions, one, -one, one)
    np.testing.assert_allclose(back.x, -one, rtol=0, atol=1e-12)


def test_bounds_without_room_and_without_end():
    C, d = np.array([[1.0, 1.0, 1.0]]), np.array([6.0])
    lower, upper = np.array([2.0, -np.inf, -1.0]), np.array([2.0, np.inf, 1.0])
    found = solve(C, d, np.eye(3), np.array([2.0, 0.0, 0.0]), lower, upper)
    assert found.x[0] == 2.0
    assert found.x.sum() == pytest.approx(6.0, abs=1e-12)


def test_nothing_to_do():
    found = solve(np.zeros((2, 3)), np.ones(2), np.eye(3), np.zeros(3), -np.ones(3), np.ones(3))
    np.testing.assert_array_equal(found.x, np.zeros(3))
    assert found.motions.shape == (3, 3)
    none = solve(
        np.ones((1, 2)), np.ones(1), np.zeros((2, 0)), np.zeros(2), -np.ones(2), np.ones(2)
    )
    np.testing.assert_array_equal(none.x, np.zeros(2))


def test_an_unknown_at_its_bound_that_hardly_moves_blocks_nobody():
    motions = np.array([[1.0], [3e-11]])
    upper = np.array([2.0, 1.0])
    found = solve(np.eye(2), np.ones(2), motions, np.array([0.0, 1.0]), -upper, upper)
    np.testing.assert_allclose(found.x, 1.0, rtol=0, atol=1e-12)


@given(SEEDS, st.sampled_from([0.0, 1e-12, 1e-10, 1e-9, 1e-8]))
def test_from_anywhere_the_same_where_motions_hardly_matter_to_the_rows(seed, weak):
    """Four unknowns that rows know two combinations of, but for a loop's rounding, have a goal."""
    rng = np.random.default_rng(seed)
    C, d, goal = (rng.standard_normal(shape) for shape in ((6, 9), 6, 9))
    C[:, :4] = C[:, :2] @ rng.standard_normal((2, 4)) + weak * rng.standard_normal((6, 4))
    bound = np.concatenate((rng.uniform(1.0, 3.0, 4), rng.uniform(0.1, 0.5, 5)))
    found = []
    for _ in range(3):
        start = np.clip(rng.uniform(-1.5, 1.5, 9), -1.0, 1.0) * bound
        first = solve(C, 10.0 * d, np.eye(9), start, -bound, bound)
        found.append(solve(np.eye(9), goal, first.motions, first.x, -bound, bound).x)
    # The start of the second is known to the weakness of the rows, times some conditions.
    np.testing.assert_allclose(found, found[:1] * 3, rtol=0, atol=1e-4)
