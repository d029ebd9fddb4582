# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of the projection against differences of projections."""

from __future__ import annotations

import numpy as np
import pytest
from support.many_digits import at_random
from support.mechanism_builder import shipped

from uk_dynamics import State
from uk_dynamics.derivatives import (
    MotionDerivatives,
    projection_derivatives,
    projection_derivatives_batch,
    projection_patterns,
)
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.dynamics import DerivativeStatus

PARTS = ("q_by_q", "q_by_t", "v_by_q", "v_by_v", "v_by_t")


@pytest.mark.parametrize("name", ["rrr3", "slider_crank", "spiral_particle", "rolling_disc"])
def test_projected_states_change_as_differences_do(name: str) -> None:
    """From closed positions in any direction, off the constraints too; from velocities off them."""
    mechanism = shipped(name)
    dynamics, nv = mechanism.dynamics("interpreted"), mechanism.model.nv
    state, _, rng = at_random(mechanism, 4)
    state = State(state.t, state.q, state.v + rng.normal(size=nv))
    found = projection_derivatives(MotionDerivatives(mechanism, "interpreted"), state)
    assert found.exist
    by_q, by_v = rng.normal(size=(2, nv))
    by_t, h = (0.0 if mechanism.follows_references else 1.0), 1e-5
    ends = []
    for step in (h, -h):
        q = dynamics.model.integrate(state.q, step * by_q)
        moved = State(state.t + step * by_t, q, state.v + step * by_v)
        ends.append(dynamics.project(moved))
    velocity = found.v_by_q @ by_q + found.v_by_v @ by_v + found.v_by_t * by_t
    place = found.q_by_q @ by_q + found.q_by_t * by_t
    # of central differences: h² times third derivatives of some thousand, rounding over h
    bound = 1e-6
    there = dynamics.model.integrate(found.state.q, h * place)
    back = dynamics.model.integrate(found.state.q, -h * place)
    off = (ends[0].q - ends[1].q - (there - back)) / (2.0 * h)
    assert np.abs(off).max() < bound * (1.0 + np.abs(place).max())
    difference = (ends[0].v - ends[1].v) / (2.0 * h)
    assert np.abs(velocity - difference).max() < bound * (1.0 + np.abs(difference).max())


def test_redundant_rows_along_the_constraints() -> None:
    mechanism = shipped("five_bar")
    state, _, _ = at_random(mechanism, 4)
    found = projection_derivatives(MotionDerivatives(mechanism, "interpreted"), state)
    assert found.exist
    P, A = found.q_by_q, mechanism.terms(state).A
    assert np.allclose(P @ P, P, rtol=0.0, atol=1e-10)  # a projector onto what A allows
    assert np.allclose(A @ P, 0.0, rtol=0.0, atol=1e-10)


def test_none_where_redundant_rows_part() -> None:
    """Flat, the parallelogram loses a row: its redundant ones do not follow each other there."""
    mechanism = shipped("five_bar")
    flat = State(0.0, np.zeros(4), np.array([1.0, -0.5, 0.3, 0.2]))
    assert not projection_derivatives(MotionDerivatives(mechanism, "interpreted"), flat).exist


def test_open_loops_are_refused() -> None:
    mechanism = shipped("five_bar")
    derivatives = MotionDerivatives(mechanism, "interpreted")
    start = mechanism.start()
    with pytest.raises(InputError, match="project the state first"):
        projection_derivatives(derivatives, State(0.0, start.q + 0.01, start.v))


@pytest.mark.parametrize("backend", ["compiled", "interpreted"])
def test_many_states_say_where_there_are_none(backend: str) -> None:
    """In C as in Python; states with open loops or without numbers do not disturb the others."""
    mechanism = shipped("slider_crank")
    derivatives = MotionDerivatives(mechanism, backend)
    states = []
    for seed in range(2):
        state, _, rng = at_random(mechanism, seed)
        states.append(State(state.t, state.q, state.v + rng.normal(size=len(state.v))))
    q, v = (np.array([getattr(x, name) for x in (*states, *states)]) for name in "qv")
    q[2] += 0.01
    v[3, 0] = np.nan
    many = projection_derivatives_batch(derivatives, q, v, states[0].t)
    S = DerivativeStatus
    assert many.status.tolist() == [S.EXIST, S.EXIST, S.OPEN, S.NOT_FINITE]
    assert np.isnan(many.v_by_v[2:]).all()
    other = MotionDerivatives(mechanism, "interpreted")
    for k, state in enumerate(states):
        expected = projection_derivatives(other, state)
        for name in PARTS:
            found, own = getattr(many, name)[k], getattr(expected, name)
            # rounding times the condition of two rows
            assert np.allclose(found, own, rtol=0.0, atol=1e-11 * max(1.0, np.abs(own).max()))
        one = projection_derivatives(derivatives, state)
        assert np.array_equal(one.v_by_q, many.v_by_q[k])
        assert np.allclose(many.v[k], expected.state.v, rtol=0.0, atol=1e-13)


@pytest.mark.parametrize("name", ["swarm", "differential_drive", "spiral_particle"])
def test_patterns_leave_out_zeros_alone(name: str) -> None:
    mechanism = shipped(name)
    patterns = projection_patterns(mechanism)
    if name == "swarm":  # each particle follows the others without moving them
        assert patterns.q_by_q.sum() == mechanism.model.nv
    state, _, rng = at_random(mechanism, 2)
    state = State(state.t, state.q, state.v + rng.normal(size=len(state.v)))
    found = projection_derivatives(MotionDerivatives(mechanism, "interpreted"), state)
    for part in PARTS:
        left_out = getattr(found, part)[~getattr(patterns, part)]
        assert np.abs(left_out).max(initial=0.0) < 1e-12  # rounding of numbers of order one
