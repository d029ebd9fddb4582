# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts solved together: the conditions themselves, and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import nnls

from uk_dynamics.core.contact import ConeProblem, Mode, cone_problem, solve_cone_problem
from uk_dynamics.core.contact.alternating_directions import AlternatingDirections
from uk_dynamics.core.contact.cone_problem import _Search


def random_problem(seed: int, friction: bool = True) -> ConeProblem:
    """Up to eight contacts of a mechanism that moves against them, some of them redundant."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 9))
    freedoms = int(rng.integers(count, 3 * count + 4))
    rows = rng.normal(size=(3 * count, freedoms))
    mass = 10.0 ** rng.uniform(-1.0, 1.0, size=freedoms)
    mu = rng.uniform(0.05, 1.0, size=count) if friction else np.zeros(count)
    if not friction:
        rows.reshape(count, 3, -1)[:, 1:] = 0.0
    return ConeProblem(rows / mass @ rows.T, rows @ rng.normal(size=freedoms), mu)


@settings(deadline=None, max_examples=150)
@given(st.integers(0, 2**32 - 1))
def test_the_conditions_hold_where_it_says_so(seed: int) -> None:
    problem = random_problem(seed)
    found = solve_cone_problem(problem)
    if not found.solved:
        return  # how often that happens is another test
    r, u = found.forces, found.motion
    size = np.abs(problem.q).max()
    # what is solved holds to 1e-8 of the motion without contacts
    tolerance = 1e-7 * size
    strength = float(np.abs(r).max()) + 1e-300
    np.testing.assert_allclose(u, problem.motion(r), rtol=0, atol=1e-12 * size)
    assert (u[:, 0] >= -tolerance).all()
    assert (r[:, 0] >= -1e-7 * strength).all()
    assert (np.abs(u[:, 0] * r[:, 0]) <= tolerance * strength).all()
    held = np.hypot(r[:, 1], r[:, 2])
    assert (held <= problem.friction * r[:, 0] + 1e-7 * strength).all()
    speed = np.hypot(u[:, 1], u[:, 2])
    power = (r[:, 1:] * u[:, 1:]).sum(axis=1)
    # what slides is opposed with the whole of its friction
    np.testing.assert_allclose(
        power, -problem.friction * r[:, 0] * speed, rtol=0, atol=1e-6 * size * strength
    )


@pytest.mark.slow
def test_all_are_solved() -> None:
    failed = [seed for seed in range(400) if not solve_cone_problem(random_problem(seed)).solved]
    assert not failed


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_alternating_directions_approach_the_same_motion(seed: int) -> None:
    problem = random_problem(seed)
    method = AlternatingDirections(problem.W, problem.q, problem.friction, 1.6)
    forces = method.advance(20_000)
    found, expected = problem.motion(forces), solve_cone_problem(problem, forces).motion
    # linear convergence, of problems whose masses differ by a factor of 100
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(problem.q).max())


@pytest.mark.parametrize("seed", range(5))
def test_easier_problems_lead_to_the_same_motion(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = random_problem(seed)
    expected = solve_cone_problem(problem)
    monkeypatch.setattr(_Search, "alternate", lambda self: None)
    # a start from which no step is taken: the first ones are not to find it either
    monkeypatch.setattr(cone_problem, "NEWTON_STEPS", 0)
    found = solve_cone_problem(problem)
    assert found.solved
    # what is solved holds to 1e-8 of the motion without contacts
    size = np.abs(problem.q).max()
    np.testing.assert_allclose(found.motion, expected.motion, rtol=0, atol=1e-6 * size)


@pytest.mark.parametrize("seed", range(5))
def test_contacts_that_wedge_hold_any_motion(seed: int) -> None:
    """Many cones around a body of three freedoms: forces in them cancel, and nothing moves."""
    rng = np.random.default_rng(seed)
    rows, mu = rng.normal(size=(60, 3)), rng.uniform(0.3, 1.0, size=20)
    problem = ConeProblem(rows @ rows.T, rows @ rng.normal(size=3), mu)
    found = AlternatingDirections(problem.W, problem.q, mu, 1.0).wedged()
    assert found is not None
    assert (np.hypot(found[:, 1], found[:, 2]) < mu * found[:, 0]).all()
    np.testing.assert_allclose(problem.motion(found), 0.0, rtol=0, atol=1e-11)
    free = np.eye(60)  # 20 bodies: contacts separate one by one
    assert AlternatingDirections(free, rng.normal(size=60), mu, 1.0).wedged() is None


@pytest.mark.parametrize("seed", range(20))
def test_without_friction_it_is_least_squares(seed: int) -> None:
    problem = random_problem(seed, friction=False)
    found = solve_cone_problem(problem)
    W = problem.W[::3, ::3]
    values, vectors = np.linalg.eigh(W)
    kept = values > 1e-12 * values.max()
    root = np.sqrt(values[kept])[:, None] * vectors[:, kept].T  # W = rootᵀ root
    target = -(vectors[:, kept].T @ problem.q[::3]) / np.sqrt(values[kept])
    expected = W @ nnls(root, target)[0] + problem.q[::3]
    np.testing.assert_allclose(found.motion[:, 0], expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize(("push", "mode"), [(0.4, Mode.STICK), (0.6, Mode.SLIP)])
def test_a_point_mass_sticks_or_slides(push: float, mode: Mode) -> None:
    # unit mass: weight 1 into the ground, a push along it, μ = 1/2
    found = solve_cone_problem(ConeProblem(np.eye(3), np.array([-1.0, push, 0.0]), np.array([0.5])))
    assert found.modes(np.array([0.5])) == (mode,)
    np.testing.assert_allclose(found.forces[0], [1.0, -min(push, 0.5), 0.0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(found.motion[0, 1], max(push - 0.5, 0.0), rtol=0, atol=1e-12)


def test_shared_loads_are_of_least_norm() -> None:
    W = np.tile(np.eye(3), (4, 4))  # four contacts of one point mass
    q = np.tile([-1.0, 0.2, 0.0], 4)
    found = solve_cone_problem(ConeProblem(W, q, np.full(4, 0.5)))
    np.testing.assert_allclose(
        found.forces, np.tile([0.25, -0.05, 0.0], (4, 1)), rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(found.motion, 0.0, rtol=0, atol=1e-12)


def test_what_separates_has_no_force() -> None:
    found = solve_cone_problem(ConeProblem(np.eye(3), np.array([1.0, 3.0, 0.0]), np.array([0.5])))
    assert found.modes(np.array([0.5])) == (Mode.OPEN,)
    assert not found.forces.any()


def test_what_is_driven_in_does_not_spoil_the_others() -> None:
    """Jaws that something drives into a rigid body, and a block on the ground beside them."""
    rng = np.random.default_rng(8)
    rows = rng.normal(size=(3, 3))
    block = rows @ rows.T
    W, q = np.zeros((9, 9)), np.zeros(9)
    # the body gives way to both jaws, but not to both at once
    W[np.ix_([0, 3], [0, 3])] = [[1.0, -1.0], [-1.0, 1.0]]
    q[[0, 3]] = -1.0, -0.5
    W[6:, 6:], q[6:] = block, [-1.0, 0.5, 0.2]
    friction = np.array([0.3, 0.3, 0.5])
    found = solve_cone_problem(ConeProblem(W, q, friction))
    assert not found.solved
    alone = solve_cone_problem(ConeProblem(block, q[6:], friction[2:]))
    assert alone.solved
    np.testing.assert_allclose(found.motion[2], alone.motion[0], atol=1e-9, rtol=0)
    # the body takes the middle, and the jaws go in by as much as they come nearer: 0.75 each
    np.testing.assert_allclose(found.motion[:2, 0], -0.75, atol=1e-9, rtol=0)
    assert found.iterations < 1500, "nothing is searched that is not there"
    # what one of them leaves can be taken back: then both are solved
    q[3] = 1.0
    assert solve_cone_problem(ConeProblem(W, q, friction)).solved
