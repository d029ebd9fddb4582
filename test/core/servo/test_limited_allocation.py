# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Efforts and contact forces within limits: against other solvers, by geometry, at corners."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import lsq_linear, nnls
from support import hidden_limit as hidden

from uk_dynamics.core.servo import LimitedAllocation, within_pyramids

Array = NDArray[np.float64]

MOTORS, POINTS, TASKS = 8, 4, 4
FIRST = 3 * POINTS  # rows of contacts
SIZE, ROWS = MOTORS + FIRST, FIRST + TASKS
SEEDS = st.integers(0, 2**32 - 1)
FRICTION = np.array([0.7, 0.3, 0.7, 1.0])
WEIGHTS = np.append(np.full(MOTORS, 0.04), np.full(FIRST, 1e-4))


def least_distance(E: Array, e: Array, G: Array, h: Array) -> Array:
    """Shortest x with E x = e and G x ≥ h: Lawson and Hanson's LDP, by scipy's nnls."""
    x = np.linalg.lstsq(E, e, rcond=None)[0]
    Z = np.linalg.svd(E)[2][np.linalg.matrix_rank(E) :].T
    A = np.vstack(((G @ Z).T, h - G @ x))
    right = np.append(np.zeros(Z.shape[1]), 1.0)
    residual = A @ nnls(A, right, maxiter=10000)[0] - right
    return x - Z @ residual[:-1] / residual[-1]


def inequalities(lower: Array, upper: Array, most: Array) -> tuple[Array, Array]:
    """G x ≥ h of efforts, pyramids and largest normal forces."""
    eye, rows, right = np.eye(SIZE), [], []
    for j in range(MOTORS):
        rows += [eye[j], -eye[j]]
        right += [lower[j], -upper[j]]
    for k, mu in enumerate(FRICTION):
        n, x, y = eye[MOTORS + 3 * k : MOTORS + 3 * k + 3]
        rows += [mu * n + a * x + b * y for a in (1, -1) for b in (1, -1)]
        right += [0.0] * 4
        if np.isfinite(most[k]):
            rows.append(-n)
            right.append(-most[k])
    return np.array(rows), np.array(right)


def drawn(rng: np.random.Generator) -> tuple[Array, Array, Array, Array]:
    """Rows, limits of efforts and of normal forces of a random problem."""
    C = rng.normal(size=(ROWS, SIZE))
    C[3] = C[0] + C[1]  # redundant, as rows of a sole with more than three points are
    C[:, MOTORS:] *= 0.05
    upper = rng.uniform(1.0, 6.0, MOTORS)
    return C, -upper, upper, np.where(rng.uniform(size=POINTS) < 0.5, np.inf, 80.0)


@pytest.mark.parametrize("seed", range(20))
def test_what_can_be_served_is_by_the_least_efforts_and_forces(seed: int) -> None:
    rng = np.random.default_rng(seed)
    C, lower, upper, most = drawn(rng)
    point = np.append(rng.uniform(lower, upper), np.zeros(FIRST))
    normal = rng.uniform(0.0, 79.0, POINTS)
    point[MOTORS::3] = normal
    point[MOTORS + 1 :: 3] = 0.5 * FRICTION * normal * rng.uniform(-1.0, 1.0, POINTS)
    wanted, root = C @ point, np.sqrt(WEIGHTS)
    # least norm without limits, as the closed form is
    preferred = np.linalg.lstsq(C / root, wanted, rcond=None)[0] / root
    search = LimitedAllocation(np.ones(TASKS, dtype=int), WEIGHTS, 1e-6)
    given, contacts = (C, wanted, lower, upper, preferred), {"friction": FRICTION, "most": most}
    found = search.solve(*given, **contacts, served=True)
    assert search.finished
    forces = found[MOTORS:].reshape(-1, 3)
    assert within_pyramids(forces, FRICTION, most)
    # of numbers of the order of 10; the least-squares steps lose two or three digits of 16
    np.testing.assert_allclose(C @ found, wanted, rtol=0, atol=1e-11)
    G, h = inequalities(lower, upper, most)
    expected = least_distance(C / root, wanted, G / root, h) / root
    # N m or N; non-negative least squares solve the other problem to about half of the digits
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    in_turn = search.solve(*given, **contacts)
    assert search.finished
    np.testing.assert_allclose(in_turn, found, rtol=0, atol=1e-9)  # two algorithms, rounding


