# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of the projection against differences of projections."""

from __future__ import annotations

import numpy as np
import pytest
from support.many_digits import at_random
from support.mechanism_builder import shipped

from uk_dynamics import State
from uk_dynamics.derivatives import ProjectionDerivatives
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.dynamics import DerivativeStatus

QUANTITIES = ("position", "velocity")


@pytest.mark.parametrize("name", ["rrr3", "slider_crank", "spiral_particle", "rolling_disc"])
def test_projected_states_change_as_differences_do(name: str) -> None:
    """From closed positions in any direction, off the constraints too; from velocities off them."""
    mechanism = shipped(name)
    dynamics, nv = mechanism.dynamics("interpreted"), mechanism.model.nv
    state, _, rng = at_random(mechanism, 4)
    state = State(state.t, state.q, state.v + rng.normal(size=nv))
    found = ProjectionDerivatives(mechanism, "interpreted").at(state)
    assert found.exist
    by_q, by_v = rng.normal(size=(2, nv))
    by_t, h = (0.0 if mechanism.follows_references else 1.0), 1e-5
    ends = []
    for step in (h, -h):
        q = dynamics.space.integrate(state.q, step * by_q)
        moved = State(state.t + step * by_t, q, state.v + step * by_v)
        ends.append(dynamics.project(moved))
    velocity = found.velocity.q @ by_q + found.velocity.v @ by_v + found.velocity.t * by_t
    place = found.position.q @ by_q + found.position.t * by_t
    # of central differences: h² times third derivatives of some thousand, rounding over h
    bound = 1e-6
    there = dynamics.space.integrate(found.position.value, h * place)
    back = dynamics.space.integrate(found.position.value, -h * place)
    off = (ends[0].q - ends[1].q - (there - back)) / (2.0 * h)
    assert np.abs(off).max() < bound * (1.0 + np.abs(place).max())
    difference = (ends[0].v - ends[1].v) / (2.0 * h)
    assert np.abs(velocity - difference).max() < bound * (1.0 + np.abs(difference).max())


def test_redundant_rows_along_the_constraints() -> None:
    mechanism = shipped("five_bar")
    state, _, _ = at_random(mechanism, 4)
    found = ProjectionDerivatives(mechanism, "interpreted").at(state)
    assert found.exist
    P, A = found.position.q, mechanism.terms(state).A
    assert np.allclose(P @ P, P, rtol=0.0, atol=1e-10)  # a projector onto what A allows
    assert np.allclose(A @ P, 0.0, rtol=0.0, atol=1e-10)


def test_none_where_redundant_rows_part() -> None:
    """Flat, the parallelogram loses a row: its redundant ones do not follow each other there."""
    mechanism = shipped("five_bar")
    flat = State(0.0, np.zeros(4), np.array([1.0, -0.5, 0.3, 0.2]))
    assert not ProjectionDerivatives(mechanism, "interpreted").at(flat).exist


def test_open_loops_are_refused() -> None:
    mechanism = shipped("five_bar")
    derivatives = ProjectionDerivatives(mechanism, "interpreted")
    start = mechanism.start()
    with pytest.raises(InputError, match="project the state first"):
        derivatives.at(State(0.0, start.q + 0.01, start.v))


@pytest.mark.parametrize("backend", ["compiled", "interpreted"])
def test_many_states_say_where_there_are_none(backend: str) -> None:
    """In C as in Python; states with open loops or without numbers do not disturb the others."""
    mechanism = shipped("slider_crank")
    derivatives = ProjectionDerivatives(mechanism, backend)
    states = []
    for seed in range(2):
        state, _, rng = at_random(mechanism, seed)
        states.append(State(state.t, state.q, state.v + rng.normal(size=len(state.v))))
    q, v = (np.array([getattr(x, name) for x in (*states, *states)]) for name in "qv")
    q[2] += 0.01
    v[3, 0] = np.nan
    many = derivatives.batch(q, v, states[0].t)
    S = DerivativeStatus
    assert many.status.tolist() == [S.EXIST, S.EXIST, S.OPEN, S.NOT_FINITE]
    assert np.isnan(many.velocity.v[2:]).all()
    other = ProjectionDerivatives(mechanism, "interpreted")
    for k, state in enumerate(states):
        expected = other.at(state)
        for name in QUANTITIES:
            found, own = many.quantities[name].whole[k], expected.quantities[name].whole
            # rounding times the condition of two rows
            assert np.allclose(found, own, rtol=0.0, atol=1e-11 * max(1.0, np.abs(own).max()))
        one = derivatives.at(state)
        assert np.array_equal(one.velocity.q, many.velocity.q[k])
        assert np.allclose(many.velocity.value[k], expected.velocity.value, rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("name", ["swarm", "differential_drive", "spiral_particle"])
def test_patterns_leave_out_zeros_alone(name: str) -> None:
    mechanism = shipped(name)
    patterns = ProjectionDerivatives(mechanism).patterns
    if name == "swarm":  # each particle follows the others without moving them
        assert patterns.position.whole.sum() == mechanism.model.nv
    state, _, rng = at_random(mechanism, 2)
    state = State(state.t, state.q, state.v + rng.normal(size=len(state.v)))
    found = ProjectionDerivatives(mechanism, "interpreted").at(state)
    for name in QUANTITIES:
        left_out = found.quantities[name].whole[~patterns.quantities[name].whole]
        assert np.abs(left_out).max(initial=0.0) < 1e-12  # rounding of numbers of order one
