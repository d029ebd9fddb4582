# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Efforts and contact forces within limits and friction pyramids, against other solvers."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import nnls

from uk_dynamics.core.servo import ContactAllocation, within_pyramids

Array = NDArray[np.float64]

MOTORS, POINTS, ROWS = 8, 4, 10
SIZE = MOTORS + 3 * POINTS
FRICTION = np.array([0.7, 0.3, 0.7, 1.0])
WEIGHTS = np.append(np.full(MOTORS, 0.04), np.full(3 * POINTS, 1e-4))


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
    point = np.append(rng.uniform(lower, upper), np.zeros(3 * POINTS))
    normal = rng.uniform(0.0, 79.0, POINTS)
    point[MOTORS::3] = normal
    point[MOTORS + 1 :: 3] = 0.5 * FRICTION * normal * rng.uniform(-1.0, 1.0, POINTS)
    wanted, root = C @ point, np.sqrt(WEIGHTS)
    # least norm without limits, as the closed form is
    preferred = np.linalg.lstsq(C / root, wanted, rcond=None)[0] / root
    levels = (np.arange(6), np.arange(6, ROWS))
    search = ContactAllocation(1e-6)
    limits = WEIGHTS, lower, upper, preferred, FRICTION, most
    found = search.solve(C, wanted, levels, *limits, served=True)
    assert search.finished
    forces = found[MOTORS:].reshape(-1, 3)
    assert within_pyramids(forces, FRICTION, most)
    # of numbers of the order of 10; the least-squares steps lose two or three digits of 16
    np.testing.assert_allclose(C @ found, wanted, rtol=0, atol=1e-11)
    G, h = inequalities(lower, upper, most)
    expected = least_distance(C / root, wanted, G / root, h) / root
    # N m or N; non-negative least squares solve the other problem to about half of the digits
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    in_turn = search.solve(C, wanted, levels, *limits, served=False)
    assert search.finished
    np.testing.assert_allclose(in_turn, found, rtol=0, atol=1e-9)  # two algorithms, rounding


@pytest.mark.parametrize("seed", range(10))
def test_what_cannot_be_served_is_missed_by_the_least_first_level_first(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    C, lower, upper, _ = drawn(rng)
    most = np.full(POINTS, 5.0)
    wanted = 100.0 * rng.normal(size=ROWS)
    wanted[3] = wanted[0] + wanted[1]
    search = ContactAllocation(1e-6)
    levels = (np.arange(6), np.arange(6, ROWS))
    root = np.sqrt(WEIGHTS)
    closed = np.linalg.lstsq(C / root, wanted, rcond=None)[0] / root
    limits = WEIGHTS, lower, upper, closed, FRICTION, most
    found = search.solve(C, wanted, levels, *limits, served=False)
    assert search.finished
    # what the closed form serves and limits do not admit leads to the same
    beyond = search.solve(C, wanted, levels, *limits, served=True)
    np.testing.assert_allclose(beyond, found, rtol=0, atol=1e-12)
    forces = found[MOTORS:].reshape(-1, 3)
    assert within_pyramids(forces, FRICTION, most)
    # no step that is allowed makes the first level better
    gradient = C[:6].T @ (C[:6] @ found - wanted[:6])
    G, h = inequalities(lower, upper, most)
    tight = np.abs(G @ found - h) <= 1e-8
    rest = nnls(G[tight].T, gradient)[1]
    assert rest <= 1e-7 * np.linalg.norm(gradient)  # Karush, Kuhn and Tucker's condition
