# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Efforts of sampled control go on smoothly where the rank of the structure changes for a while."""

from __future__ import annotations

import numpy as np
import pytest
from support.recorded import PARALLELOGRAM

from uk_dynamics import Mechanism, ServoController, State, Tasks, simulate, simulate_many
from uk_dynamics.control import Command

PERIOD = 1e-3


@pytest.fixture(scope="module")
def machine() -> Mechanism:
    return Mechanism.from_file("five_bar")  # its parallelograms are flat at crank = 0


def controller(machine: Mechanism, rate: float, begin: float, backend: str) -> ServoController:
    reference = {"type": "polynomial", "coefficients": [begin, -rate]}
    turn = {"type": "joint", "joint": "crank", "reference": reference}
    tasks = Tasks.from_data({"schema": 1, "tasks": {"turn": turn}}, machine)
    return ServoController(machine, tasks, control_period=PERIOD, backend=backend)


def commands(machine: Mechanism, rate: float, off: float, backend: str) -> list[Command]:
    """On exact states of a parallelogram that becomes flat in the middle."""
    before = max(10, int(3e-4 / (rate * PERIOD)))
    begin = rate * PERIOD * (before + off)
    law, found = controller(machine, rate, begin, backend), []
    for k in range(2 * before):
        t = k * PERIOD
        state = State(t, (begin - rate * t) * PARALLELOGRAM, -rate * PARALLELOGRAM)
        found.append(law.command(state))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
@pytest.mark.parametrize("rate", [2.0, 0.1, 0.01])
@pytest.mark.parametrize("off", [0.0, 0.37, 0.5])  # 0.5: flat in the middle of a period
def test_no_effort_jumps(machine: Mechanism, rate: float, off: float, backend: str) -> None:
    found = commands(machine, rate, off, backend)
    efforts = np.array([one.efforts[0] for one in found])
    ratios = efforts[1:] / efforts[:-1]
    assert ratios.max() < 1.02  # gravity and inertia alone change, by less than 0.1 a period
    assert ratios.min() > 1.0 / 1.02
    if off == 0.5 or rate < 0.1:
        assert any(one.held for one in found)
    assert not found[0].held
    assert not found[-1].held


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["interpreted", "compiled"])
def test_a_machine_that_stays_there_is_controlled(machine: Mechanism, backend: str) -> None:
    law = controller(machine, 0.0, 0.0, backend)
    law.command(State(-PERIOD, 0.1 * PARALLELOGRAM, np.zeros(4)))
    held = [law.command(State(k * PERIOD, np.zeros(4), np.zeros(4))).held for k in range(120)]
    assert all(held[:100])
    assert not any(held[100:])
    law.command(State(0.2, 0.1 * PARALLELOGRAM, np.zeros(4)))
    law.reset()  # what was before counts no more
    assert not law.command(State(0.3, np.zeros(4), np.zeros(4))).held


@pytest.mark.slow
@pytest.mark.parametrize("off", [0.0, 0.5])
def test_motions_side_by_side_are_the_same(machine: Mechanism, off: float) -> None:
    begin, rate = 2.0 * PERIOD * (30.0 + off), 2.0
    start = State(0.0, begin * PARALLELOGRAM, -rate * PARALLELOGRAM)
    options = {"control_period": PERIOD, "sample_period": PERIOD, "method": "rk4", "step": PERIOD}
    laws = [controller(machine, rate, begin, "compiled") for _ in range(9)]
    one = simulate(machine, start, 0.06, controller=laws[0], **options)
    many = simulate_many(machine, [start] * 8, 0.06, controllers=laws[1:], **options)
    for run in many:
        np.testing.assert_allclose(run.efforts, one.efforts, rtol=0.0, atol=1e-6)  # N m, rounding
