# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Projection in the metric of M: least change, quadratic approach, honest failure."""

from __future__ import annotations

import numpy as np
import pytest

from uk_dynamics.core.equation.projection import (
    CHORDS,
    ProjectionFailedError,
    project_along,
    project_position,
    project_velocity,
)
from uk_dynamics.core.linalg.mass_factor import mass_factor
from uk_dynamics.core.solver_methods import Factorization, factorize

M = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, 0.1], [0.0, 0.1, 5.0]])


def surface(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows and residuals: an ellipsoid, a plane, and their sum as a redundant row."""
    x, y, z = q
    psi = np.array([x * x + 2.0 * y * y + z * z - 3.0, x + y - 0.5])
    A = np.array([[2.0 * x, 4.0 * y, 2.0 * z], [1.0, 1.0, 0.0]])
    return np.vstack((A, A.sum(axis=0))), np.append(psi, psi.sum())


class Recorded:
    def __init__(self, constraint=surface) -> None:
        self.constraint = constraint
        self.residuals: list[float] = []
        self.steps: list[np.ndarray] = []

    def linearize(self, q: np.ndarray) -> tuple[Factorization, np.ndarray]:
        A, psi = self.constraint(q)
        self.residuals.append(float(np.abs(psi).max()))
        return factorize(mass_factor(M), A), psi

    def integrate(self, q: np.ndarray, w: np.ndarray) -> np.ndarray:
        self.steps.append(w)
        return q + w


START = np.array([1.0, -0.2, 1.6])


def test_the_approach_is_quadratic_down_to_rounding() -> None:
    recorded = Recorded()
    q, factorization = project_position(START, recorded.linearize, recorded.integrate)
    assert np.abs(surface(q)[1]).max() < 1e-14
    np.testing.assert_array_equal(factorization.A, surface(q)[0])
    before, after = np.array(recorded.residuals[:3]), np.array(recorded.residuals[1:4])
    assert (after < 1.0 * before**2).all()  # the surfaces curve by about one


def test_each_step_is_the_least_in_the_metric_of_mass() -> None:
    recorded = Recorded()
    project_position(START, recorded.linearize, recorded.integrate)
    A, psi = surface(START)
    step = recorded.steps[0]
    np.testing.assert_allclose(A @ step, -psi, rtol=0, atol=1e-13)
    kernel = np.linalg.svd(A)[2][2:]
    np.testing.assert_allclose(kernel @ M @ step, 0.0, atol=1e-13)


def test_what_is_on_the_constraints_stays_where_it_is() -> None:
    q, _ = project_position(START, (once := Recorded()).linearize, once.integrate)
    again, _ = project_position(q, (twice := Recorded()).linearize, twice.integrate)
    np.testing.assert_array_equal(again, q)


def test_constraints_out_of_reach_are_not_passed_over() -> None:
    def apart(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.array([[2.0 * q[0], 0.0, 0.0]]), np.array([q[0] ** 2 + 1.0])

    recorded = Recorded(apart)
    with pytest.raises(ProjectionFailedError) as caught:
        project_position(START, recorded.linearize, recorded.integrate)
    assert caught.value.residual >= 1.0  # x² + 1 has no smaller value


def test_a_velocity_keeps_what_the_constraints_allow() -> None:
    A, _ = surface(START)
    factorization = factorize(mass_factor(M), A)
    v = np.array([0.3, -1.0, 2.0])
    prescribed = np.array([0.5, -0.25, 0.25])  # consistent: the third row is the sum
    projected = project_velocity(v, factorization, A @ v - prescribed)
    np.testing.assert_allclose(A @ projected, prescribed, rtol=0, atol=1e-13)
    kernel = np.linalg.svd(A)[2][2:]
    np.testing.assert_allclose(kernel @ M @ (projected - v), 0.0, atol=1e-13)


def along(place: np.ndarray, start: np.ndarray) -> tuple[np.ndarray | None, int]:
    """Where the directions of a place lead from a start, in how many evaluations."""
    factorization, seen = factorize(mass_factor(M), surface(place)[0]), []

    def left(q: np.ndarray) -> np.ndarray:
        seen.append(surface(q)[1])
        return seen[-1]

    return project_along(start, factorization.correction, left, np.add, 1e-13, 1e-7), len(seen)


@pytest.mark.parametrize("apart", [1e-2, 1e-3, 1e-4])
def test_directions_of_a_place_nearby_lead_to_the_constraints(apart: float) -> None:
    rng = np.random.default_rng(3)
    place, _ = project_position(START, Recorded().linearize, np.add)
    for _ in range(20):
        start = place + apart * rng.standard_normal(3)
        found, _ = along(place, start)
        assert found is not None
        # what a step of 1e-13 leaves: rows are up to five long, the redundant one is their sum
        assert np.abs(surface(found)[1]).max() <= 1e-12
        # the whole way is M⁻¹ Aᵀ times something, of the place: nothing along its surfaces
        free = np.cross(*surface(place)[0][:2])
        assert abs(free @ M @ (found - start)) <= 1e-15 * np.abs(free @ M).sum()


def test_each_step_knows_how_far_directions_were_off() -> None:
    # plain steps leave E = A D - 1 of the residual each; those that know E in one direction
    # need fewer
    place, _ = project_position(START, Recorded().linearize, np.add)
    plain = place + 0.02 * np.array([1.0, 1.0, -1.0])
    _, looks = along(place, plain)
    correction, count = factorize(mass_factor(M), surface(place)[0]).correction, 1
    while np.abs(surface(plain)[1]).max() > 1e-13:
        plain, count = plain - correction(surface(plain)[1]), count + 1
    assert looks < count


def test_directions_that_do_not_lead_there_are_told() -> None:
    place, _ = project_position(START, Recorded().linearize, np.add)
    found, looks = along(-place, place + 1e-2)  # where the ellipsoid's row is turned round
    assert found is None
    assert looks <= CHORDS["STEPS"]


def test_what_no_row_can_change_is_left_where_it_is_small_enough() -> None:
    def off(q: np.ndarray) -> np.ndarray:
        return np.append(surface(q)[1][:2], surface(q)[1][2] + 4e-8)  # loops that do not quite fit

    place, _ = project_position(START, Recorded().linearize, np.add)
    correction = factorize(mass_factor(M), surface(place)[0]).correction
    for tolerance, reaches in ((1e-7, True), (1e-8, False)):
        found = project_along(place + 1e-4, correction, off, np.add, 1e-13, tolerance)
        assert (found is not None) == reaches
        if found is not None:
            assert np.abs(off(found)).max() <= 5e-8
