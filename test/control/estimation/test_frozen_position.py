# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Positions that stand still: stopped encoders, old values, and joints that rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.mechanism_builder import arm, mechanism

from uk_dynamics.control.estimation import FrozenPositionWatch
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism

PERIOD = 0.005  # s


def two_joints(friction: float = 0.0) -> Mechanism:
    joints = {"damping": 0.0, "friction": friction}
    return mechanism(arm([1.0, 0.5]), f"joints: {{j1: {joints}, j2: {joints}}}")


def acceleration(machine: Mechanism, state: State, tau: Array) -> Callable[[Array], Array]:
    dynamics = machine.dynamics("interpreted")
    return lambda extra: dynamics.evaluate(state, Inputs(tau=tau + extra)).qdd


def watched(machine: Mechanism, states: list[State], tau: Array) -> tuple[float, str]:
    """When something is found, and what."""
    watch = FrozenPositionWatch(machine.joint_names, machine.passive)
    for k, state in enumerate(states):
        found = watch.look(PERIOD, state.q, state.v, acceleration(machine, state, tau))
        if found:
            return k * PERIOD, found
    return float("inf"), ""


def holding(machine: Mechanism, q: Array) -> Array:
    """Generalized forces with which it rests, (nv,)."""
    state = State(0.0, q, np.zeros(2))
    return -machine.terms(state).F


Q = np.array([0.4, -0.7])


def test_old_values_are_found_after_the_longest_time() -> None:
    machine = two_joints()
    states = [State(0.0, Q, np.zeros(2))] * 100
    t, found = watched(machine, states, holding(machine, Q) + np.array([0.5, 0.0]))
    assert t == pytest.approx(0.1, abs=PERIOD)
    assert "stands still for 0.1 s" in found


def test_old_values_of_a_moving_machine_are_found_by_their_velocity() -> None:
    machine = two_joints()
    states = [State(0.0, Q, np.array([0.0, 0.3]))] * 100
    t, found = watched(machine, states, holding(machine, Q))
    assert t == pytest.approx(0.1, abs=PERIOD)
    assert found.startswith("j2 stands still")


def test_a_single_frozen_encoder_is_found_among_good_ones() -> None:
    machine = two_joints()
    v = np.array([0.2, 0.2])
    states = [State(0.0, Q + np.array([k * PERIOD * 0.2, 0.0]), v) for k in range(100)]
    t, found = watched(machine, states, holding(machine, Q))
    assert t <= 0.1 + PERIOD
    assert found.startswith("j2 stands still")


def test_a_machine_that_rests_is_no_fault() -> None:
    machine = two_joints()
    states = [State(0.0, Q, np.zeros(2))] * 2000
    assert watched(machine, states, holding(machine, Q))[1] == ""


@pytest.mark.parametrize("part", [0.9, 1.5])
def test_friction_holds_what_it_can(part: float) -> None:
    machine = two_joints(friction=2.0)
    states = [State(0.0, Q, np.zeros(2))] * 100
    # both joints are pushed alike: friction opposes each by 2 N m
    push = part * 2.0 * np.ones(2)
    found = watched(machine, states, holding(machine, Q) + push)[1]
    assert bool(found) is (part > 1.0)


def test_zero_turns_it_off() -> None:
    machine = two_joints()
    watch = FrozenPositionWatch(machine.joint_names, machine.passive)
    watch.largest = 0.0
    for _ in range(100):
        assert watch.look(PERIOD, Q, np.ones(2), lambda _: np.ones(2)) == ""
