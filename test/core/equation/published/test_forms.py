# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Every form with every pseudoinverse: one motion, one force, one projection, one servo law."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.forms import FORMS, FORMS_FOR_SINGULAR_MASS

from uk_dynamics.core.equation.solution import Status
from uk_dynamics.core.linalg.mass_factor import UndeterminedCoordinatesError, mass_factor
from uk_dynamics.core.servo.servo_law import servo_efforts
from uk_dynamics.core.solver_methods import SingularMassError, factorize
from uk_dynamics.exceptions import InputError

# Draws below have condition numbers up to 1e2, squared by range_space and by Greville.
TOLERANCE = 1e-9


def reference(M, A, F, b):
    """q̈ and Aᵀλ of the equations of motion with multipliers (23), by least squares."""
    m, n = A.shape
    saddle = np.block([[M, A.T], [A, np.zeros((m, m))]])
    x = np.linalg.lstsq(saddle, np.append(F, b), rcond=1e-11)[0]
    return x[:n], M @ x[:n] - F


def near(found, expected, room=1.0):
    size = 1.0 + np.abs(expected).max(initial=0.0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=room * TOLERANCE * size)


class System:
    """M (of a given rank), A with redundant rows, and everything else that forms are asked."""

    def __init__(self, seed: int, massless: int = 0) -> None:
        rng = np.random.default_rng(seed)
        n, self.rank = 7, 4
        root = rng.standard_normal((n, n - massless))
        self.M = root @ root.T + (n * np.eye(n) if not massless else 0.0)
        independent = rng.standard_normal((self.rank, n))
        self.A = np.vstack((independent, rng.standard_normal((2, self.rank)) @ independent))
        self.A = self.A[rng.permutation(self.rank + 2)]
        self.F, self.c, self.r = rng.standard_normal((3, n))
        self.b = self.A @ rng.standard_normal(n)
        self.S, self.A_t = rng.standard_normal((n, 3)), rng.standard_normal((2, n))
        self.Z = np.linalg.svd(self.A)[2][self.rank :].T
        self.N = self.Z @ np.linalg.inv(self.Z.T @ self.M @ self.Z) @ self.Z.T

    @property
    def well_conditioned(self) -> bool:
        """No two leading rows nearly alike, and inertia in every free motion."""
        unit = self.A / np.linalg.norm(self.A, axis=1)[:, None]
        for rows in range(1, len(unit) + 1):
            sigma = np.linalg.svd(unit[:rows], compute_uv=False)
            if sigma[min(rows, self.rank) - 1] < 0.05 and min(rows, self.rank) == rows:
                return False
        sigma = np.linalg.svd(unit, compute_uv=False)
        inertia = np.linalg.eigvalsh(self.Z.T @ self.M @ self.Z)
        return bool(sigma[self.rank - 1] > 0.05 and inertia[0] > 0.05)


def check(system: System, method, algorithm) -> None:
    M, A, F, b, N = system.M, system.A, system.F, system.b, system.N
    form = factorize(mass_factor(M), A, method=method, pseudoinverse=algorithm)
    assert form.method == method
    solution = form.solve(F, b, nonideal=system.c)
    qdd, force = reference(M, A, F, b)
    assert solution.method == method
    assert solution.status is Status.OK
    assert solution.rank == system.rank
    near(solution.qdd, qdd + N @ system.c)
    near(solution.ideal_force, force)
    near(solution.constraint_force, force + M @ N @ system.c)
    near(A.T @ solution.multipliers, force)
    least = np.linalg.lstsq(A.T, force, rcond=1e-9)[0]
    near(solution.multipliers, least, room=1e2)
    idle = np.linalg.svd(A.T)[2][system.rank :]
    assert np.array_equal(solution.determined, np.linalg.norm(idle, axis=0) < 1e-6)
    # The pieces that projection and servo law are made of.
    near(form.admissible(F), N @ F)
    near(form.admissible(system.S), N @ system.S)
    K, sizes = form.admissible_coordinates(system.S)
    assert K.shape == (len(M) - system.rank, 3)
    near(K.T @ K, system.S.T @ N @ system.S)
    assert (sizes > 0.0).all()
    held, _ = form.admissible_coordinates(A.T)
    assert np.abs(held).max() < TOLERANCE  # rows do nothing in admissible motions
    x = form.correction(b)
    near(A @ x, b)
    near(system.Z.T @ M @ x, np.zeros(system.Z.shape[1]))
    servo = servo_efforts(form, qdd, system.S, system.A_t, np.ones(2))
    near(system.A_t @ (qdd + N @ system.S @ servo.efforts), np.ones(2), room=1e2)
    assert servo.fully_reachable


@pytest.mark.parametrize(("method", "algorithm"), FORMS)
@given(st.integers(0, 2**32 - 1))
def test_all_forms_are_one_equation(method, algorithm, seed) -> None:
    system = System(seed)
    if system.well_conditioned:
        check(system, method, algorithm)


@pytest.mark.parametrize(("method", "algorithm"), FORMS_FOR_SINGULAR_MASS)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_singular_masses(method, algorithm, seed, massless) -> None:
    system = System(seed, massless)
    if system.well_conditioned:
        check(system, method, algorithm)


