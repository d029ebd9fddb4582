# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of the projection onto the constraints, at closed positions.

The projected velocity v' is the nearest to v in the metric of M with rows ψ̇(q, v', t) = 0; with μ
for its multipliers

    M (v' − v) − Aᵀμ = 0,   ψ̇(q, v', t) = 0,

and differentiating gives the same equations again. Newton's steps leave a position on the
constraints where it is; one that has moved by δq returns by the least step in the same metric, so
that the derivative of the projected position is the projector P = 1 − M⁻¹Aᵀ(A M⁻¹Aᵀ)⁻¹A of its
rows (Eich, Convergence results for a coordinate projection method applied to mechanical systems
with algebraic constraints, SIAM J. Numer. Anal. 30, 1993).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.equation import projection
from uk_dynamics.core.linalg import RowBasis
from uk_dynamics.derivatives.motion_derivatives import MotionDerivatives
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.dynamics import FOLLOWS_WITHIN, InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, State


class ProjectionDerivatives(NamedTuple):
    """Derivatives of the projected state (q', v'); columns of q are those of the velocities.

    Attributes:
        state: The projected state.
        q_by_q: P, (nv, nv).
        q_by_t: While references are held, (nv,), in m/s or rad/s.
        v_by_q: (nv, nv), in 1/s.
        v_by_v: (nv, nv).
        v_by_t: (nv,), in m/s² or rad/s².
        exist: Whether they do: false where redundant rows contradict each other along the
            constraints, as where the rank is about to change.
    """

    state: State
    q_by_q: Array
    q_by_t: Array
    v_by_q: Array
    v_by_v: Array
    v_by_t: Array
    exist: bool


def projection_derivatives(derivatives: MotionDerivatives, state: State) -> ProjectionDerivatives:
    """How the projected state changes with the state that is projected.

    Args:
        derivatives: Of the mechanism.
        state: With closed loops; its velocity may be any.

    Raises:
        InputError: The loops are open, or rows are not affine in the velocities.
        UndeterminedMotionError: Some motion has neither inertia nor constraint.
    """
    mechanism = derivatives.mechanism
    constraints, dynamics = mechanism.constraints, InterpretedDynamics(mechanism)
    if not constraints.linear_in_rates:
        raise InputError(
            "derivatives of the projection need rows that are affine in the velocities",
            place=mechanism.name,
        )
    rigid = mechanism.hierarchy.rigid
    places, moving = (
        np.flatnonzero(kind & rigid)
        for kind in (constraints.position_rows, constraints.motion_rows)
    )
    residual = np.abs(dynamics.residual(state).position[places]).max(initial=0.0)
    reached = max(projection.REACHED, mechanism.closure_tolerance)
    if residual > reached:
        raise InputError(
            f"derivatives of the projection are those at closed loops; found a loop-closure error"
            f" of {residual:.3g}, expected at most {reached:.3g}: project the state first",
            place=mechanism.name,
        )
    projected = dynamics.project(state)
    nv, tolerance = mechanism.model.nv, mechanism.spec.solver.rank_tolerance
    terms = dynamics.prepare(projected).terms
    nothing = np.zeros(len(constraints))
    still = derivatives.equation_slopes(projected, np.zeros(nv), nothing)
    resting = State(state.t, projected.q, np.zeros(nv))
    drift = dynamics.residual(resting).velocity  # of rows that prescribe motion

    kept = _Kept(terms.M, terms.A, places, tolerance)
    P = kept.answer(np.asarray(terms.M), np.zeros((len(kept.rows), nv)))
    q_by_t = kept.answer(np.zeros((nv, 1)), -drift[kept.rows, None])[:, 0]

    kept = _Kept(terms.M, terms.A, moving, tolerance)
    change = projected.v - state.v
    pushes = nothing.copy()
    if len(kept.rows):
        pushes[kept.rows] = np.linalg.lstsq(terms.A[kept.rows].T, terms.M @ change, rcond=None)[0]
    turned = derivatives.equation_slopes(projected, change, pushes).motion - still.motion
    by_q = kept.answer(turned[:, :nv], -still.rates[kept.rows, :nv])
    by_t = kept.answer(np.zeros((nv, 1)), -still.rates[kept.rows, 2 * nv :])[:, 0]
    by_v = kept.answer(np.asarray(terms.M), np.zeros((len(kept.rows), nv)))
    # what redundant rows leave, along positions that stay closed
    others = np.setdiff1d(moving, kept.rows)
    parts = (terms.A[others] @ by_q @ P, still.rates[others, :nv] @ P)
    size = 1.0 + np.abs(parts[0]) + np.abs(parts[1])
    exist = bool((np.abs(parts[0] + parts[1]) <= FOLLOWS_WITHIN * size).all())
    return ProjectionDerivatives(projected, P, q_by_t, by_q @ P, by_v, by_t + by_q @ q_by_t, exist)


class _Kept:
    """Independent ones of some rows, and what answers them in the metric of M."""

    def __init__(self, M: Array, A: Array, rows: NDArray[np.intp], tolerance: float) -> None:
        basis = RowBasis(np.asfortranarray(A[rows].T), None, tolerance)
        self.rows = rows[np.sort(basis.independent)]
        self._nv, count = len(M), len(self.rows)
        self._whole = np.zeros((self._nv + count,) * 2)
        self._whole[: self._nv, : self._nv] = M
        self._whole[: self._nv, self._nv :] = -A[self.rows].T
        self._whole[self._nv :, : self._nv] = A[self.rows]

    def answer(self, forces: Array, changes: Array) -> Array:
        """The x of M x − Aᵀμ = forces, A x = changes, (nv, k)."""
        right = np.vstack([forces, changes])
        return np.asarray(np.linalg.solve(self._whole, right)[: self._nv])
