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

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation import Library, States, rolls
from uk_dynamics.compilation.derivatives import projection_pattern
from uk_dynamics.core.equation import projection
from uk_dynamics.derivatives.differentiator import (
    DerivativeBackend,
    answer,
    differentiable,
    empty,
    independent_multipliers,
)
from uk_dynamics.derivatives.motion_derivatives import MotionDerivatives
from uk_dynamics.derivatives.state_by_state import NOTHING, Arrays, Given, StateByState
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.dynamics import (
    FOLLOWS_WITHIN,
    Derivative,
    Derivatives,
    DerivativeStatus,
    InterpretedDynamics,
    Quantities,
    Solver,
    column_groups,
)
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism, State


class ProjectionDerivatives(StateByState):
    """Differentiates the projection of one mechanism by q, v, t; threads may share it.

    Configurations with several numbers a joint are left to Python, and so are singular mass
    matrices.
    """

    _library, _refused = Library.PROJECTION, DerivativeStatus.OPEN
    _numbers = _final = (DerivativeStatus.EXIST, DerivativeStatus.RANK_CHANGES)

    def __init__(self, mechanism: ResolvedMechanism, backend: DerivativeBackend = "cached") -> None:
        """Take a mechanism; what it needs is traced or compiled when it is first asked for.

        Args:
            mechanism: What to differentiate.
            backend: As of :class:`~uk_dynamics.MotionDerivatives`.

        Raises:
            InputError: As for :class:`~uk_dynamics.MotionDerivatives`.
        """
        super().__init__(differentiable(mechanism), backend)
        nv = self._mechanism.model.nv
        self._groups = column_groups(q=nv, v=nv, t=None)

    def _subject(self) -> ResolvedMechanism | None:
        return self._mechanism if rolls(self._mechanism) and self._wanted(self._library) else None

    def _interpreted(self) -> "ProjectionDerivatives":
        return ProjectionDerivatives(self._mechanism, "interpreted")

    @cached_property
    def _motion(self) -> MotionDerivatives:
        backend: DerivativeBackend = "interpreted" if self._backend == "interpreted" else "cached"
        return MotionDerivatives(self._mechanism, backend)

    @cached_property
    def patterns(self) -> Quantities:
        """Derivatives that may differ from zero at any state, as booleans."""
        return self._named(projection_pattern(self._mechanism))

    def at(self, state: State) -> Derivatives:
        """Differentiate at a state; in C where it is compiled.

        Args:
            state: With closed loops; its velocity may be any.

        Raises:
            InputError: The loops are open, or rows are not affine in the velocities.
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            CompilationError: With backend ``compiled``: it cannot be compiled.
        """
        return self._at(state, NOTHING)

    def batch(
        self, q: Array, v: Array, t: Array | float = 0.0, *, threads: int | None = None
    ) -> Derivatives:
        """Differentiate at many states in one call.

        Args:
            q: Configurations, (K, nq).
            v: Velocities, (K, nv).
            t: In s, (K,) or one for all.
            threads: At most so many; None: as many as there are processors.

        Raises:
            InputError: The shapes do not fit.
            CompilationError: It cannot be compiled.
        """
        found = self._batch(self._states(q, v, None, t), NOTHING, threads)
        if found.status.any():
            absent = ~np.isin(found.status, self._numbers)
            found.position.value[absent] = found.velocity.value[absent] = np.nan
        return found

    def _room(self, states: States, given: Given) -> tuple[Derivatives, Arrays]:
        nv = states.v.shape[1]
        values = {"position": states.q.shape[1], "velocity": nv}
        found = empty(len(states.v), {"position": nv, "velocity": nv}, self._groups, values)
        whole = np.empty((len(states.v), 2 * nv, 2 * nv + 1))  # C has one array for both
        found.position.whole, found.velocity.whole = whole[:, :nv], whole[:, nv:]
        values_of = {"q_out": found.position.value, "v_out": found.velocity.value}
        return found, values_of | {"derivatives": whole}

    def _named(self, whole: NDArray[Any]) -> Quantities:
        nv = len(whole) // 2
        parts = {"position": whole[:nv], "velocity": whole[nv:]}
        return Quantities({name: Derivative(x, self._groups) for name, x in parts.items()})

    def _in_python(self, state: State, tau: Array | None, given: Given) -> Derivatives:
        mechanism = self._mechanism
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
                "derivatives of the projection are those at closed loops; found a loop-closure"
                f" error of {residual:.3g}, expected at most {reached:.3g}: project the state"
                " first",
                place=mechanism.name,
            )
        projected = dynamics.project(state)
        nv, solver = mechanism.model.nv, Solver(mechanism)
        terms = dynamics.prepare(projected).terms
        M, A = np.asarray(terms.M), terms.A
        nothing = np.zeros(len(constraints))
        still = self._motion.equations(projected, np.zeros(nv), nothing)
        resting = State(state.t, projected.q, np.zeros(nv))
        drift = dynamics.residual(resting).velocity  # of rows that prescribe motion
        whole = np.zeros((2 * nv, 2 * nv + 1))
        place, velocity = whole[:nv], whole[nv:]  # by q, v, t

        factors = solver.factorize_part(M, A[places], solver.rank_tolerance, places)
        place[:, :nv] = answer(factors, M, np.zeros((len(places), nv)))
        place[:, -1] = answer(factors, np.zeros((nv, 1)), -drift[places, None])[:, 0]

        factors = solver.factorize_part(M, A[moving], solver.rank_tolerance, moving)
        change, pushes = projected.v - state.v, nothing.copy()
        pushes[moving] = independent_multipliers(factors, M @ change)
        turned = self._motion.equations(projected, change, pushes).motion - still.motion
        forces, changes = np.zeros((nv, 2 * nv + 1)), np.zeros((len(moving), 2 * nv + 1))
        forces[:, :nv], forces[:, nv:-1] = turned[:, :nv], M
        changes[:, :nv], changes[:, -1] = -still.rates[moving, :nv], -still.rates[moving, -1]
        velocity[:] = answer(factors, forces, changes)
        # what redundant rows leave, along positions that stay closed
        others = moving[factors.dependent]
        parts = (A[others] @ velocity[:, :nv], still.rates[others, :nv])
        parts = (parts[0] @ place[:, :nv], parts[1] @ place[:, :nv])
        size = 1.0 + np.abs(parts[0]) + np.abs(parts[1])
        follow = bool((np.abs(parts[0] + parts[1]) <= FOLLOWS_WITHIN * size).all())
        by_place = velocity[:, :nv].copy()
        velocity[:, :nv] = 0.0
        velocity += by_place @ place
        found = self._named(whole).quantities
        found["position"].value, found["velocity"].value = projected.q, projected.v
        status = DerivativeStatus.EXIST if follow else DerivativeStatus.RANK_CHANGES
        return Derivatives(found, status)
