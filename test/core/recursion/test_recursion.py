# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Orsino's recursion: any split into levels gives the motion of all constraints at once."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uk_dynamics.core.equation.solution import Status
from uk_dynamics.core.linalg.mass_factor import SingularMass, mass_factor
from uk_dynamics.core.recursion.hierarchical import Hierarchical
from uk_dynamics.core.recursion.recursion import Recursion
from uk_dynamics.core.solver_methods import factorize
from uk_dynamics.exceptions import InputError
from uk_dynamics_studies.papers.orsino.kernel import (
    covariance_update,
    extend_orthonormal_rows,
    restrict_complement,
    restrict_projector,
)

# Rounding times the condition 1e6 is 2e-10, relative to the size of the result.
TOLERANCE = 1e-9
# Below what is independent at condition 1e6, above what rounding leaves of a dependent row.
RANK_TOLERANCE = 1e-8


def _orthonormal(rng: np.random.Generator, n: int, count: int) -> np.ndarray:
    return np.linalg.qr(rng.standard_normal((n, n)))[0][:count]


def _rows(rng: np.random.Generator, n: int, rank: int, redundant: int, condition: float):
    """Rows whose independent part has a given condition number, redundant ones mixed in."""
    values = np.geomspace(1.0, 1.0 / condition, rank)
    independent = (_orthonormal(rng, rank, rank) * values) @ _orthonormal(rng, n, rank)
    mixing = rng.standard_normal((redundant, rank))
    return np.vstack((independent, mixing @ independent))[rng.permutation(rank + redundant)]


def _system(rng, n, rank, redundant, condition):
    """M, A with whitened rows of a given condition, F, consistent b."""
    root = rng.standard_normal((n, n))
    M = root @ root.T + n * np.eye(n)
    A = _rows(rng, n, rank, redundant, condition) @ np.linalg.cholesky(M).T
    return M, A, rng.standard_normal(n), A @ rng.standard_normal(n)


def _split(rng: np.random.Generator, m: int, count: int) -> list[np.ndarray]:
    level = rng.integers(0, count, m)
    return [np.flatnonzero(level == index) for index in range(count)]


systems = st.integers(1, 10).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.integers(1, n),
        st.integers(0, 4),
        st.integers(1, 5),
        st.floats(0.0, 6.0),
        st.integers(0, 2**32 - 1),
    )
)


@given(systems)
def test_every_split_into_levels_gives_the_motion_and_the_force_of_one_level(drawn):
    n, rank, redundant, count, digits, seed = drawn
    rng = np.random.default_rng(seed)
    condition = 10.0**digits if rank > 1 else 1.0
    M, A, F, b = _system(rng, n, rank, redundant, condition)
    levels = _split(rng, len(A), count)
    solution = factorize(
        mass_factor(M), A, rank_tolerance=RANK_TOLERANCE, method="hierarchical", levels=levels
    ).solve(F, b)
    at_once = factorize(mass_factor(M), A, rank_tolerance=RANK_TOLERANCE).solve(F, b)
    assert solution.rank == at_once.rank == rank
    assert solution.status is Status.OK
    # Of redundant rows the level decides which are taken, and those may be worse than all together.
    taken = A[solution.reactions.independent] @ np.linalg.inv(np.linalg.cholesky(M)).T
    if np.linalg.cond(taken) > 1e6:
        return
    size = 1.0 + np.abs(at_once.qdd).max()
    force = 1.0 + np.abs(at_once.constraint_force).max() + np.abs(M).max() * size
    assert np.abs(solution.qdd - at_once.qdd).max() < TOLERANCE * size
    assert np.abs(solution.constraint_force - at_once.constraint_force).max() < TOLERANCE * force
    assert np.abs(M @ solution.qdd - F - solution.constraint_force).max() < TOLERANCE * force


