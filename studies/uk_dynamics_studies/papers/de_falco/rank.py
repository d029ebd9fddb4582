# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Why simulations of the five-bar fail: drift and the rank; Greville's recursion near flat."""

from __future__ import annotations

from typing import cast

import numpy as np

from uk_dynamics.core.equation.published import Pseudoinverse, pseudoinverse
from uk_dynamics.core.linalg import DenseMass, mass_factor
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics_studies.papers.de_falco.machine import (
    Solver,
    angular_accelerations,
    exact_acceleration,
    state_at,
)
from uk_dynamics_studies.papers.de_falco.published import NAMES
from uk_dynamics_studies.papers.output.study import Cell, Table

_ANGLE = np.radians(-60.0)
_TOLERANCES = (1e-10, 1e-8, 1e-6, 1e-4)
_DRIFTS = (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-5)


def whitened_rows(mechanism: Mechanism, state: State) -> Array:
    """Rows of D = A M^{-1/2} at unit length, (12, 12)."""
    terms = mechanism.terms(state)
    factor = cast(DenseMass, mass_factor(terms.M))  # every body has a mass
    rows: Array = factor.whiten(terms.A.T).T
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    return rows


def drift_table() -> Table:
    """Acceleration errors by rank tolerance when the state is off the constraints."""
    machines = [Solver("svd", tolerance).machine() for tolerance in _TOLERANCES]
    rng = np.random.default_rng(0)
    directions = rng.standard_normal((2, 12))
    rows: list[tuple[Cell, ...]] = []
    for drift in _DRIFTS:
        at = state_at(machines[0], _ANGLE, rate=1.0)
        state = State(0.0, at.q + drift * directions[0], at.v + drift * directions[1])
        sigma = np.linalg.svd(whitened_rows(machines[0], state), compute_uv=False)
        row: list[Cell] = [drift, float(sigma[-1] / sigma[0])]
        for machine in machines:
            solution = InterpretedDynamics(machine).evaluate(state)
            error = angular_accelerations(machine, solution.qdd)
            error[:3] -= exact_acceleration(_ANGLE)
            row.append(f"{solution.rank}; {np.abs(error).max():.1e}")
        rows.append(tuple(row))
    return Table(
        "Drift and rank",
        (
            "drift of q and v [m, rad, 1/s]",
            "σ₁₂/σ₁",
            *(f"rank; error [rad/s²] at {tolerance:g}" for tolerance in _TOLERANCES),
        ),
        rows,
        "SVD, legs at −60° turning with 1 rad/s, all coordinates and velocities disturbed at random"
        " by this size; the exact rank is 11.",
    )


def greville_table() -> Table:
    """Defects of the Moore–Penrose conditions near the flat configuration."""
    machine = Solver(asymmetric=True).machine()
    rows: list[tuple[Cell, ...]] = []
    for angle in (0.6, 1e-1, 1e-2, 1e-3):
        D = whitened_rows(machine, state_at(machine, angle))
        found = [pseudoinverse(D, name, rank_tolerance=1e-4) for name in NAMES]
        sigma = np.linalg.svd(found[0].truncated, compute_uv=False)
        rows.append((angle, float(sigma[0] / sigma[10]), *(_defect(one) for one in found)))
    return Table(
        "Greville near the flat configuration",
        ("θ [rad]", "condition of D", *NAMES.values()),
        rows,
        "Largest defect of the four Moore–Penrose conditions (1a) to (1d), relative to the matrix"
        " each should equal; rank tolerance 1e-4, asymmetric five-bar.",
    )


def _defect(found: Pseudoinverse) -> float:
    A, G = found.truncated, found.matrix
    products = ((A @ G, (A @ G).T), (G @ A, (G @ A).T), (A @ G @ A, A), (G @ A @ G, G))
    return max(float(np.abs(x - y).max() / max(1.0, np.abs(y).max())) for x, y in products)
