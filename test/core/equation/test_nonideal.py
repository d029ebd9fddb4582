# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Non-ideal constraint forces: what holds whatever they are, and where there are none."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from uk_dynamics.core.equation.load_dependent_force import LoadForces, solve_nonideal
from uk_dynamics.core.equation.solution import Status
from uk_dynamics.core.linalg.mass_factor import mass_factor
from uk_dynamics.core.solver_methods import factorize

SEEDS = st.integers(0, 10_000)
# Random mass matrices have conditions of up to 1e3; numbers are of order one.
ROUNDING = 1e-9


def random_system(seed, redundant=False):
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((10, 10)) + 3.0 * np.eye(10)
    A = rng.standard_normal((5, 10))
    if redundant:
        A = np.vstack((A, A[0] - 2.0 * A[1]))
    b = A @ rng.standard_normal(10)
    return rng, root @ root.T + np.eye(10), A, rng.standard_normal(10), b


def joint_loads(direction, load_map):
    return LoadForces(direction, load_map, np.zeros(len(load_map), dtype=bool))


def weak_friction(rng, A, count=2, size=0.05):
    """Directions that push little against the rows, each with the load of three rows."""
    m, nv = A.shape
    load_map = np.zeros((count, 3, m))
    for j in range(count):
        load_map[j, [0, 1, 2], [j, j + 1, j + 2]] = 1.0
    return joint_loads(size * rng.standard_normal((nv, count)), load_map)


@pytest.mark.parametrize("method", ["udwadia_kalaba", "nullspace"])
@settings(deadline=None, max_examples=30)
@given(seed=SEEDS)
def test_the_force_fits_the_load_and_the_rows_hold(method, seed):
    rng, M, A, F, b = random_system(seed)
    loads = weak_friction(rng, A)
    factorization = factorize(mass_factor(M), A, method=method)
    given_part = rng.standard_normal(10)
    solution = solve_nonideal(factorization, F, b, given=given_part, loads=loads)
    assert solution.status is Status.OK
    assert solution.qdd @ A.T == pytest.approx(b, abs=ROUNDING)
    bears = np.linalg.norm(loads.load_map @ solution.joint_multipliers, axis=1)
    expected = given_part + loads.direction @ bears
    assert solution.nonideal == pytest.approx(expected, abs=ROUNDING)
    # What moves the machine is c and the force of the rows, nothing else.
    acting = F + solution.nonideal + A.T @ solution.joint_multipliers
    assert M @ solution.qdd == pytest.approx(acting, abs=1e-8)
    assert solution.constraint_force == pytest.approx(acting - F, abs=1e-8)
    # The ideal force is the one of the servo paper's (11): it does not know of c.
    ideal = factorization.solve(F, b)
    assert solution.multipliers == pytest.approx(ideal.multipliers, abs=ROUNDING)


@given(seed=SEEDS)
@settings(deadline=None, max_examples=20)
def test_only_what_the_rows_let_through_of_a_force_moves_anything(seed):
    rng, M, A, F, b = random_system(seed)
    factorization = factorize(mass_factor(M), A)
    held = A.T @ rng.standard_normal(5)
    with_it = solve_nonideal(factorization, F, b, given=held)
    assert with_it.qdd == pytest.approx(factorization.solve(F, b).qdd, abs=ROUNDING)
    assert with_it.joint_multipliers - with_it.multipliers == pytest.approx(
        -np.linalg.lstsq(A.T, held, rcond=None)[0], abs=1e-8
    )


def pushed_against_a_wall(friction, load):
    """Two coupled bodies, the second held: friction f n on the first loads the wall by f n / 2."""
    M, A = np.array([[2.0, 1.0], [1.0, 2.0]]), np.array([[0.0, 1.0]])
    F = np.array([0.0, -load])
    loads = joint_loads(np.array([[-friction], [0.0]]), np.array([[[1.0], [0.0], [0.0]]]))
    return solve_nonideal(factorize(mass_factor(M), A), F, np.zeros(1), loads=loads)


@pytest.mark.parametrize("friction", [0.1, 1.0, 3.0, 50.0])
def test_friction_that_relieves_its_own_load_always_has_an_answer(friction):
    # λ = load − f n / 2 and n = |λ|; for a plain iteration f < 2 would be needed.
    solution = pushed_against_a_wall(friction, 1.0)
    assert solution.status is Status.OK
    n = 1.0 / (1.0 + friction / 2.0)
    assert solution.joint_multipliers == pytest.approx([n], abs=1e-12)
    assert solution.nonideal == pytest.approx([-friction * n, 0.0], abs=1e-11)


