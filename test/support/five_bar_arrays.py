# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The over-constrained five-bar of de Falco in maximal coordinates, in plain arrays."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

from uk_dynamics.core.equation.projection import project_position, project_velocity
from uk_dynamics.core.linalg.mass_factor import mass_factor
from uk_dynamics.core.solver_methods import factorize

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
