# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Gauss collocation: its order, its symmetry, and the energy of long free motion."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from support.recorded import PARALLELOGRAM

from uk_dynamics import GravityCompensation, Mechanism, State, simulate, simulate_many
from uk_dynamics.cli.main import main
from uk_dynamics.compilation import Selection, select_backend
from uk_dynamics.core.integration import Tolerances, rk4_step
from uk_dynamics.core.integration.fixed_step import gauss_step
from uk_dynamics.exceptions import SimulationError
from uk_dynamics.ros.simulation.simulated_machine import SimulatedMachine
from uk_dynamics.simulation.plant import Plant
from uk_dynamics.simulation.time_integration import Advance

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


@pytest.mark.slow
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


@pytest.mark.parametrize("angle", [-0.8, 0.02])  # the other one passes a flat parallelogram
def test_c_takes_the_same_steps(angle: float) -> None:
    mechanism = Mechanism.from_file("five_bar")
    start = State(0.0, angle * PARALLELOGRAM, -1.0 * PARALLELOGRAM)
    ends = []
    for backend in ("compiled", "interpreted"):
        plant = Plant(mechanism, None, None, continuous=False, backend=backend)
        assert (plant.motion is None) == (backend == "interpreted")
        advance = Advance(mechanism.model, plant, "gauss", 0.02, Tolerances(1e-9))
        (end,) = advance.run(start, np.array([0.1]))
        ends.append(np.append(end.q, end.v))
    # both converge to rounding, which the singular configuration magnifies
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-12 if angle < 0.0 else 1e-7, rtol=0)


@pytest.mark.parametrize("backend", ["compiled", "interpreted"])
def test_a_simulated_machine_and_batches_of_motions_take_it(backend: str) -> None:
    mechanism = Mechanism.from_file("five_bar")
    start = State(0.0, -0.8 * PARALLELOGRAM, 0.0 * PARALLELOGRAM)
    dynamics = select_backend(mechanism, Selection(backend, unready="wait"))
    machine = SimulatedMachine(mechanism, 0.02, "gauss", dynamics, start=start)
    for _ in range(5):
        machine.step()
    run = simulate(mechanism, start, 0.1, method="gauss", step=0.02, backend=backend)
    np.testing.assert_allclose(machine.state.q, run.q[-1], atol=1e-12, rtol=0)
    given = {"control_period": 0.02, "method": "gauss", "step": 0.02, "backend": backend}
    helpers = [GravityCompensation(mechanism, backend=backend) for _ in range(3)]
    alone = simulate(mechanism, start, 0.1, controller=helpers.pop(), **given)
    for one in simulate_many(mechanism, [start, start], 0.1, controllers=helpers, **given):
        np.testing.assert_allclose(one.q[-1], alone.q[-1], atol=1e-12, rtol=0)


def test_the_command_offers_it(capsys: pytest.CaptureFixture[str]) -> None:
    command = ["simulate", "five_bar", "--method", "gauss", "--step", "0.02", "--duration", "0.06"]
    assert main([*command, "--backend", "interpreted"]) == 0
