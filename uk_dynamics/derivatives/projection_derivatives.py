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

from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation import ProjectedStates, projection_sparsity
from uk_dynamics.core.equation import projection
from uk_dynamics.core.linalg import RowBasis
from uk_dynamics.derivatives.differentiator import followed_by, many_states
from uk_dynamics.derivatives.motion_derivatives import MotionDerivatives
from uk_dynamics.exceptions import InputError, UndeterminedMotionError
from uk_dynamics.mechanism.dynamics import (
    FOLLOWS_WITHIN,
    DerivativeStatus,
    InterpretedDynamics,
    StructuralRows,
    require_finite,
)
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism, State

T = TypeVar("T", bound=np.generic)


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


class BatchProjectionDerivatives(NamedTuple):
    """The same at K states; views of one array.

    Attributes:
        q: Projected positions, (K, nq).
        v: Projected velocities, (K, nv).
        q_by_q: (K, nv, nv).
        q_by_t: (K, nv).
        v_by_q: (K, nv, nv).
        v_by_v: (K, nv, nv).
        v_by_t: (K, nv).
        status: A :class:`DerivativeStatus` for each state, (K,); numbers are NaN but where it is
            ``EXIST`` or ``RANK_CHANGES``.
    """

    q: Array
    v: Array
    q_by_q: Array
    q_by_t: Array
    v_by_q: Array
    v_by_v: Array
    v_by_t: Array
    status: NDArray[np.int8]


class ProjectionPatterns(NamedTuple):
    """Which derivatives of the projected state may differ from zero, at any state.

    Attributes:
        q_by_q: (nv, nv).
        q_by_t: (nv,).
        v_by_q: (nv, nv).
        v_by_v: (nv, nv).
        v_by_t: (nv,).
    """

    q_by_q: NDArray[np.bool_]
    q_by_t: NDArray[np.bool_]
    v_by_q: NDArray[np.bool_]
    v_by_v: NDArray[np.bool_]
    v_by_t: NDArray[np.bool_]


# of uk_projection_slopes; singular masses are left to Python
_STATUS = {
    0: DerivativeStatus.EXIST,
    1: DerivativeStatus.UNDETERMINED,
    2: DerivativeStatus.NOT_FINITE,
    3: DerivativeStatus.OPEN,
    4: DerivativeStatus.RANK_CHANGES,
}
_NUMBERS = (DerivativeStatus.EXIST, DerivativeStatus.RANK_CHANGES)


def projection_derivatives(derivatives: MotionDerivatives, state: State) -> ProjectionDerivatives:
    """How the projected state changes with the state that is projected; in C where it is compiled.

    Args:
        derivatives: Of the mechanism; what its ``backend`` says holds here too. Configurations with
            several numbers a joint are left to Python, and so are singular mass matrices.
        state: With closed loops; its velocity may be any.

    Raises:
        InputError: The loops are open, or rows are not affine in the velocities.
        UndeterminedMotionError: Some motion has neither inertia nor constraint.
    """
    require_finite(derivatives.mechanism.model, state)
    compiled = derivatives.compiled_projection
    if compiled is not None:
        q, v, times = (np.array([x], dtype=float) for x in (state.q, state.v, state.t))
        rows = StructuralRows(derivatives.mechanism)
        one = compiled.differentiate(q, v, times, followed_by(rows, times), None)
        status = _STATUS[int(one.status[0])]
        if status in _NUMBERS:
            projected = State(state.t, one.q[0], one.v[0])
            exist = status is DerivativeStatus.EXIST
            return ProjectionDerivatives(projected, *_split(one.slopes[0]), exist)
    return _in_python(derivatives, state)


def projection_derivatives_batch(
    derivatives: MotionDerivatives,
    q: Array,
    v: Array,
    t: Array | float = 0.0,
    *,
    threads: int | None = None,
) -> BatchProjectionDerivatives:
    """Of many states in one call.

    Args:
        derivatives: As of :func:`projection_derivatives`.
        q: Configurations, (K, nq).
        v: Velocities, (K, nv).
        t: In s, (K,) or one for all.
        threads: At most so many; None: as many as there are processors.

    Raises:
        InputError: The shapes do not fit.
        CompilationError: It cannot be compiled.
    """
    mechanism, compiled = derivatives.mechanism, derivatives.compiled_projection
    q, v, _, times = many_states(mechanism, q, v, None, t)
    if compiled is None:
        found = ProjectedStates.none(q, v)
    else:
        followed = followed_by(StructuralRows(mechanism), times)
        found = compiled.differentiate(q, v, times, followed, threads)
    status = np.array([_STATUS[int(x)] for x in found.status], np.int8)
    parts = _split(found.slopes)
    for k in np.flatnonzero(status == DerivativeStatus.UNDETERMINED):
        one, status[k] = _one(derivatives, State(float(times[k % len(times)]), q[k], v[k]))
        if one is not None:
            found.q[k], found.v[k] = one.state.q, one.state.v
            for whole, part in zip(parts, one[1:-1], strict=True):
                whole[k] = part
    absent = ~np.isin(status, _NUMBERS)
    for whole in (found.q, found.v, found.slopes):
        whole[absent] = np.nan
    return BatchProjectionDerivatives(found.q, found.v, *parts, status)


def projection_patterns(mechanism: ResolvedMechanism) -> ProjectionPatterns:
    """Where derivatives of the projection do not vanish by structure."""
    return ProjectionPatterns(*_split(projection_sparsity(mechanism)))


def _split(slopes: NDArray[T]) -> tuple[NDArray[T], NDArray[T], NDArray[T], NDArray[T], NDArray[T]]:
    """Rows of q', then of v', by q, v, t: q_by_q, q_by_t, v_by_q, v_by_v, v_by_t."""
    nv = slopes.shape[-2] // 2
    place, velocity = slopes[..., :nv, :], slopes[..., nv:, :]
    return (
        place[..., :nv],
        place[..., -1],
        velocity[..., :nv],
        velocity[..., nv:-1],
        velocity[..., -1],
    )


def _one(
    derivatives: MotionDerivatives, state: State
) -> tuple[ProjectionDerivatives | None, DerivativeStatus]:
    """A state of a batch that is left to Python; or why there are no numbers."""
    if not all(np.isfinite(x).all() for x in (state.t, state.q, state.v)):
        return None, DerivativeStatus.NOT_FINITE
    try:
        found = _in_python(derivatives, state)
    except UndeterminedMotionError:
        return None, DerivativeStatus.UNDETERMINED
    except InputError:
        return None, DerivativeStatus.OPEN
    return found, DerivativeStatus.EXIST if found.exist else DerivativeStatus.RANK_CHANGES


def _in_python(derivatives: MotionDerivatives, state: State) -> ProjectionDerivatives:
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
