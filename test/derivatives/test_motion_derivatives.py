# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of the motion against differences of 50-digit solutions of the same equations.

The oracle solves M, F, A, b traced from the readable code, not the formulas of the derivatives, and
its differences are off by less than 1e-25.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.many_digits import ManyDigits, at_random, independent_rows
from support.mechanism_builder import shipped

from uk_dynamics import Inputs, Mechanism, State
from uk_dynamics.benchmarks.loop_ladder import loop_ladder
from uk_dynamics.derivatives.motion_derivatives import MotionDerivatives
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.dynamics import DerivativeStatus, Slopes

# Rounding of double precision times what stiff loops magnify: condition numbers below 10 in
# rows, up to some hundred in the reduced inertia.
TOLERANCE = 1e-11

NAMES = (
    *(
        "five_bar",
        "five_bar_maximal",
        "stewart_platform",
        "dual_panda",
        "excavator",
        "rolling_disc",
    ),
    *("differential_drive", "spiral_particle", "swarm", "flexible_joint_arm", "landing_leg"),
    *("coordinated_robots", "skate", "slider_crank"),
)


def along(slopes: Slopes, direction: np.ndarray) -> np.ndarray:
    whole = np.hstack([slopes.q, slopes.v, slopes.t[:, None], slopes.tau])
    return whole @ direction