@pytest.mark.parametrize(("method", "algorithm"), FORMS)
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e3])
def test_heavy_and_light_bodies_in_one_mechanism(method, algorithm, scale) -> None:
    """1000 kg on a row of its own beside two bodies of 0.1 g held together by another.

    Whitened, the rows have the norms 0.03 and 141; none may be taken for a small part of the other.
    """
    M = np.diag([1000.0, 1e-4, 1e-4])
    A = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, -1.0], [0.0, -2.0, 2.0]]) * scale
    F = np.array([-9810.0, -9.81e-4, 1e-3])
    form = factorize(mass_factor(M), A, method=method, pseudoinverse=algorithm)
    solution = form.solve(F, np.zeros(3))
    together = (F[1] + F[2]) / 2e-4
    assert solution.rank == 2
    np.testing.assert_allclose(solution.qdd, [0.0, together, together], rtol=0, atol=1e-11)
    np.testing.assert_allclose(
        solution.constraint_force, [9810.0, 1e-4 * together - F[1], 1e-4 * together - F[2]],
        rtol=1e-12, atol=0,
    )  # fmt: skip


@pytest.mark.parametrize(("method", "algorithm"), FORMS)
@pytest.mark.parametrize("rows", [0, 2, 3])
def test_no_rows_and_no_freedom(method, algorithm, rows) -> None:
    M, F = np.diag([1.0, 2.0]), np.array([3.0, 4.0])
    A = np.array([[1.0, 1.0], [1.0, -1.0], [2.0, 1.0]])[:rows]
    goal = np.array([0.5, -0.25])
    form = factorize(mass_factor(M), A, method=method, pseudoinverse=algorithm)
    solution = form.solve(F, A @ goal)
    expected = goal if rows else F / np.diag(M)
    np.testing.assert_allclose(solution.qdd, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(solution.constraint_force, M @ expected - F, rtol=0, atol=1e-12)
    K, _ = form.admissible_coordinates(np.eye(2))
    assert K.shape == (0 if rows else 2, 2)
    assert solution.determined.all() == (rows < 3)


@pytest.mark.parametrize(("method", "algorithm"), FORMS_FOR_SINGULAR_MASS)
def test_undetermined_motion_is_named_not_computed(method, algorithm) -> None:
    mass = mass_factor(np.diag([2.0, 0.0, 3.0]))
    with pytest.raises(UndeterminedCoordinatesError) as caught:
        factorize(mass, np.array([[1.0, 0.0, -1.0]]), method=method, pseudoinverse=algorithm)
    assert caught.value.coordinates == (1,)


@pytest.mark.parametrize("method", ["udwadia_kalaba_pseudoinverse", "range_space"])
def test_forms_that_divide_by_a_singular_mass_name_others(method) -> None:
    mass = mass_factor(np.diag([2.0, 0.0]))
    with pytest.raises(SingularMassError, match=rf'"{method}".*"nullspace".*kkt'):
        factorize(mass, np.array([[1.0, -1.0]]), method=method)


def test_auto_says_what_it_chose() -> None:
    A = np.array([[1.0, -1.0]])
    assert factorize(mass_factor(np.eye(2)), A).method == "udwadia_kalaba"
    assert factorize(mass_factor(np.diag([2.0, 0.0])), A).method == "nullspace"


def test_range_space_refuses_tolerances_whose_squares_are_rounding() -> None:
    with pytest.raises(InputError, match="udwadia_kalaba_pseudoinverse"):
        factorize(mass_factor(np.eye(2)), np.eye(2), method="range_space", rank_tolerance=1e-9)


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(InputError, match=r'"lu"; there are: auto, udwadia_kalaba'):
        factorize(mass_factor(np.eye(2)), np.eye(2), method="lu")  # type: ignore[arg-type]


@pytest.mark.parametrize("method", ["augmented_pseudoinverse", "udwadia_phohomsiri"])
def test_an_inertia_lost_in_rounding_is_refused_not_guessed(method) -> None:
    """Hardly any inertia in the free motion, rows that are nearly alike: right, or an error."""
    rng = np.random.default_rng(0)
    refused = {"svd": 0, "greville": 0}
    for _ in range(40):
        first, other = rng.standard_normal((2, 4))
        A = np.vstack((first, first + 1e-3 * other, rng.standard_normal(4)))
        A = np.vstack((A, A.sum(axis=0)))
        z = np.linalg.svd(A)[2][3]
        M = np.eye(4) - (1.0 - 1e-9) * np.outer(z, z)
        force = 1e-9 * z  # M z = 1e-9 z: an acceleration of z
        for algorithm in refused:
            try:
                form = factorize(mass_factor(M), A, method=method, pseudoinverse=algorithm)
            except (InputError, UndeterminedCoordinatesError):
                refused[algorithm] += 1
                continue
            found = form.solve(force, np.zeros(4)).qdd
            np.testing.assert_allclose(found, z, rtol=0, atol=1e-2)
    assert refused["svd"] == 0
    assert refused["greville"] > 0