@pytest.mark.parametrize("friction", [0.1, 1.0, 1.9])
def test_friction_that_adds_to_its_load_has_one_up_to_a_bound(friction):
    solution = pushed_against_a_wall(friction, -1.0)
    assert solution.status is Status.OK
    assert solution.joint_multipliers == pytest.approx([-1.0 / (1.0 - friction / 2.0)], rel=1e-10)


@pytest.mark.parametrize("friction", [2.0, 2.5, 40.0])
def test_a_joint_that_jams_is_said_to(friction):
    solution = pushed_against_a_wall(friction, -1.0)
    assert solution.status is Status.NOT_CONVERGED
    assert solution.offending.tolist() == [0]
    assert np.isfinite(solution.qdd).all()
    assert solution.qdd[1] == pytest.approx(0.0, abs=1e-12)  # the wall holds all the same


def test_strong_friction_has_the_loads_that_weak_friction_leads_to():
    """Two slides whose friction changes the load of both, in one of several ways that fit.

    The first two coordinates slide and the others are held, so that λ = start + response n.
    """
    start, response = np.array([0.3, -1.2]), np.array([[-0.5, -2.5], [4.0, 2.5]])
    M = np.block([[np.eye(2), response.T], [response, np.eye(2) + response @ response.T]])
    A = np.eye(2, 4, 2)
    F = np.concatenate((np.zeros(2), -start))
    load_map = np.zeros((2, 3, 2))
    load_map[[0, 1], 0, [0, 1]] = 1.0
    factorization = factorize(mass_factor(M), A)

    def loads(part):
        direction = part * np.eye(4, 2)
        solution = solve_nonideal(
            factorization, F, np.zeros(2), loads=joint_loads(direction, load_map)
        )
        assert solution.status is Status.OK
        n = np.abs(solution.joint_multipliers)
        assert n == pytest.approx(np.abs(start + part * response @ n), abs=1e-10)
        return n

    grown = np.array([loads(part) for part in np.linspace(0.0, 1.0, 201)])
    # the other loads that fit are larger by 0.5 and more
    assert np.abs(np.diff(grown, axis=0)).max() < 0.05


def test_no_load_is_no_friction():
    solution = pushed_against_a_wall(0.5, 0.0)
    assert solution.status is Status.OK
    assert solution.qdd == pytest.approx([0.0, 0.0], abs=1e-15)


def test_a_load_that_rows_share_somehow_is_flagged():
    rng, M, A, F, b = random_system(3, redundant=True)
    b[-1] = b[0] - 2.0 * b[1]
    factorization = factorize(mass_factor(M), A)
    loads = weak_friction(rng, A, count=3)
    solution = solve_nonideal(factorization, F, b, loads=loads)
    assert solution.status is Status.UNDETERMINED_LOAD
    assert solution.offending.tolist() == [0, 1]  # rows 2 to 4 are determined
    # Redundant rows elsewhere do no harm.
    own = joint_loads(loads.direction[:, 2:], loads.load_map[2:])
    assert solve_nonideal(factorization, F, b, loads=own).status is Status.OK


def test_friction_without_motion_needs_no_load():
    rng, M, A, F, b = random_system(3, redundant=True)
    b[-1] = b[0] - 2.0 * b[1]
    loads = joint_loads(np.zeros((10, 2)), weak_friction(rng, A).load_map)
    solution = solve_nonideal(factorize(mass_factor(M), A), F, b, loads=loads)
    assert solution.status is Status.OK


def test_a_function_of_the_solution_is_met():
    rng, M, A, F, b = random_system(7)
    factorization = factorize(mass_factor(M), A)
    pull = 0.05 * rng.standard_normal((10, 5))
    solution = solve_nonideal(factorization, F, b, function=lambda s: pull @ s.joint_multipliers)
    assert solution.status is Status.OK
    # The iteration stops at a relative change of 1e-9.
    assert solution.nonideal == pytest.approx(pull @ solution.joint_multipliers, abs=1e-8)
    assert solution.qdd @ A.T == pytest.approx(b, abs=ROUNDING)


def test_a_function_that_leads_nowhere_is_said_to():
    _, M, A, F, b = random_system(7)
    factorization = factorize(mass_factor(M), A)
    solution = solve_nonideal(
        factorization, F, b, function=lambda s: -np.sign(s.qdd) * 50.0 * (1.0 + np.abs(s.qdd))
    )
    assert solution.status is Status.NOT_CONVERGED
    assert solution.qdd @ A.T == pytest.approx(b, abs=1e-6)