def error(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference, relative to the largest entry where that is above one."""
    return float(np.abs(found - expected).max(initial=0.0)) / max(
        1.0, float(np.abs(expected).max(initial=0.0))
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_derivative_of_the_motion(name: str) -> None:
    """Along any direction where rows are independent, along the constraints where they are not."""
    mechanism = shipped(name)
    state, tau, rng = at_random(mechanism, 3)
    nv = mechanism.model.nv
    found = MotionDerivatives(mechanism, "interpreted").at(state, Inputs(tau))
    assert found.exist
    rows = independent_rows(mechanism, state)
    regular = len(rows) == len(mechanism.constraints)
    direction = rng.normal(size=3 * nv + 1)
    if not regular:
        direction[: 2 * nv] = found.motions @ rng.normal(size=found.motions.shape[1])
    if mechanism.follows_references:
        direction[2 * nv] = 0.0  # the references move with time, and are held here
    qdd, multipliers = ManyDigits(mechanism).slope(state, tau, direction, rows)
    assert error(along(found.acceleration, direction), qdd) < TOLERANCE
    if regular and rows:
        assert error(along(found.multipliers, direction)[rows], multipliers) < TOLERANCE


@pytest.mark.parametrize("name", ["five_bar", "five_bar_maximal", "differential_drive"])
def test_multipliers_of_least_norm_and_forces_of_redundant_rows(name: str) -> None:
    """Against central differences of the solution itself along the constraints."""
    mechanism = shipped(name)
    dynamics = mechanism.dynamics("interpreted")
    state, tau, rng = at_random(mechanism, 5)
    nv = mechanism.model.nv
    found = MotionDerivatives(mechanism, "interpreted").at(state, Inputs(tau))
    assert found.solution.rank < len(mechanism.constraints)
    step = found.motions @ rng.normal(size=found.motions.shape[1])
    direction = np.concatenate([step, np.zeros(nv + 1)])
    h = 1e-5
    ends = []
    for sign in (1.0, -1.0):
        q = dynamics.space.integrate(state.q, sign * h * step[:nv])
        moved = State(state.t, q, state.v + sign * h * step[nv:])
        # back onto the constraints, from which the step departs by its square
        ends.append(dynamics.evaluate(dynamics.project(moved), Inputs(tau)))
    # differences are off by h² times third derivatives of order 100, and by rounding over h
    for slopes, quantity in ((found.multipliers, "multipliers"), (found.force, "ideal_force")):
        difference = (getattr(ends[0], quantity) - getattr(ends[1], quantity)) / (2.0 * h)
        assert error(along(slopes, direction), difference) < 3e-7


@given(seed=st.integers(0, 10_000))
def test_forces_change_the_motion_as_the_admissible_ones_do(seed: int) -> None:
    """∂q̈/∂τ is N: symmetric, A N = 0, N M N = N (servo paper, section 3)."""
    mechanism = shipped("five_bar")
    state, tau, _ = at_random(mechanism, seed)
    N = MotionDerivatives(mechanism, "interpreted").at(state, Inputs(tau)).acceleration.tau
    terms = mechanism.terms(state)
    assert np.allclose(N, N.T, rtol=0.0, atol=1e-9)
    assert np.allclose(terms.A @ N, 0.0, rtol=0.0, atol=1e-9)
    assert np.allclose(N @ terms.M @ N, N, rtol=0.0, atol=1e-8)


def test_derivatives_do_not_exist_where_the_rank_changes() -> None:
    """Flat, the five-bar could fold another way as well: its rows have rank 2, elsewhere 3."""
    mechanism = shipped("five_bar")
    flat = mechanism.state(dict.fromkeys(mechanism.joint_names, 0.0))
    found = MotionDerivatives(mechanism, "interpreted").at(flat)
    assert found.solution.rank == 2
    assert not found.exist
    assert len(found.offending)


@pytest.mark.parametrize("name", ["five_bar", "bricard", "landing_leg"])
def test_compiled_derivatives_are_the_same(name: str) -> None:
    mechanism = shipped(name)
    state, tau, _ = at_random(mechanism, 7)
    interpreted = MotionDerivatives(mechanism, "interpreted").at(state, Inputs(tau))
    compiled = MotionDerivatives(mechanism, "compiled")
    nv, free = mechanism.model.nv, interpreted.motions.shape[1]
    directions = np.zeros((3 * nv + 1, free + nv))
    directions[: 2 * nv, :free] = interpreted.motions
    directions[2 * nv + 1 :, free:] = np.eye(nv)
    for slopes in (
        compiled.acceleration(state.q, state.v, tau, state.t),
        compiled.at(state, Inputs(tau)).acceleration,
    ):
        assert (
            error(along(slopes, directions), along(interpreted.acceleration, directions))
            < TOLERANCE
        )


def test_patterns_cover_derivatives_and_know_zeros() -> None:
    """A force on one side of the springs in the joints does not move the other side at once."""
    mechanism = shipped("flexible_joint_arm")
    state, tau, _ = at_random(mechanism, 4)
    derivatives = MotionDerivatives(mechanism, "interpreted")
    found = derivatives.at(state, Inputs(tau))
    patterns = (derivatives.patterns, *derivatives.force_patterns)
    assert not all(pattern.q.all() for pattern in patterns)
    for by, pattern in zip(
        (found.acceleration, found.multipliers, found.force), patterns, strict=True
    ):
        for slopes, places in ((by.q, pattern.q), (by.v, pattern.v), (by.tau, pattern.tau)):
            assert np.abs(slopes[~places]).max(initial=0.0) < TOLERANCE
        assert np.abs(by.t[~pattern.t]).max(initial=0.0) < TOLERANCE


@pytest.mark.parametrize("name", ["five_bar", "landing_leg"])
def test_compiled_forces_are_the_same(name: str) -> None:
    """Multipliers of redundant rows, and of a leg whose contacts are switched."""
    mechanism = shipped(name)
    state, tau, _ = at_random(mechanism, 7)
    interpreted = MotionDerivatives(mechanism, "interpreted").at(state, Inputs(tau))
    found = MotionDerivatives(mechanism, "compiled").forces(state.q, state.v, tau, state.t)
    nv, free = mechanism.model.nv, interpreted.motions.shape[1]
    directions = np.zeros((3 * nv + 1, free + nv + 1))
    directions[: 2 * nv, :free] = interpreted.motions
    directions[2 * nv :, free:] = np.eye(nv + 1)
    for quantity in found._fields:
        expected = along(getattr(interpreted, quantity), directions)
        assert error(along(getattr(found, quantity), directions), expected) < TOLERANCE, quantity


@pytest.mark.parametrize("name", ["five_bar", "parallel_2dof", "differential_drive"])
def test_a_batch_has_the_derivatives_of_its_states(name: str) -> None:
    """Redundant rows; rows that turn along the motion, unlike a parallelogram's; rows of wheels."""
    mechanism = shipped(name)
    found = [at_random(mechanism, seed)[:2] for seed in range(11)]
    q, v = (np.array([getattr(state, x) for state, _ in found]) for x in "qv")
    tau = np.array([force for _, force in found])
    compiled = MotionDerivatives(mechanism, "compiled")
    many = compiled.batch(q, v, tau, 0.3)
    assert (many.status == DerivativeStatus.EXIST).all()
    for k, (state, force) in enumerate(found):
        one = compiled.at(state, Inputs(force))
        free, nv = one.motions.shape[1], mechanism.model.nv
        directions = np.zeros((3 * nv + 1, free + nv))
        directions[: 2 * nv, :free] = one.motions
        directions[2 * nv + 1 :, free:] = np.eye(nv)
        slopes = Slopes(*(x[k] for x in many.acceleration))
        expected = along(one.acceleration, directions)
        assert error(along(slopes, directions), expected) < TOLERANCE
        assert error(many.qdd[k], one.solution.qdd) < TOLERANCE


def test_a_batch_says_where_there_are_no_derivatives() -> None:
    mechanism = shipped("five_bar")
    (state, tau, _), nv = at_random(mechanism, 2), mechanism.model.nv
    q, v = np.tile(state.q, (3, 1)), np.tile(state.v, (3, 1))
    q[1], v[1], v[2, 0] = 0.0, 0.0, np.nan  # flat: the rank changes
    many = MotionDerivatives(mechanism, "compiled").batch(q, v, np.tile(tau, (3, 1)))
    expected = [DerivativeStatus.EXIST, DerivativeStatus.RANK_CHANGES, DerivativeStatus.NOT_FINITE]
    assert many.status.tolist() == expected
    assert np.isfinite(many.acceleration.q[0]).all()
    assert np.isnan(many.acceleration.q[2]).all()
    with pytest.raises(InputError, match="states of a batch"):
        MotionDerivatives(mechanism, "compiled").batch(q, v[:, : nv - 1])


def test_a_start_where_the_rank_changes_is_told_in_lanes() -> None:
    """Rows that are independent at a flat start are too few elsewhere, and few enough there."""
    mechanism = shipped("five_bar")
    flat = Mechanism.from_spec(
        replace(mechanism.spec, initial_guess=dict.fromkeys(mechanism.joint_names, 0.0))
    )
    nothing = np.zeros((8, mechanism.model.nv))
    many = MotionDerivatives(flat, "compiled").batch(nothing, nothing)
    assert (many.status == DerivativeStatus.RANK_CHANGES).all()


def test_forces_that_depend_on_constraint_forces_are_refused() -> None:
    mechanism = Mechanism.from_spec(
        shipped("five_bar").spec, nonideal=lambda state, solution: np.zeros(4)
    )
    with pytest.raises(InputError, match="non-ideal"):
        MotionDerivatives(mechanism)


def test_large_mechanisms_with_local_loops_are_refused() -> None:
    with pytest.raises(InputError, match="large mechanisms with local loops"):
        MotionDerivatives(loop_ladder(40))
