# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The fundamental equation on random systems of every rank, for every mass factor and method."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.forms import METHODS

from uk_dynamics.core.equation.solution import WITH_PSEUDOINVERSE, Status
from uk_dynamics.core.linalg.mass_factor import (
    SingularMass,
    UndeterminedCoordinatesError,
    mass_factor,
)
from uk_dynamics.core.solver_methods import factorize
from uk_dynamics.exceptions import InputError

# Systems below have condition numbers up to about 1e4; rounding times that, with room.
TOLERANCE = 1e-9


def _mass(rng: np.random.Generator, n: int) -> np.ndarray:
    root = rng.standard_normal((n, n))
    return root @ root.T + n * np.eye(n)


def _system(rng: np.random.Generator, n: int, rank: int, redundant: int):
    """M, A of a known rank with redundant rows mixed in, F, and a consistent b."""
    independent = rng.standard_normal((rank, n))
    mixing = rng.standard_normal((redundant, rank))
    A = np.vstack((independent, mixing @ independent))[rng.permutation(rank + redundant)]
    return _mass(rng, n), A, rng.standard_normal(n), A @ rng.standard_normal(n)


systems = st.integers(1, 9).flatmap(
    lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(0, 4), st.integers(0, 2**32 - 1))
)


@pytest.mark.parametrize("method", METHODS)
@given(systems)
def test_solution_has_every_property_of_the_constrained_motion(method, drawn):
    n, rank, redundant, seed = drawn
    rng = np.random.default_rng(seed)
    redundant = redundant if rank else 0
    M, A, F, b = _system(rng, n, rank, redundant)
    # An ill-conditioned draw would test the luck of the draw.
    if rank and np.linalg.cond(A[: max(rank, 1)]) > 1e3:
        return
    factorization = factorize(mass_factor(M), A, method=method)
    solution = factorization.solve(F, b)
    assert solution.rank == rank
    assert solution.status is Status.OK
    size = 1.0 + np.abs(solution.qdd).max() * np.abs(M).max()
    assert np.abs(A @ solution.qdd - b).max(initial=0.0) < TOLERANCE * size
    assert np.abs(M @ solution.qdd - F - solution.constraint_force).max() < TOLERANCE * size
    # The ideal force does no work in admissible displacements and comes from the multipliers.
    kernel = np.linalg.svd(A)[2][rank:] if len(A) else np.eye(n)
    assert np.abs(kernel @ solution.ideal_force).max(initial=0.0) < TOLERANCE * size
    assert np.abs(A.T @ solution.multipliers - solution.ideal_force).max() < TOLERANCE * size
    # Least multipliers: nothing of them in the kernel of Aᵀ.
    if redundant:
        idle = np.linalg.svd(A.T)[2][rank:]
        assert np.abs(idle @ solution.multipliers).max() < TOLERANCE * size * 1e3
        unique = np.linalg.norm(idle, axis=0) < 1e-6
        assert np.array_equal(solution.determined, unique)
    else:
        assert solution.determined.all()


@pytest.mark.parametrize("method", METHODS)
def test_gauss_minimality(method):
    rng = np.random.default_rng(0)
    M, A, F, b = _system(rng, 8, 4, 2)
    qdd = factorize(mass_factor(M), A, method=method).solve(F, b).qdd
    free = np.linalg.solve(M, F)

    def gauss(x: np.ndarray) -> float:
        return float((x - free) @ M @ (x - free))

    kernel = np.linalg.svd(A)[2][4:]
    for _ in range(50):
        other = qdd + kernel.T @ rng.standard_normal(4)
        assert gauss(other) > gauss(qdd)