@given(systems)
def test_the_other_answers_of_a_factorisation_agree_with_one_level(drawn):
    n, rank, redundant, count, _, seed = drawn
    rng = np.random.default_rng(seed)
    M, A, F, b = _system(rng, n, rank, redundant, 10.0 if rank > 1 else 1.0)
    levels = _split(rng, len(A), count)
    c = rng.standard_normal(n)
    recursive = factorize(mass_factor(M), A, method="hierarchical", levels=levels)
    at_once = factorize(mass_factor(M), A)
    # Condition 10 times sizes up to a hundred: rounding stays far below.
    near = {"rtol": 0.0, "atol": 1e-10 * np.abs(M).max()}
    X = rng.standard_normal((n, 2))
    np.testing.assert_allclose(recursive.admissible(X), at_once.admissible(X), **near)
    K, sizes = recursive.admissible_coordinates(X)
    np.testing.assert_allclose(K.T @ K, X.T @ at_once.admissible(X), **near)
    np.testing.assert_allclose(sizes, at_once.admissible_coordinates(X)[1], **near)
    np.testing.assert_allclose(recursive.correction(b), at_once.correction(b), **near)
    np.testing.assert_allclose(recursive.nonideal_force(c), at_once.nonideal_force(c), **near)
    solution, other = recursive.solve(F, b, nonideal=c), at_once.solve(F, b, nonideal=c)
    np.testing.assert_allclose(solution.qdd, other.qdd, **near)
    np.testing.assert_allclose(solution.constraint_force, other.constraint_force, **near)
    np.testing.assert_allclose(solution.multipliers, other.multipliers, rtol=0.0, atol=1e-6)
    assert np.array_equal(solution.determined, other.determined)
    assert sorted((*recursive.independent, *recursive.dependent)) == list(range(len(A)))
    assert np.linalg.matrix_rank(A[recursive.independent]) == rank


def test_a_hundred_levels_keep_twelve_digits():
    rng = np.random.default_rng(1)
    M, A, F, b = _system(rng, 120, 100, 0, 10.0)
    levels = [np.array([row]) for row in range(100)]
    solution = factorize(mass_factor(M), A, method="hierarchical", levels=levels).solve(F, b)
    at_once = factorize(mass_factor(M), A).solve(F, b)
    # Each level adds rounding; they do not multiply.
    assert np.abs(solution.qdd - at_once.qdd).max() < 1e-12 * (1.0 + np.abs(at_once.qdd).max())


def test_the_model_of_every_level_is_that_of_the_rows_so_far():
    rng = np.random.default_rng(2)
    M, A, F, b = _system(rng, 9, 6, 2, 10.0)
    levels = _split(rng, len(A), 3)
    hierarchy = Hierarchical(mass_factor(M), A, None, 1e-6, levels)
    for count in range(4):
        rows = np.concatenate([np.empty(0, int), *levels[:count]])
        alone = factorize(mass_factor(M), A[rows]).solve(F, b[rows]).qdd
        # Condition 10: a dozen digits are left of sizes near one.
        assert np.abs(hierarchy.accelerate(F, b, count) - alone).max() < 1e-11


def test_constraints_switched_a_thousand_times_are_as_if_solved_afresh():
    rng = np.random.default_rng(3)
    n, base_rows, switchable = 14, 5, 8
    worst = 0.0
    for digits in np.linspace(0.0, 6.0, 10):
        # 5 rows below, 8 that come and go, two of which depend on others: condition up to 1e6.
        M, A, F, b = _system(rng, n, base_rows + switchable - 2, 2, 10.0**digits)
        mass = mass_factor(M)
        H = mass.whiten(A.T).T
        scale = 1.0 / np.linalg.norm(H, axis=1)
        below = np.arange(base_rows)
        base = Recursion.free(n).enforce(below, H[below], scale[below], RANK_TOLERANCE)
        a_below = base.advance(mass.whiten(F), b)
        on = np.zeros(switchable, dtype=bool)
        for _ in range(100):
            on[rng.integers(switchable)] ^= True
            rows = base_rows + np.flatnonzero(on)
            # One more update on the level below: what was switched off was never in it.
            above = base.enforce(rows, H[rows], scale[rows], RANK_TOLERANCE)
            qdd = mass.unwhiten(above.advance(a_below, b, since=len(base.updates)))
            every = np.concatenate((below, rows))
            afresh = factorize(mass, A[every], rank_tolerance=RANK_TOLERANCE).solve(F, b[every])
            assert above.rank == afresh.rank
            worst = max(worst, np.abs(qdd - afresh.qdd).max() / (1.0 + np.abs(afresh.qdd).max()))
    assert worst < TOLERANCE


