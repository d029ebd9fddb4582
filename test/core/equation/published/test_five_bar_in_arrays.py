# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The over-constrained five-bar of de Falco in maximal coordinates, in plain arrays.

Three legs and a coupler, each a free body (x, y, φ) of the plane; six pins, twelve rows. The legs
stay parallel, so that the exact motion is a pendulum J θ̈ = −G cos θ. The rank is 11, and 10 where
the mechanism is flat: every motion below falls through that configuration and back.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.five_bar_arrays import FiveBar
from support.forms import METHODS

from uk_dynamics.core.integration.adaptive import AdaptiveStepper, Tolerances
from uk_dynamics.core.solver_methods import factorize


@pytest.mark.slow
@pytest.mark.parametrize(
    ("asymmetric", "degrees", "method"),
    [
        (False, 10.0, "udwadia_kalaba"),
        (True, 20.0, "udwadia_kalaba"),
        (True, 70.0, "udwadia_kalaba"),
        (True, 45.0, "nullspace"),
    ],
)
def test_the_fall_through_the_flat_configuration_is_that_of_the_pendulum(
    asymmetric: bool, degrees: float, method: str
) -> None:
    machine, duration, start = FiveBar(asymmetric, method), 4.0, np.radians(degrees)
    run = AdaptiveStepper(
        machine,
        machine.acceleration,
        0.0,
        machine.at(start),
        np.zeros(12),
        duration,
        tolerances=Tolerances(5e-10, 5e-10),
        project=machine.project,
    )
    exact = machine.exact(start, duration)
    energies, flat = [machine.energy(run.q, run.v)], 0
    while not run.finished:
        before = np.sin(run.q[2])
        run.step()
        flat += before * np.sin(run.q[2]) < 0.0
        angle = exact(run.t)[0]
        # 20 s are allowed 1e-6; the error grows with time.
        assert np.abs(run.q[[2, 5, 8, 11]] - [angle, angle, angle, 0.0]).max() < 2e-7
        # Near flat, residuals grow with the square of the deviation: hence both tests.
        assert np.sum(machine.rows(run.q)[1] ** 2) < 1e-20
        energies.append(machine.energy(run.q, run.v))
    assert flat >= 4
    assert np.ptp(energies) < 1e-8 * machine.pendulum_moment * (1.0 + np.sin(start))
    assert run.evaluations < 10_000 * duration / 20.0


@pytest.mark.parametrize("angle", [0.5, 1e-2, 1e-3])
@pytest.mark.parametrize("method", METHODS)
def test_eleven_of_twelve_rows_are_independent_and_ten_where_flat(angle, method) -> None:
    machine = FiveBar(asymmetric=True)
    A, _, _ = machine.rows(machine.at(angle))
    assert factorize(machine.factor, A, method=method).rank == 11
    A, _, _ = machine.rows(machine.at(0.0))
    assert factorize(machine.factor, A, method=method).rank == 10


def test_drift_does_not_make_the_redundant_row_independent() -> None:
    """A redundant row keeps a tenth of the violation; the rank rule must not believe in it."""
    machine = FiveBar(asymmetric=True)
    rng = np.random.default_rng(0)
    q, v = machine.at(0.6), np.zeros(12)
    clean = machine.acceleration(0.0, q, v)
    for _ in range(20):
        disturbed = machine.acceleration(0.0, q + 1e-6 * rng.standard_normal(12), v)
        # With the row believed in, the acceleration is wrong by several rad/s².
        assert np.abs(disturbed - clean).max() < 1e-3
