# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Gauss collocation: its order, its symmetry, and the energy of long free motion."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from support.recorded import PARALLELOGRAM

from uk_dynamics import Mechanism, State, simulate
from uk_dynamics.cli.main import main
from uk_dynamics.core.integration import gauss_step, rk4_step
from uk_dynamics.exceptions import SimulationError

Array = NDArray[np.float64]


class Line:
    """Positions that are numbers."""

    nv = 1

    def integrate(self, q: Array, w: Array) -> Array:
        return q + w

    def tangent_rate(self, q: Array, xi: Array, v: Array) -> Array:
        return v


def pendulum(t: float, q: Array, v: Array) -> Array:
    return -9.0 * np.sin(q)


def after(step, count: int, h: float) -> Array:
    q, v = np.array([1.2]), np.zeros(1)
    for k in range(count):
        q, v = step(Line(), pendulum, k * h, q, v, h)
    return np.append(q, v)


def test_its_order_is_eight() -> None:
    exact = after(gauss_step, 256, 2.0 / 256)
    errors = [np.abs(after(gauss_step, n, 2.0 / n) - exact).max() for n in (4, 8)]
    assert 6.0 < np.log2(errors[0] / errors[1]) < 10.0
    assert errors[1] < 1e-3 * np.abs(after(rk4_step, 8, 0.25) - exact).max()


def test_a_step_back_leads_to_where_it_began() -> None:
    q, v = gauss_step(Line(), pendulum, 0.0, np.array([1.2]), np.array([0.3]), 0.2)
    back = gauss_step(Line(), pendulum, 0.2, q, v, -0.2)
    np.testing.assert_allclose(np.ravel(back), [1.2, 0.3], atol=1e-14, rtol=0)  # rounding


def test_the_energy_of_free_motion_stays_where_that_of_rk4_drifts() -> None:
    mechanism = Mechanism.from_file("five_bar")
    start = State(0.0, -0.8 * PARALLELOGRAM, 0.0 * PARALLELOGRAM)
    drift = {}
    for method in ("gauss", "rk4"):
        run = simulate(mechanism, start, 12.0, method=method, step=0.05, sample_period=0.5)
        drift[method] = abs(run.energy[-1] - run.energy[0]) / np.ptp(run.kinetic)
    assert drift["gauss"] < 1e-11  # rounding of 240 steps, whose truncation is 1e-13
    assert drift["rk4"] > 1e-6


def test_it_passes_a_singular_configuration_in_shorter_steps() -> None:
    mechanism = Mechanism.from_file("five_bar")
    start = State(0.0, 0.2 * PARALLELOGRAM, -1.0 * PARALLELOGRAM)
    run = simulate(mechanism, start, 0.4, method="gauss", step=0.02, sample_period=0.1)
    assert run.position("crank")[-1] < -0.1
    assert abs(run.energy[-1] - run.energy[0]) < 1e-6 * np.ptp(run.kinetic)


def test_what_cannot_be_solved_is_told() -> None:
    def wild(t: float, q: Array, v: Array) -> Array:
        return np.full(1, np.nan)

    with pytest.raises(SimulationError, match="cannot be solved"):
        gauss_step(Line(), wild, 0.0, np.zeros(1), np.zeros(1), 0.1)


def test_the_command_offers_it(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["simulate", "five_bar", "--method", "gauss", "--step", "0.02", "--duration", "0.06"]
    assert main([*command, "--backend", "interpreted"]) == 0