@pytest.mark.parametrize("method", METHODS)
def test_nonideal_force_acts_only_where_constraints_let_it(method):
    """Servo paper (11)–(13)."""
    rng = np.random.default_rng(1)
    M, A, F, b = _system(rng, 7, 3, 1)
    c = rng.standard_normal(7)
    factorization = factorize(mass_factor(M), A, method=method)
    ideal, both = factorization.solve(F, b), factorization.solve(F, b, nonideal=c)
    assert np.abs(A @ both.qdd - b).max() < TOLERANCE
    kernel = np.linalg.svd(A)[2][3:]
    work = kernel @ (both.constraint_force - c)  # W = vᵀQ_c = vᵀc in virtual displacements (8)
    assert np.abs(work).max() < TOLERANCE
    np.testing.assert_allclose(both.ideal_force, ideal.ideal_force, rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(M @ both.qdd, F + both.constraint_force, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("method", METHODS)
def test_heavy_and_light_bodies_are_both_held(method):
    """One row on 1000 kg and one between two bodies of 0.1 g: row norms 0.03 and 141."""
    M = np.diag([1000.0, 1e-4, 1e-4])
    A = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, -1.0]])
    F = np.array([-9810.0, -9.81e-4, 1e-3])
    solution = factorize(mass_factor(M), A, method=method).solve(F, np.zeros(2))
    assert solution.rank == 2
    assert abs(solution.qdd[0]) < 1e-12  # it would fall with 9.81
    assert abs(solution.qdd[1] - solution.qdd[2]) < 1e-12
    np.testing.assert_allclose(solution.multipliers[0], 9810.0, rtol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_contradicting_rows_are_found(method):
    rng = np.random.default_rng(2)
    M, A, F, b = _system(rng, 6, 3, 1)
    b = b + 0.1 * np.arange(4)  # no acceleration can do that
    solution = factorize(mass_factor(M), A, method=method).solve(F, b)
    assert solution.status is Status.INCONSISTENT
    # A pseudoinverse prefers no row: all four, which depend on each other, share the error.
    assert len(solution.offending) == (4 if method in WITH_PSEUDOINVERSE else 1)
    kept = np.setdiff1d(np.arange(4), solution.offending)
    assert np.abs((A @ solution.qdd - b)[kept]).max(initial=0.0) < TOLERANCE


@pytest.mark.parametrize("method", METHODS)
def test_nearly_dependent_row_is_told_from_a_contradiction(method):
    A = np.array([[1.0, 0.0, 0.0], [1.0, 1e-6, 0.0]])
    solution = factorize(mass_factor(np.eye(3)), A, method=method).solve(
        np.zeros(3), np.array([1.0, 2.0])
    )
    assert solution.status is Status.NEAR_SINGULAR
    assert np.abs(solution.qdd).max() < 2.0  # not 1e6, which would satisfy both rows


def test_singular_mass_with_enough_constraints():
    """A massless coordinate that a row ties to a heavy one."""
    M = np.diag([2.0, 0.0, 3.0])
    A = np.array([[1.0, -1.0, 0.0]])
    mass = mass_factor(M)
    assert isinstance(mass, SingularMass)
    solution = factorize(mass, A).solve(np.array([1.0, 3.0, 6.0]), np.array([0.5]))
    # q̈₀ − q̈₁ = 0.5 and 2 q̈₀ = 1 + 3: both forces act on the one mass.
    np.testing.assert_allclose(solution.qdd, [2.0, 1.5, 2.0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        M @ solution.qdd, np.array([1.0, 3.0, 6.0]) + A.T @ solution.multipliers, atol=1e-12
    )


def test_singular_mass_without_enough_constraints_is_refused():
    mass = mass_factor(np.diag([2.0, 0.0, 3.0]))
    with pytest.raises(UndeterminedCoordinatesError) as caught:
        factorize(mass, np.array([[1.0, 0.0, -1.0]]))
    assert caught.value.coordinates == (1,)
    named = caught.value.named(("base", "feeler", "arm"))
    assert "feeler" in str(named)


@pytest.mark.parametrize(
    "bad",
    [np.diag([1.0, -1.0]), np.diag([np.inf, 1.0]), np.array([[1.0, np.nan], [np.nan, 1.0]])],
)
@pytest.mark.filterwarnings("error")
def test_impossible_mass_is_refused(bad):
    with pytest.raises(InputError):
        mass_factor(bad)


@given(st.integers(0, 2**32 - 1), st.integers(1, 12))
def test_the_mass_factor_is_a_factor_of_the_matrix(seed, n):
    rng = np.random.default_rng(seed)
    M = _mass(rng, n)
    factor = mass_factor(M)
    tolerance = 1e-14 * np.linalg.cond(M) * 100
    for value in (rng.standard_normal(n), rng.standard_normal((n, 3))):
        assert np.abs(M @ factor.solve(value) - value).max() < tolerance
        assert np.abs(factor.multiply_factor(factor.whiten(value)) - value).max() < tolerance
        assert np.abs(factor.unwhiten(factor.whiten(value)) - factor.solve(value)).max() < tolerance
    assert np.abs(factor.dense() - M).max() < tolerance


@pytest.mark.parametrize("method", METHODS)
def test_rows_without_effect_are_dropped_not_divided_by(method):
    A = np.array([[1.0, 2.0], [1e-17, -1e-17]])
    solution = factorize(
        mass_factor(np.eye(2)), A, natural_scale=np.array([3.0, 1.0]), method=method
    ).solve(np.array([1.0, 1.0]), np.array([0.0, 0.0]))
    assert solution.rank == 1
    assert np.isfinite(solution.qdd).all()
    assert np.isfinite(solution.multipliers).all()


@pytest.mark.parametrize("method", METHODS)
def test_correction_is_the_least_step_in_the_metric_of_mass(method):
    rng = np.random.default_rng(5)
    M, A, _, b = _system(rng, 6, 3, 1)
    x = factorize(mass_factor(M), A, method=method).correction(b)
    assert np.abs(A @ x - b).max() < TOLERANCE
    kernel = np.linalg.svd(A)[2][3:]
    assert np.abs(kernel @ M @ x).max() < TOLERANCE