def test_three_ways_to_the_kernel_give_one_projector():
    rng = np.random.default_rng(4)
    n = 10
    A = _rows(rng, n, 7, 4, 100.0)
    Q, Z, S = np.zeros((0, n)), np.eye(n), np.eye(n)
    for end, start in itertools.pairwise((11, 8, 8, 3, 0)):
        rows, so_far = A[start:end][::-1], A[start:]
        Q = extend_orthonormal_rows(Q, rows)
        Z = restrict_complement(Z, rows)
        S = restrict_projector(S, rows)
        exact = np.eye(n) - np.linalg.pinv(so_far, rcond=1e-10) @ so_far
        # Condition 100: rounding takes no more than three digits.
        np.testing.assert_allclose(np.eye(n) - Q.T @ Q, exact, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(Z @ Z.T, exact, rtol=0.0, atol=1e-12)
        np.testing.assert_allclose(S, exact, rtol=0.0, atol=1e-11)
    assert Z.shape == (n, 3)
    assert len(Q) == 7


def test_the_covariance_form_is_the_recursion_where_rows_are_independent():
    rng = np.random.default_rng(5)
    M, A, F, b = _system(rng, 8, 6, 0, 10.0)
    mass = mass_factor(M)
    H = mass.whiten(A.T).T
    for joseph in (False, True):
        a, P = mass.whiten(F), np.eye(8)
        for rows in np.split(np.arange(6), 3):
            a, P = covariance_update(a, P, H[rows], b[rows], joseph=joseph)
        # Condition 10, squared: still a dozen digits.
        exact = factorize(mass, A).solve(F, b).qdd
        assert np.abs(mass.unwhiten(a) - exact).max() < 1e-11


def test_the_covariance_form_refuses_dependent_rows():
    H = np.array([[1.0, 0.0]])
    a, P = covariance_update(np.zeros(2), np.eye(2), H, np.ones(1))
    with pytest.raises(InputError, match="depend"):
        covariance_update(a, P, H, np.ones(1))


def test_the_covariance_form_loses_at_condition_1e6_what_the_factor_keeps():
    rng = np.random.default_rng(6)
    M, A, F, b = _system(rng, 10, 8, 0, 1e6)
    mass = mass_factor(M)
    H = mass.whiten(A.T).T
    values = np.linalg.svd(H)
    free = mass.whiten(F)
    exact = free + values[2][:8].T @ ((values[0].T @ (b - H @ free)) / values[1])
    a, P = free, np.eye(10)
    levels = np.split(np.arange(8), 4)
    for rows in levels:
        a, P = covariance_update(a, P, H[rows], b[rows], joseph=True)
    recursive = factorize(
        mass, A, rank_tolerance=RANK_TOLERANCE, method="hierarchical", levels=levels
    )
    kept = mass.whiten(M @ recursive.solve(F, b).qdd)
    assert np.abs(kept - exact).max() < TOLERANCE * (1.0 + np.abs(exact).max())
    assert np.abs(a - exact).max() > 1e3 * np.abs(kept - exact).max()


@given(systems)
def test_clearances_give_the_optimum_of_gauss_with_springs(drawn):
    n, rank, redundant, count, _, seed = drawn
    rng = np.random.default_rng(seed)
    M, A, F, b = _system(rng, n, rank, redundant, 10.0 if rank > 1 else 1.0)
    clearance = np.where(rng.random(len(A)) < 0.5, 0.0, 10.0 ** rng.uniform(-3, 1, len(A)))
    levels = _split(rng, len(A), count)
    rigid = np.linalg.svd(A[clearance == 0.0], compute_uv=False)
    if ((rigid > 1e-9) & (rigid < 1e-2)).any():  # near the rank tolerance: the luck of the draw
        return
    factorization = factorize(
        mass_factor(M), A, method="hierarchical", levels=levels, clearance=clearance
    )
    solution = factorization.solve(F, b)
    soft = clearance > 0.0
    # Independent: the saddle-point system of A q̈ + Rλ = b, least squares for redundant rows.
    saddle = np.block([[M, -A.T], [A, np.diag(clearance)]])
    exact = np.linalg.lstsq(saddle, np.concatenate((F, b)))[0]
    size = 1.0 + np.abs(exact).max() * np.abs(A).max()
    assert np.abs(solution.qdd - exact[:n]).max() < TOLERANCE * size
    assert np.abs(A.T @ solution.multipliers - solution.ideal_force).max() < 1e-7 * size
    residual = A @ solution.qdd + clearance * solution.multipliers - b
    assert np.abs(residual).max() < 1e-7 * size
    assert solution.rank == np.linalg.matrix_rank(A[~soft], tol=1e-6)
    # N is what forces cause: the difference of two solutions.
    x = rng.standard_normal(n)
    moved = factorization.solve(F + x, b).qdd - solution.qdd
    assert np.abs(factorization.admissible(x) - moved).max() < TOLERANCE * size


def test_a_stiff_clearance_does_not_hide_a_rigid_row_in_its_direction():
    mass = mass_factor(np.eye(2))
    A = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    b = np.array([1.0, 2.0, 0.0])
    clearance = np.array([1e-12, 0.0, 1.0])
    levels = [np.array([0, 2]), np.array([1])]
    factorization = factorize(mass, A, method="hierarchical", levels=levels, clearance=clearance)
    assert factorization.rank == 1
    # The rigid row decides, however stiff the clearance below it; half of 1e-12's digits are left.
    assert factorization.solve(np.zeros(2), b).qdd[0] == pytest.approx(2.0, abs=1e-9)


def test_modules_without_a_common_constraint_are_computed_apart():
    rng = np.random.default_rng(7)
    modules = [np.array([0, 4, 5]), np.array([1, 2, 7]), np.array([3, 6, 8])]
    A = np.zeros((8, 9))
    for index, module in enumerate(modules):
        A[2 * index : 2 * index + 2, module] = rng.standard_normal((2, 3))
    A[6, [0, 1]], A[7, [2, 3]] = 1.0, 1.0  # level 2 ties all three together
    M = np.zeros((9, 9))
    for module in modules:
        root = rng.standard_normal((3, 3))
        M[np.ix_(module, module)] = root @ root.T + np.eye(3)
    levels = [np.arange(6), np.arange(6, 8)]
    hierarchy = Hierarchical(mass_factor(M), A, None, 1e-6, levels)
    first = hierarchy.recursions[0]
    assert [set(u.coordinates) for u in first.updates] == [set(module) for module in modules]
    assert [update.response.shape for update in first.updates] == [(3, 2)] * 3
    # What one module does not know cannot reach the others: not even NaN does.
    b = np.ones(8)
    b[2] = np.nan
    a = first.advance(np.ones(9), b)
    assert np.isnan(a[modules[1]]).all()
    assert np.isfinite(a[np.concatenate((modules[0], modules[2]))]).all()
    assert len(hierarchy.recursions[1].updates) == 4
    assert len(hierarchy.recursions[1].blocks) == 1


def test_contradicting_levels_are_named():
    mass = mass_factor(np.eye(2))
    A = np.array([[1.0, 0.0], [2.0, 0.0]])
    factorization = factorize(mass, A, method="hierarchical", levels=[np.array([1]), np.array([0])])
    solution = factorization.solve(np.zeros(2), np.array([1.0, 0.0]))
    assert solution.status is Status.INCONSISTENT
    assert list(solution.offending) == [0]


def test_recursion_needs_a_regular_mass_and_clearances_need_the_recursion():
    singular = SingularMass(np.diag([1.0, 0.0]))
    with pytest.raises(InputError, match="singular"):
        factorize(singular, np.eye(2), method="hierarchical")
    mass = mass_factor(np.eye(2))
    with pytest.raises(InputError, match="clearances"):
        factorize(mass, np.eye(2), method="udwadia_kalaba", clearance=np.ones(2))
    assert isinstance(factorize(mass, np.eye(2), clearance=np.ones(2)), Hierarchical)


def test_clearances_without_inertia_are_refused_for_what_they_are():
    singular = SingularMass(np.diag([1.0, 0.0]))
    with pytest.raises(InputError, match="compliant constraints need its inverse"):
        factorize(singular, np.eye(2), clearance=np.ones(2))
