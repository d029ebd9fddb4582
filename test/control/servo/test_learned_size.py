# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A robust law that learns how large all that is uncertain is, by adaptation of leakage type."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from uk_dynamics import Mechanism, Reality, ServoController, Tasks, simulate
from uk_dynamics.checks.checklist import check
from uk_dynamics.core.servo import MARGIN, Known, next_scale, robust_term
from uk_dynamics.exceptions import InputError

PERIOD = 0.001
SWEEP = {
    "type": "joint",
    "joint": "crank",
    "reference": {"type": "sinusoid", "offset": 0.9, "amplitude": 0.3, "frequency": 0.5},
}
# a tenth of what the real machine is off by
SMALL = {
    "parameters": {"links.coupler_link.mass": [1.9, 2.1], "joints.crank.friction": [0.0, 0.1]},
    "delay": 0.001,
}
REAL = {"links.coupler_link.mass": 3.0, "joints.crank.friction": 1.0}


@pytest.fixture(scope="module")
def five_bar() -> Mechanism:
    return Mechanism.from_file("five_bar")


def tasks_of(machine: Mechanism, **robust: Any) -> Tasks:
    return Tasks.from_data({"robust": SMALL | robust, "tasks": {"sweep": SWEEP}}, machine)


def moved(controller: ServoController, seconds: float) -> float:
    """The largest error of a machine that is off, after the first half of a motion."""
    machine = controller.mechanism
    plant = Reality.from_data({"parameters": REAL}).machine(machine)
    run = simulate(
        *(plant, machine.start(tasks=controller.tasks), seconds),
        controller=controller,
        control_period=PERIOD,
        delay=0.001,
    )
    return float(np.abs(run.tracking_error[run.t > 0.5 * seconds]).max())


@pytest.mark.slow
def test_errors_stay_bounded_whatever_the_disturbance() -> None:
    """V = s²/2 + (σ − σ*)²/(2 κ) falls outside of a ball, so that s and σ end within it.

    With ṡ = −b s + r + d, |d| ≤ σ* ρ, and (4), V̇ ≤ −b s² + B σ σ* − A σ², B = λ/κ and
    A = B − ρ²/(4 g), of which the last is what the boundary layer costs.
    """
    rho, rate, gain, leakage, h = 3.0, 20.0, 200.0, 2.0, 1e-4
    growth = leakage * (rate + gain) / rho**2
    B = leakage / growth
    A = B - rho**2 / (4.0 * gain)
    known = Known.of(gain, 0.0, surface=False)._replace(size_learning=np.array([growth]))
    squares, rng = np.array([(rho / MARGIN) ** 2]), np.random.default_rng(1)
    for needed in (0.0, 0.5, 4.0, 40.0):  # σ*, which the law does not know
        s, scale, falls, ends = 5.0 * rng.normal(size=1), 3.0 * rng.random(1), 0, []
        for k in range(30000):
            d = needed * rho * np.sin(3.0 * k * h)
            sizes = np.array([s * s, s * s, [0.0]])
            term = robust_term(squares, [[0]], sizes, known._replace(scale=scale))
            before = s[0] ** 2 + (scale[0] - needed) ** 2 / growth  # 2 V
            most = -rate * s[0] ** 2 + B * scale[0] * needed - A * scale[0] ** 2
            s = s + h * (-rate * s - term.factor * s + d)
            scale = next_scale(scale, term.growth, np.array([leakage]), np.array([h]))
            change = s[0] ** 2 + (scale[0] - needed) ** 2 / growth - before
            # what a step of Euler adds: squares of rates of at most b + g
            assert change < 2.0 * h * most + (h * (rate + gain)) ** 2 * (before + 1.0)
            falls += change < 0.0
            ends.append(before + change)
        assert falls > 1000
        farthest = max(B / A - 1.0, 1.0) * needed  # of σ from σ*, where V̇ may be positive
        ball = (B * needed) ** 2 / (4.0 * A * rate) + farthest**2 / growth
        assert max(ends[20000:]) <= ball + 1e-3


@pytest.mark.slow
def test_a_size_that_is_learned_makes_up_for_one_that_is_declared_too_small(
    five_bar: Mechanism,
) -> None:
    declared, learns = (
        ServoController(five_bar, tasks_of(five_bar, **more), control_period=PERIOD)
        for more in ({}, {"leakage": 1.0})
    )
    assert declared.promise is not None
    assert learns.promise is not None
    without = moved(declared, 2.0)
    assert without > declared.promise.error[0]  # declared wrongly: the bound is broken
    assert moved(learns, 2.0) < 0.4 * without
    learned = float(learns.memory.fields["robust_scale"][0])
    assert 3.0 < learned < 12.0  # it was ten times as much
    assert np.isinf(learns.promise.error).all()
    assert "is learned" in learns.promise.failing[0]
    learns.reset()
    assert learns.memory.fields["robust_scale"][0] == learned  # a pause forgets nothing
    learns.robust = False
    assert moved(learns, 0.3) > 0.3 * without
    # without the term nothing grows; 0.3 s of leakage are left
    assert learns.memory.fields["robust_scale"][0] == pytest.approx(
        learned * np.exp(-0.3), abs=2e-3 * learned
    )
    assert learns.corrections is not None
    learns.corrections.forget()
    assert learns.memory.fields["robust_scale"][0] == 0.0


def test_leakage_is_a_positive_rate(five_bar: Mechanism) -> None:
    with pytest.raises(InputError, match=r"robust\.leakage"):
        tasks_of(five_bar, leakage=0.0)


@pytest.mark.slow
def test_sizes_are_learned_from_period_to_period(five_bar: Mechanism) -> None:
    tasks = tasks_of(five_bar, leakage=1.0)
    assert not [found for found in check(five_bar, tasks) if found.severity == "error"]
    continuous = ServoController(five_bar, tasks, backend="interpreted")
    start = five_bar.start(tasks=tasks)
    with pytest.raises(InputError, match="control_period"):
        simulate(five_bar, start, 0.1, controller=continuous)
    assert continuous.memory.fields["robust_scale"][0] == 1.0  # as declared
