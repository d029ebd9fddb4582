# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""q̈ of every shipped mechanism against the KKT least squares and Pinocchio's constraint solver.

Each at 200 random states on the constraints, 1,000 with slow tests; some of them have redundant
rows. Pinocchio knows loops of a few types only.
"""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import closed_states, shipped

from uk_dynamics.core.equation.solution import Status
from uk_dynamics.mechanism.resolution.state import Inputs
from uk_dynamics.resources import shipped_files
from uk_dynamics_studies.benchmarks.peers.pinocchio import PinocchioPeer

CLOSED = 1e-12  # m or rad
RELATIVE = 1e-9  # of |q̈|, or of 1 m/s² (rad/s²) where it is smaller
# Pinocchio factors A M⁻¹ Aᵀ: next to a singular configuration, with s the smallest singular value
# of A over the largest, its rounding counts 1/s² times.
SQUARED = 1e-15
# The KKT matrix of a row with singular value s has a singular value of s²: rows are kept down to
# s = 1e-6, while redundant ones leave rounding, 1e-15 of the largest.
KKT_RANK = 1e-12
REFINEMENTS = 4
# Every state of theirs has redundant rows, or rows that are switched off.
REDUNDANT = ("five_bar", "differential_drive", "landing_leg", "bricard")


def _kkt(M: np.ndarray, F: np.ndarray, A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Minimum-norm solutions of stacked KKT systems, (K, nv): de Falco (23).

    Rows and columns are scaled so that units do not decide the rank; what rounding leaves is
    removed by refinement in extended precision.
    """
    count, m, nv = A.shape
    K = np.zeros((count, nv + m, nv + m))
    K[:, :nv, :nv] = M
    K[:, :nv, nv:] = -A.transpose(0, 2, 1)
    K[:, nv:, :nv] = A
    scale = 1.0 / np.sqrt(np.maximum(np.abs(K).max(axis=2), 1e-300))
    scaled = K * scale[:, :, None] * scale[:, None, :]
    inverse = np.linalg.pinv(scaled, rcond=KKT_RANK)
    exact = scaled.astype(np.longdouble)
    target = (np.concatenate((F, b), axis=1) * scale).astype(np.longdouble)
    x = np.zeros_like(target)
    for _ in range(REFINEMENTS):
        left = (target - (exact @ x[:, :, None])[:, :, 0]).astype(float)
        x += (inverse @ left[:, :, None])[:, :, 0]
    return np.asarray(x * scale, dtype=float)[:, :nv]


@pytest.mark.parametrize("states", [200, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", sorted(shipped_files("mechanism")))
def test_acceleration(name, states):
    mechanism = shipped(name)
    oracle = PinocchioPeer(mechanism) if PinocchioPeer.expresses(mechanism) else None
    dynamics = mechanism.dynamics()
    rng = np.random.default_rng(1)
    samples = []
    for state in closed_states(mechanism, rng, states):
        # On the constraints stabilisation changes nothing, and Pinocchio's solver has none.
        inputs = Inputs(tau=rng.standard_normal(mechanism.model.nv), stabilize=False)
        terms, rows, *_ = dynamics.prepare(state, inputs)
        terms = [part.copy() for part in terms]
        solution = dynamics.evaluate(state, inputs)
        if solution.status is Status.NEAR_SINGULAR or _largest(rows.residual) > CLOSED:
            continue  # at a rank change: the answers differ by where they cut
        assert solution.status is Status.OK
        pinocchio = oracle.acceleration(state, inputs.tau) if oracle else solution.qdd
        samples.append((solution.qdd, solution.rank, pinocchio, *terms))
    assert len(samples) >= 0.99 * states
    qdd, rank, pinocchio, *terms = (np.array(part) for part in zip(*samples, strict=True))
    redundant = rank < terms[2].shape[1]
    assert np.all(redundant) if name.startswith(REDUNDANT) else not np.any(redundant)
    size = np.maximum(1.0, np.linalg.norm(qdd, axis=1))
    from_kkt = np.linalg.norm(qdd - _kkt(*terms), axis=1) / size
    from_pinocchio = np.linalg.norm(qdd - pinocchio, axis=1) / size
    assert np.max(from_kkt) < RELATIVE
    if oracle:
        values = np.linalg.svd(terms[2], compute_uv=False)
        condition = values[:, 0] / values[np.arange(len(values)), rank - 1]
        assert np.max(from_pinocchio / (RELATIVE + SQUARED * condition**2)) < 1.0


def _largest(values: np.ndarray) -> float:
    return float(np.max(np.abs(values), initial=0.0))