@pytest.mark.parametrize("seed", range(10))
def test_what_cannot_be_served_is_missed_by_the_least_first_level_first(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    C, lower, upper, _ = drawn(rng)
    most = np.full(POINTS, 5.0)
    wanted = 100.0 * rng.normal(size=ROWS)
    wanted[3] = wanted[0] + wanted[1]
    search = LimitedAllocation(np.ones(TASKS, dtype=int), WEIGHTS, 1e-6)
    root = np.sqrt(WEIGHTS)
    closed = np.linalg.lstsq(C / root, wanted, rcond=None)[0] / root
    given, contacts = (C, wanted, lower, upper, closed), {"friction": FRICTION, "most": most}
    found = search.solve(*given, **contacts)
    assert search.finished
    # what the closed form serves and limits do not admit leads to the same
    beyond = search.solve(*given, **contacts, served=True)
    np.testing.assert_allclose(beyond, found, rtol=0, atol=1e-12)
    forces = found[MOTORS:].reshape(-1, 3)
    assert within_pyramids(forces, FRICTION, most)
    G, h = inequalities(lower, upper, most)
    levels = [np.arange(FIRST), np.arange(FIRST, ROWS)]
    assert unmet(C, wanted, levels, np.zeros(ROWS), G, h, found, WEIGHTS * (found - closed)) <= 1e-7


def test_a_limit_that_the_search_does_not_see():
    """Steps that rows do not see have a price in the search, to which expensive forces add.

    So it does not tell of a limit that is then exceeded by a little.
    """
    given = hidden.ROWS, hidden.WANTED, hidden.LOWER, hidden.UPPER, hidden.CLOSED
    search = LimitedAllocation(np.ones(1, dtype=int), hidden.WEIGHTS, 1e-6)
    found = search.solve(*given, friction=hidden.FRICTION, most=hidden.MOST)
    assert search.finished
    assert within_pyramids(found[None, 1:], hidden.FRICTION, hidden.MOST)
    G = np.array([[0, 0.7, a, b] for a in (1, -1) for b in (1, -1)] + [[0, -1, 0, 0]])
    h, levels = np.append(np.zeros(4), -hidden.MOST), [np.arange(3), np.arange(3, 4)]
    pull = hidden.WEIGHTS * (found - hidden.CLOSED)
    assert unmet(hidden.ROWS, hidden.WANTED, levels, np.zeros(4), G, h, found, pull) <= 1e-7


# --- motors alone --------------------------------------------------------------------------------


def unmet(C, wanted, levels, side, G, h, x, pull) -> float:
    """Part of the gradient of any level, or of the distance, that no multiplier balances.

    Karush's, Kuhn's and Tucker's conditions, which are sufficient, too: no step within G x ≥ h that
    keeps what earlier levels get makes a level better, nor the last ones nearer.
    """
    residual = C @ x - wanted
    beyond = side * np.maximum(-side * residual, 0.0)
    exceeded = (side != 0.0) & (np.abs(beyond) > 1e-7)
    lack = np.where(side == 0.0, residual, -beyond)
    at_bound = (side != 0.0) & ~exceeded & (np.abs(residual) <= 1e-8)
    tight = np.abs(G @ x - h) <= 1e-8
    push, kept, worst = [G[tight]], [np.zeros((0, len(x)))], 0.0
    for level in [*levels, None]:
        gradient = pull if level is None else C[level].T @ lack[level]
        sides = np.concatenate([*push, *kept, *(-rows for rows in kept)])
        if np.linalg.norm(gradient) > 1e-9:  # else it is rounding: nothing is to be balanced
            rest = nnls(sides.T, gradient, maxiter=10000)[1]
            worst = max(worst, rest / np.linalg.norm(gradient))
        if level is not None:
            kept.append(C[level[(side[level] == 0.0) | exceeded[level]]])
            push.append((side[:, None] * C)[level[at_bound[level]]])
    return worst


def box(lower: Array, upper: Array) -> tuple[Array, Array]:
    """Bounds as G x ≥ h."""
    eye = np.eye(len(lower))
    return np.concatenate((eye, -eye)), np.append(lower, -upper)


def allocate(C, wanted, lower, upper, goal, priorities=None, side=None, weights=None):
    count, motors = C.shape
    priorities = np.ones(count, dtype=int) if priorities is None else priorities
    weights = np.ones(motors) if weights is None else weights
    search = LimitedAllocation(priorities, weights, 1e-6, side)
    found = search.solve(C, wanted, lower, upper, goal)
    assert search.finished
    assert (found >= lower).all()
    assert (found <= upper).all()
    return found


def test_limits_that_contradict_each_other_are_told_of():
    search = LimitedAllocation(np.ones(1, dtype=int), np.ones(2), 1e-6)
    lower, upper = np.array([2.0, -1.0]), np.array([1.0, 1.0])
    found = search.solve(np.array([[1.0, 1.0]]), np.array([5.0]), lower, upper, np.zeros(2))
    assert not search.finished
    assert np.isfinite(found).all()


@given(SEEDS, st.integers(1, 8), st.integers(1, 10), st.sampled_from([0.05, 0.5, 2.0]))
def test_as_small_a_residual_as_scipy_finds(seed, rows, motors, room):
    rng = np.random.default_rng(seed)
    C, d = rng.standard_normal((rows, motors)), rng.standard_normal(rows)
    bound = room * rng.uniform(0.1, 1.0, motors)
    found = allocate(C, d, -bound, bound, rng.standard_normal(motors))
    other = lsq_linear(C, d, (-bound, bound), method="bvls", tol=1e-14)
    # The square root of what rounding does to the squares that SciPy compares.
    assert np.linalg.norm(d - C @ found) <= np.linalg.norm(d - C @ other.x) + 1e-7


@given(SEEDS, st.integers(1, 8), st.integers(1, 10), st.sampled_from([0.05, 0.5, 2.0]))
def test_bounded_rows_are_exceeded_by_as_little_as_scipy_finds(seed, rows, motors, room):
    """SciPy has what a row is beyond its bound as an unknown."""
    rng = np.random.default_rng(seed)
    C, d = rng.standard_normal((rows, motors)), rng.standard_normal(rows)
    side = rng.choice([-1.0, 0.0, 1.0], rows)
    bound = room * rng.uniform(0.1, 1.0, motors)
    found = allocate(C, d, -bound, bound, rng.standard_normal(motors), side=side)
    bounded = np.flatnonzero(side)
    wide = np.hstack((C, np.zeros((rows, len(bounded)))))
    wide[bounded, motors + np.arange(len(bounded))] = -side[bounded]
    limits = np.append(-bound, np.zeros(len(bounded))), np.append(bound, np.full(len(bounded), 1e6))
    other = lsq_linear(wide, d, limits, method="bvls", tol=1e-14)
    rest = d - C @ found
    rest[bounded] = side[bounded] * np.maximum(side[bounded] * rest[bounded], 0.0)
    assert np.linalg.norm(rest) <= np.linalg.norm(d - wide @ other.x) + 1e-7


@given(SEEDS, st.integers(1, 8), st.integers(1, 12), st.integers(1, 3), st.sampled_from([0.0, 0.4]))
def test_no_allowed_step_is_better_at_any_priority(seed, rows, motors, priorities, bounded):
    rng = np.random.default_rng(seed)
    C, wanted = rng.standard_normal((rows, motors)), 2.0 * rng.standard_normal(rows)
    if rows > 2:
        C[-1] = C[0] - C[1]  # redundant, and not asking for the same
    weights, goal = 10.0 ** rng.uniform(-1.0, 1.0, motors), rng.standard_normal(motors)
    priority = np.sort(rng.integers(1, priorities + 1, rows))
    side = np.where(rng.uniform(size=rows) < bounded, rng.choice([-1.0, 1.0], rows), 0.0)
    bound = rng.uniform(0.1, 1.0, motors)
    found = allocate(C, wanted, -bound, bound, goal, priority, side, weights)
    levels = [np.flatnonzero(priority == p) for p in np.unique(priority)]
    limits = box(-bound, bound)
    # half of the digits: a residual that vanishes but for rounding has no direction
    assert unmet(C, wanted, levels, side, *limits, found, weights * (found - goal)) <= 1e-6


def test_a_corner_where_multipliers_are_not_unique():
    """Three motors at a bound and one motion: a wrong sign of one multiplier means nothing."""
    alike = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])
    goal = np.array([5.0, -1.0, -1.0])  # on the whole it pulls up, and two of three pull down
    one = np.ones(3)
    found = allocate(alike, np.zeros(2), -one, one, goal)
    np.testing.assert_allclose(found, one, rtol=0, atol=1e-12)
    found = allocate(alike, np.zeros(2), -one, one, -goal)
    np.testing.assert_allclose(found, -one, rtol=0, atol=1e-12)


