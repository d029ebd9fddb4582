# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The planned lift of the excavator: within all limits in open loop, and faster than by hand."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from support.examples import example
from support.mechanism_builder import shipped

from uk_dynamics import Tasks, simulate

pytest.importorskip("casadi")
pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")

BY_HAND = 1.6  # s, of the task


@pytest.mark.slow
def test_the_lift_is_faster_than_by_hand_and_within_the_limits_in_open_loop() -> None:
    lift = example("planning/excavator_lift")
    machine = shipped("excavator")
    tasks = Tasks.from_file("excavator_lift", machine)
    start, end = machine.start(tasks=tasks), machine.start(tasks=tasks, t=BY_HAND)
    plan = lift.fastest(machine, start, end, BY_HAND, 16)
    assert plan.duration < 0.65 * BY_HAND
    run = simulate(
        machine,
        start,
        plan.duration,
        controller=lift.OpenLoop(plan),
        control_period=plan.period,
        sample_period=0.002,
    )
    assert run.warnings == ()  # no stroke and no effort beyond its limit
    used = lift.utilisation(run, machine)
    assert max(used.values()) < 1.0
    assert min(used.values()) > 0.9  # force, speed and pump: a fastest motion uses what there is
    driven = np.flatnonzero(machine.actuators.matrix.any(axis=1))
    # two steps of the Runge-Kutta method in 60 ms: 1e-5 m, 1e-4 m/s
    assert np.abs(run.q[-1] - end.q)[driven].max() < 1e-4
    assert np.abs(run.v[-1])[driven].max() < 1e-3
    assert np.abs(run.residual).max() < 1e-9
