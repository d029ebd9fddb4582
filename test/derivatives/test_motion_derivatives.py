# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of the motion against differences of 50-digit solutions of the same equations.

The oracle solves M, F, A, b traced from the readable code, not the formulas of the derivatives, and
its differences are off by less than 1e-25.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.many_digits import ManyDigits, at_random, independent_rows
from support.mechanism_builder import SLOT, joint, link, massless, pinned_arm, shipped
from support.mechanism_builder import mechanism as build

from uk_dynamics import Inputs, Mechanism, State
from uk_dynamics.derivatives import DerivativeBackend, MotionDerivatives
from uk_dynamics.exceptions import InputError, StateError
from uk_dynamics.mechanism.dynamics import Derivative, Derivatives, DerivativeStatus, Quantities
from uk_dynamics_studies.benchmarks.loop_ladder import loop_ladder

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


def along(found: Derivative, direction: np.ndarray) -> np.ndarray:
    """Columns are q, v, t, tau."""
    return found.whole @ direction


def error(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest difference, relative to the largest entry where that is above one."""
    return float(np.abs(found - expected).max(initial=0.0)) / max(
        1.0, float(np.abs(expected).max(initial=0.0))
    )


@pytest.mark.slow
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
        q = dynamics.model.integrate(state.q, sign * h * step[:nv])
        moved = State(state.t, q, state.v + sign * h * step[nv:])
        # back onto the constraints, from which the step departs by its square
        ends.append(dynamics.evaluate(dynamics.project(moved), Inputs(tau)))
    # differences are off by h² times third derivatives of order 100, and by rounding over h
    for by, quantity in ((found.multipliers, "multipliers"), (found.force, "ideal_force")):
        difference = (getattr(ends[0], quantity) - getattr(ends[1], quantity)) / (2.0 * h)
        assert error(along(by, direction), difference) < 3e-7


@pytest.mark.slow
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


def allowed(found: Derivatives) -> np.ndarray:
    """Directions (q, v, t, tau) along which all choices of rows give the same."""
    nv, free = len(found.solution.qdd), found.motions.shape[1]
    directions = np.zeros((3 * nv + 1, free + nv + 1))
    directions[: 2 * nv, :free] = found.motions
    directions[2 * nv :, free:] = np.eye(nv + 1)
    return directions


def assert_same(found: Any, expected: Derivatives) -> None:
    """Of acceleration, multipliers and force, along all that is allowed."""
    for quantity in ("acceleration", "multipliers", "force"):
        own, other = (along(getattr(x, quantity), allowed(expected)) for x in (found, expected))
        assert error(own, other) < TOLERANCE, quantity


def of_state(many: Derivatives, k: int) -> Quantities:
    """One state of a batch."""
    found = many.quantities.items()
    return Quantities({name: Derivative(by.whole[k], by.groups) for name, by in found})


def slotted(*names: str) -> Mechanism:
    """A pendulum whose massless end slides in a slot; two equal slots are redundant rows."""
    return massless("".join(SLOT.format(name=name) for name in names))


MACHINES: dict[str, Callable[[], Mechanism]] = {
    "redundant rows": lambda: shipped("five_bar"),
    "several redundant rows": lambda: pinned_arm("".join(SLOT.format(name=x) for x in "abc")),
    "rows that turn along the motion": lambda: shipped("bricard"),
    "rows of wheels": lambda: shipped("differential_drive"),
    "rows that are off": lambda: shipped("landing_leg"),
    "singular masses, redundant rows": lambda: slotted("slot", "again"),
}


@pytest.mark.slow
@pytest.mark.parametrize("machine", MACHINES)
def test_compiled_derivatives_are_the_same(machine: str) -> None:
    """One state after the other, and side by side."""
    mechanism = MACHINES[machine]()
    found = [at_random(mechanism, seed)[:2] for seed in range(11)]
    q, v = (np.array([getattr(state, x) for state, _ in found]) for x in "qv")
    tau = np.array([force for _, force in found])
    compiled, interpreted = (
        MotionDerivatives(mechanism, backend) for backend in ("compiled", "interpreted")
    )
    many = compiled.batch(q, v, tau, 0.3, forces=True)
    assert (many.status == DerivativeStatus.EXIST).all()
    for k, (state, force) in enumerate(found):
        one = interpreted.at(state, Inputs(force))
        assert error(many.acceleration.value[k], one.solution.qdd) < TOLERANCE
        assert_same(of_state(many, k), one)
        if k == 0:
            assert_same(compiled.forces(state.q, state.v, force, state.t), one)
            assert_same(compiled.at(state, Inputs(force)), one)


@pytest.mark.parametrize("slots", [("slot",), ("slot", "again")])
def test_forces_at_singular_masses(slots: tuple[str, ...]) -> None:
    """The massless link is held by the slots alone, equal ones share its force equally."""
    mechanism = slotted(*slots)
    state, tau, rng = at_random(mechanism, 3)
    assert np.linalg.matrix_rank(mechanism.terms(state).M) == 1
    derivatives = MotionDerivatives(mechanism, "interpreted")
    found = derivatives.forces(state.q, state.v, tau, state.t)
    one = derivatives.at(state, Inputs(tau))
    assert one.exist
    many = derivatives.batch(state.q[None], state.v[None], tau[None], state.t, forces=True)
    assert_same(of_state(many, 0), one)
    direction = allowed(one) @ rng.normal(size=allowed(one).shape[1])
    qdd, multipliers = ManyDigits(mechanism).slope(state, tau, direction, [0])
    assert error(along(found.acceleration, direction), qdd) < TOLERANCE
    shared = multipliers / len(slots)
    assert error(along(found.multipliers, direction), np.tile(shared, len(slots))) < TOLERANCE
    # what acts on the massless link is what holds it
    assert np.abs(found.force.tau[1] + [0.0, 1.0]).max() < TOLERANCE


def test_patterns_cover_derivatives_and_know_zeros() -> None:
    """A force on one side of the springs in the joints does not move the other side at once."""
    mechanism = shipped("flexible_joint_arm")
    state, tau, _ = at_random(mechanism, 4)
    derivatives = MotionDerivatives(mechanism, "interpreted")
    found = derivatives.at(state, Inputs(tau))
    patterns = derivatives.patterns.quantities.values()
    assert not all(pattern.q.all() for pattern in patterns)
    for by, pattern in zip(
        (found.acceleration, found.multipliers, found.force), patterns, strict=True
    ):
        assert np.abs(by.whole[~pattern.whole]).max(initial=0.0) < TOLERANCE


@pytest.mark.slow
def test_states_that_lanes_cannot_answer_are_told_from_others() -> None:
    """Nearly flat the rows in lanes are too many, off the loops the other rows do not follow them.

    Their lanes have numbers all the same: all that tells is what they say of their pivots, and of
    how far rows are off.
    """
    mechanism = shipped("five_bar")
    state, tau, _ = at_random(mechanism, 2)
    q, v = np.tile(state.q, (4, 1)), np.tile(state.v, (4, 1))
    flat, opened, far = range(1, 4)
    q[flat], v[flat] = [1e-6, -1e-6, 5e-7, -3e-7], 0.0
    q[opened, 0] += 1e-3
    q[far], v[far] = [1e-2, -1e-2, 5e-3, -3e-3], 0.0
    many = MotionDerivatives(mechanism, "compiled").batch(q, v, np.tile(tau, (4, 1)), forces=True)
    interpreted = MotionDerivatives(mechanism, "interpreted")
    for k in range(4):
        one = interpreted.at(State(0.0, q[k], v[k]), Inputs(tau))
        assert one.solution.rank == (2 if k == flat else 4 if k in (opened, far) else 3)
        assert many.status[k] == (0 if one.exist else DerivativeStatus.RANK_CHANGES)
        assert error(many.acceleration.value[k], one.solution.qdd) < TOLERANCE
        if k != flat:
            assert_same(of_state(many, k), one)


@pytest.mark.slow
def test_a_batch_says_where_there_are_no_derivatives() -> None:
    mechanism = shipped("five_bar")
    (state, tau, _), nv = at_random(mechanism, 2), mechanism.model.nv
    q, v = np.tile(state.q, (3, 1)), np.tile(state.v, (3, 1))
    q[1], v[1], v[2, 0] = 0.0, 0.0, np.nan  # flat: the rank changes
    many = MotionDerivatives(mechanism, "compiled").batch(q, v, np.tile(tau, (3, 1)), forces=True)
    expected = [DerivativeStatus.EXIST, DerivativeStatus.RANK_CHANGES, DerivativeStatus.NOT_FINITE]
    assert many.status.tolist() == expected
    for by in (many.acceleration, many.multipliers, many.force):
        assert np.isfinite(by.q[0]).all()
        assert np.isnan(by.q[2]).all()
    with pytest.raises(InputError, match="states of a batch"):
        MotionDerivatives(mechanism, "compiled").batch(q, v[:, : nv - 1])


@pytest.mark.slow
def test_lanes_without_redundant_rows_know_singular_masses_and_forces_that_are_not_finite() -> None:
    """A point mass on two massless bars: stretched, nothing says how these move across the mass."""
    parts = link("base") + link("upper", mass=0.0) + link("lower", inertia=0.0, com="1 0 0")
    parts += joint("shoulder", "base", "upper") + joint("elbow", "upper", "lower", xyz="1 0 0")
    parts += link("lever") + joint("pivot", "base", "lever")
    mechanism = build(
        parts,
        """
initial_guess: {shoulder: 0.0, elbow: 1.0, pivot: 0.0}
constraints:
  rest: {type: frame, axes: [z], parent: {link: base}, child: {link: lever, xyz: [1, 0, 0]}}
""",
    )
    q, v, tau = np.zeros((3, 3)), np.zeros((3, 3)), np.full((3, 3), 0.3)
    q[:, 1], tau[2, 1] = (1.0, 1e-7, 1.0), np.inf
    many = MotionDerivatives(mechanism, "compiled").batch(q, v, tau, forces=True)
    nothing = [DerivativeStatus.UNDETERMINED, DerivativeStatus.NOT_FINITE]
    assert many.status.tolist() == [DerivativeStatus.EXIST, *nothing]
    one = MotionDerivatives(mechanism, "interpreted").at(State(0.0, q[0], v[0]), Inputs(tau[0]))
    assert_same(of_state(many, 0), one)


@pytest.mark.slow
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


@pytest.mark.parametrize("backend", ["compiled", "interpreted"])
def test_a_state_that_is_no_state_is_refused_by_name(backend: DerivativeBackend) -> None:
    derivatives = MotionDerivatives(Mechanism.from_file("five_bar"), backend)
    zeros, lost = np.zeros(4), np.full(4, np.nan)
    for q, v, tau, place in (
        (np.zeros(3), zeros, None, "q"),
        (zeros, lost, None, "crank"),
        (lost, zeros, None, "crank"),
        (zeros, zeros, np.zeros(2), "tau"),
    ):
        with pytest.raises(StateError, match=f"^{place}: expected"):
            derivatives.acceleration(q, v, tau)


def test_what_is_no_mechanism_and_no_backend_is_refused() -> None:
    with pytest.raises(InputError, match="expected a ResolvedMechanism"):
        MotionDerivatives("five_bar")  # type: ignore[arg-type]
    with pytest.raises(InputError, match='no backend "comp"; did you mean "compiled"'):
        MotionDerivatives(Mechanism.from_file("five_bar"), "comp")  # type: ignore[arg-type]
