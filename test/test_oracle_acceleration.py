"""q̈ of every shipped mechanism against Pinocchio's constraint solver and the KKT least squares."""

from __future__ import annotations

import numpy as np
import pytest
from pinocchio_oracle import PinocchioOracle

from uk_dynamics.core.solution import Status
from uk_dynamics.exceptions import SimulationError
from uk_dynamics.mechanism.file_location import shipped_files
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import Inputs, State

STATES = 1000
# Relative to |q̈|: rounding is multiplied by the condition numbers of M and of the independent rows.
RELATIVE = 1e-9


def _assembled_states(mechanism: Mechanism, count: int, seed: int = 0):
    """Random states on the constraints, all over the workspace that projection can reach."""
    rng = np.random.default_rng(seed)
    dynamics = mechanism.dynamics()
    model = mechanism.model
    start = mechanism.assemble()
    produced = attempts = 0
    while produced < count:
        attempts += 1
        assert attempts < 3 * count, "projection keeps failing"
        q = model.integrate(start, rng.uniform(-0.4, 0.4, model.nv))
        try:
            state = dynamics.project(State(0.0, q, rng.standard_normal(model.nv)))
        except SimulationError:
            continue
        if np.max(np.abs(dynamics.residual(state).position), initial=0.0) > 1e-10:
            continue
        produced += 1
        yield state


def _kkt(M, F, A, b):
    """Least-squares solution of the KKT system (de Falco (23)), refined in extended precision."""
    nv, m = len(M), len(A)
    K = np.block([[M, -A.T], [A, np.zeros((m, m))]])
    rhs = np.concatenate((F, b))
    # Scaled so that the rank decision does not depend on units.
    scale = 1.0 / np.sqrt(np.maximum(np.abs(K).max(axis=1), 1e-300))
    scaled = K * np.outer(scale, scale)
    inverse = np.linalg.pinv(scaled, rcond=1e-9, hermitian=False)
    x = np.zeros(nv + m, dtype=np.longdouble)
    exact = scaled.astype(np.longdouble)
    target = (rhs * scale).astype(np.longdouble)
    for _ in range(4):
        x += inverse @ np.asarray(target - exact @ x, dtype=float)
    return np.asarray(x * scale, dtype=float)[:nv]


@pytest.mark.parametrize("name", sorted(shipped_files("mechanism")))
def test_acceleration(name):
    if name == "dual_panda":
        pytest.importorskip("example_robot_data", reason="the Panda's URDF is an optional extra")
    mechanism = Mechanism.from_file(name)
    oracle = PinocchioOracle(mechanism)
    dynamics = mechanism.dynamics()
    rng = np.random.default_rng(1)
    worst_pinocchio = worst_kkt = 0.0
    for state in _assembled_states(mechanism, STATES):
        tau = rng.standard_normal(mechanism.model.nv)
        terms = mechanism.terms(state, Inputs(tau=tau))
        solution = dynamics.evaluate(state, Inputs(tau=tau))
        if solution.status is Status.NEAR_SINGULAR:
            continue  # a rank change: the two answers differ by how they cut
        assert solution.status is Status.OK
        assert np.max(np.abs(terms.A @ solution.qdd - terms.b), initial=0.0) < 1e-7
        allowance = max(1.0, solution.condition * 1e-3) * max(1.0, np.linalg.norm(solution.qdd))
        difference = np.linalg.norm(_kkt(terms.M, terms.F, terms.A, terms.b) - solution.qdd)
        worst_kkt = max(worst_kkt, difference / allowance)
        difference = np.linalg.norm(oracle.acceleration(state, tau) - solution.qdd)
        worst_pinocchio = max(worst_pinocchio, difference / allowance)
    assert worst_kkt < RELATIVE
    assert worst_pinocchio < RELATIVE
