# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of efforts against differences of efforts with 50 digits."""

from __future__ import annotations

import numpy as np
import pytest
from support.many_digit_efforts import ManyDigitEfforts
from support.many_digits import at_random, independent_rows
from support.mechanism_builder import joint, link, shipped
from support.mechanism_builder import mechanism as build

from uk_dynamics import State, Tasks
from uk_dynamics.derivatives import DerivativeBackend, ServoDerivatives
from uk_dynamics.mechanism.dynamics import Derivatives, DerivativeStatus

TOLERANCE = 1e-11  # of derivatives relative to the largest: rounding times condition


def along(found: Derivatives, direction: np.ndarray) -> np.ndarray:
    return found.efforts.whole @ direction


def random_direction(found: Derivatives, rng: np.random.Generator) -> np.ndarray:
    """Of the state along the constraints, and of all others."""
    rest = found.efforts.whole.shape[1] - len(found.motions)
    motion = found.motions @ rng.normal(size=found.motions.shape[1])
    return np.concatenate([motion, rng.normal(size=rest)])


@pytest.mark.parametrize(
    ("name", "tasks"),
    [
        ("five_bar", "five_bar_sweep"),  # redundant rows
        ("rrr3", "rrr3_track"),
        ("parallel_2dof", "parallel_2dof_line"),  # more motors than motions
    ],
)
def test_efforts_by_state_and_reference(name: str, tasks: str) -> None:
    mechanism = shipped(name)
    law = Tasks.from_file(tasks, mechanism)
    state, _, rng = at_random(mechanism, 1)
    found = ServoDerivatives(law, "interpreted").at(state)
    assert found.status is DerivativeStatus.EXIST
    direction = random_direction(found, rng)
    expected = ManyDigitEfforts(law).slope(state, direction, independent_rows(mechanism, state), {})
    off = np.abs(along(found, direction) - expected).max()
    assert off < TOLERANCE * np.abs(expected).max()


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["compiled", "interpreted"])
def test_a_motor_at_its_limit_is_held(backend: DerivativeBackend) -> None:
    """The others then share what it does not give; at the edge of the limit there is no answer."""
    mechanism = shipped("coordinated_robots")
    law = Tasks.from_file("coordinated_robots_lift", mechanism)
    state, _, rng = at_random(mechanism, 1)
    derivatives = ServoDerivatives(law, backend)
    efforts = derivatives.at(state).efforts.value
    hardest = int(np.argmax(np.abs(efforts)))
    limits = np.full(len(efforts), np.inf)
    limits[hardest] = 0.9 * abs(efforts[hardest])
    found = derivatives.at(state, lower=-limits, upper=limits)
    assert found.status is DerivativeStatus.EXIST
    assert np.flatnonzero(found.limited).tolist() == [hardest]
    direction, held = random_direction(found, rng), {hardest: float(found.efforts.value[hardest])}
    rows = independent_rows(mechanism, state)
    expected = ManyDigitEfforts(law).slope(state, direction, rows, held)
    off = np.abs(along(found, direction) - expected).max()
    assert off < TOLERANCE * np.abs(expected).max()
    limits[hardest] = abs(efforts[hardest])
    found = derivatives.at(state, lower=-limits, upper=limits)
    assert found.status is DerivativeStatus.LIMITS_CHANGE
    assert np.isnan(found.efforts.q).all()
    limits[:] = 0.01 * abs(efforts[hardest])
    found = derivatives.at(state, lower=-limits, upper=limits)
    assert found.status is DerivativeStatus.TASKS_MISSED


@pytest.mark.slow
def test_many_states_as_one_by_one() -> None:
    """In C as in Python, with a preload and a limit; a state without numbers disturbs no other."""
    mechanism = shipped("coordinated_robots")
    law = Tasks.from_file("coordinated_robots_lift", mechanism)
    compiled, other = (ServoDerivatives(law, x) for x in ("compiled", "interpreted"))
    states = [at_random(mechanism, seed)[0] for seed in range(3)]
    q, v = (np.array([getattr(x, name) for x in states]) for name in "qv")
    v[2, 0] = np.nan
    motors = len(mechanism.actuators)
    preload = np.linspace(-1.0, 1.0, motors)
    limit = np.full(motors, 0.9 * np.abs(other.at(states[0], preload=preload).efforts.value).max())
    given = {"lower": -limit, "upper": limit, "preload": preload}
    S = DerivativeStatus
    for derivatives in (compiled, other):
        many = derivatives.batch(q, v, states[0].t, **given)
        assert many.status.tolist() == [S.EXIST, S.EXIST, S.NOT_FINITE]
        assert np.isnan(many.efforts.q[2]).all()
        for k, state in enumerate(states[:2]):
            expected = other.at(state, **given)
            assert many.limited[k].tolist() == expected.limited.tolist()
            for name in ("value", *expected.efforts.groups):
                own = getattr(expected.efforts, name)
                off = np.abs(getattr(many.efforts, name)[k] - own).max()
                assert off < TOLERANCE * max(1.0, np.abs(own).max()), name


def test_patterns_leave_out_zeros_alone() -> None:
    """Of two pendulums, each with a motor and a task, each motor knows its own alone."""
    parts = link("base") + "".join(
        link(f"l{k}", com="0.5 0 0") + joint(f"j{k}", "base", f"l{k}") for k in (1, 2)
    )
    mechanism = build(parts, "actuators: {one: {joint: j1}, two: {joint: j2}}\n")
    tasks = {f"turn{k}": {"type": "joint", "joint": f"j{k}"} for k in (1, 2)}
    derivatives = ServoDerivatives(Tasks.from_data({"tasks": tasks}, mechanism), "interpreted")
    patterns = derivatives.patterns.efforts
    assert patterns.t.tolist() == [False, False]
    found = derivatives.at(State(0.0, np.array([0.3, -0.4]), np.array([0.5, 1.0]))).efforts
    for name in ("q", "values", "rates", "accelerations", "stiffness"):
        assert np.array_equal(getattr(patterns, name), np.eye(2, dtype=bool)), name
        assert np.array_equal(getattr(found, name) != 0.0, np.eye(2, dtype=bool)), name


def test_none_where_the_rank_changes() -> None:
    mechanism = shipped("five_bar")
    nv = mechanism.model.nv
    law = Tasks.from_file("five_bar_sweep", mechanism)
    found = ServoDerivatives(law, "interpreted").at(State(0.0, np.zeros(nv), np.zeros(nv)))
    assert found.status is not DerivativeStatus.EXIST
    assert np.isnan(found.efforts.q).all()