def test_bounds_without_room_and_without_end():
    C, d = np.array([[1.0, 1.0, 1.0]]), np.array([6.0])
    lower, upper = np.array([2.0, -np.inf, -1.0]), np.array([2.0, np.inf, 1.0])
    found = allocate(C, d, lower, upper, np.zeros(3))
    assert found[0] == 2.0
    assert found.sum() == pytest.approx(6.0, abs=1e-12)
    half = np.array([-np.inf, -1.0, -1.0]), np.array([1.0, np.inf, 1.0])  # one end only
    found = allocate(C, d, *half, np.zeros(3))
    np.testing.assert_allclose(found, [1.0, 4.0, 1.0], rtol=0, atol=1e-12)


def test_nothing_to_do():
    one, goal = np.ones(3), np.array([0.5, -2.0, 0.0])
    for rows in (np.zeros((2, 3)), np.zeros((0, 3))):
        found = allocate(rows, np.ones(len(rows)), -one, one, goal)
        np.testing.assert_allclose(found, [0.5, -1.0, 0.0], rtol=0, atol=1e-12)


@given(SEEDS, st.sampled_from([0.0, 1e-12, 1e-10, 1e-9, 1e-8]))
def test_motors_that_rows_hardly_tell_apart(seed, weak):
    """Four motors that rows know two combinations of, but for a loop's rounding."""
    rng = np.random.default_rng(seed)
    C, d, goal = (rng.standard_normal(shape) for shape in ((6, 9), 6, 9))
    C[:, :4] = C[:, :2] @ rng.standard_normal((2, 4)) + weak * rng.standard_normal((6, 4))
    bound = np.concatenate((rng.uniform(1.0, 3.0, 4), rng.uniform(0.1, 0.5, 5)))
    found = allocate(C, 10.0 * d, -bound, bound, goal)
    other = lsq_linear(C, 10.0 * d, (-bound, bound), method="bvls", tol=1e-14)
    # what is below the rank tolerance of 1e-6 may be left to the goal: 1e-8 of numbers up to ten
    assert np.linalg.norm(10.0 * d - C @ found) <= np.linalg.norm(10.0 * d - C @ other.x) + 1e-6
