"""The over-constrained five-bar of de Falco in maximal coordinates, in plain arrays.

Three legs and a coupler, each a free body (x, y, φ) of the plane; six pins, twelve rows. The legs
stay parallel, so that the exact motion is a pendulum J θ̈ = −G cos θ. The rank is 11, and 10 where
the mechanism is flat: every motion below falls through that configuration and back.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from support.forms import METHODS

from uk_dynamics.core.equation.projection import project_position, project_velocity
from uk_dynamics.core.factorization import factorize
from uk_dynamics.core.integration.adaptive import AdaptiveStepper, Tolerances
from uk_dynamics.core.linalg.mass_factor import mass_factor

GRAVITY = 9.81


class FiveBar:
    """Legs of 1 m on pivots 1 m apart; asymmetric: a heavier leg, a coupler off its middle."""

    nv = 12

    def __init__(self, asymmetric: bool, method: str = "udwadia_kalaba") -> None:
        self.method = method
        third, inertia, offset = (2.5, 0.3, 0.4) if asymmetric else (1.0, 0.1, 0.0)
        self.masses = np.array([1.0, 1.0, third, 2.0])
        inertias = np.array([0.1, 0.1, inertia, 0.2])
        self.offset = offset
        self.factor = mass_factor(
            np.diag(np.column_stack((self.masses, self.masses, inertias)).ravel())
        )
        self.M = self.factor.dense()
        self.F = np.zeros(12)
        self.F[1::3] = -self.masses * GRAVITY
        self.pendulum_inertia = (0.25 * self.masses[:3] + inertias[:3]).sum() + self.masses[3]
        self.pendulum_moment = GRAVITY * (0.5 * self.masses[:3].sum() + self.masses[3])
        self.coupler_pins = np.arange(3) - 1.0 - offset  # along the coupler, from its centre

    def rows(self, q, v=None):
        """A, ψ and b = −Ȧ v; even rows along x, odd ones along y."""
        A, psi, b = np.zeros((12, 12)), np.zeros(12), np.zeros(12)
        rates = np.zeros(4) if v is None else v[2::3]
        for leg in range(3):
            for end, row in ((-0.5, 2 * leg), (0.5, 6 + 2 * leg)):
                self._arm(A, psi, b, row, leg, end, 1.0, q, rates)
            psi[2 * leg] -= leg
            self._arm(A, psi, b, 6 + 2 * leg, 3, self.coupler_pins[leg], -1.0, q, rates)
        return A, psi, b

    @staticmethod
    def _arm(A, psi, b, row, body, length, sign, q, rates):
        both = slice(row, row + 2)
        arm = length * np.array([np.cos(q[3 * body + 2]), np.sin(q[3 * body + 2])])
        A[[row, row + 1], [3 * body, 3 * body + 1]] = sign
        A[both, 3 * body + 2] = sign * np.array([-arm[1], arm[0]])
        psi[both] += sign * (q[3 * body : 3 * body + 2] + arm)
        b[both] += sign * arm * rates[body] ** 2

    def at(self, angle: float) -> np.ndarray:
        c, s = np.cos(angle), np.sin(angle)
        legs = [value for k in range(3) for value in (k + 0.5 * c, 0.5 * s, angle)]
        return np.array([*legs, 1.0 + self.offset + c, s, 0.0])

    def integrate(self, q, w):
        return q + w

    def tangent_rate(self, q, xi, v):
        return v

    def acceleration(self, t, q, v):
        A, _, b = self.rows(q, v)
        return factorize(self.factor, A, method=self.method).solve(self.F, b).qdd

    def project(self, t, q, v):
        def linearize(x):
            A, psi, _ = self.rows(x)
            return factorize(self.factor, A, method=self.method), psi

        q, there = project_position(q, linearize, self.integrate)
        return q, project_velocity(v, there, there.A @ v)

    def exact(self, angle: float, duration: float):
        return solve_ivp(
            lambda _, y: (y[1], -self.pendulum_moment / self.pendulum_inertia * np.cos(y[0])),
            (0.0, duration),
            (angle, 0.0),
            method="DOP853",
            rtol=1e-13,
            atol=1e-14,
            dense_output=True,
        ).sol

    def energy(self, q, v) -> float:
        return float(0.5 * v @ self.M @ v + GRAVITY * self.masses @ q[1::3])


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
