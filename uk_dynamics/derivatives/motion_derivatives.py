# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of acceleration, multipliers and constraint force by the state, forces and time."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation import (
    CompiledProjection,
    EquationSlopes,
    motion_sparsity,
    projection_in_c,
)
from uk_dynamics.core.linalg import RowBasis
from uk_dynamics.derivatives.differentiator import (
    DerivativeBackend,
    Differentiator,
    One,
    differentiable,
)
from uk_dynamics.mechanism.dynamics import BatchDerivatives, Derivatives, DerivativeStatus, Slopes
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism, State


class Patterns(NamedTuple):
    """Where derivatives of a quantity with k entries may differ from zero, at any state.

    Attributes:
        q: (k, nv).
        v: (k, nv).
        tau: (k, nv).
        t: (k,).
    """

    q: NDArray[np.bool_]
    v: NDArray[np.bool_]
    tau: NDArray[np.bool_]
    t: NDArray[np.bool_]


class ForceDerivatives(NamedTuple):
    """Of the motion and of what holds it, at a state.

    Attributes:
        acceleration: Of q̈, k = nv.
        multipliers: Of the multipliers of least norm, k = m, the number of rows.
        force: Of the ideal constraint force Aᵀλ, k = nv.
    """

    acceleration: Slopes
    multipliers: Slopes
    force: Slopes


class MotionDerivatives:
    """The derivatives of one mechanism at many states; not to be shared between threads."""

    def __init__(self, mechanism: ResolvedMechanism, backend: DerivativeBackend = "cached") -> None:
        """Trace the equations, or load what was compiled.

        Args:
            mechanism: What to differentiate.
            backend: ``compiled`` takes seconds at the first start; ``cached`` uses what is compiled
                already; ``interpreted`` needs no compiler, and milliseconds for each state.

        Raises:
            InputError: There is no such backend; or the mechanism has forces that depend on the
                constraint forces, or is a large one with local loops.
            CompilationError: With backend ``compiled``: it cannot be compiled.
        """
        self._mechanism = mechanism = differentiable(mechanism)
        self._differentiator = Differentiator(mechanism, backend)
        self._backend = backend
        self._acting = int(mechanism.hierarchy.acting().sum())  # rows

    @property
    def mechanism(self) -> ResolvedMechanism:
        """What is differentiated."""
        return self._mechanism

    @cached_property
    def compiled_projection(self) -> CompiledProjection | None:
        """Derivatives of the projection in C; None where they are in Python.

        With backend ``compiled`` they are compiled when they are first asked for.

        Raises:
            CompilationError: They cannot be.
        """
        if self._backend == "interpreted":
            return None
        return projection_in_c(self._mechanism, make=self._backend == "compiled")

    @cached_property
    def patterns(self) -> Patterns:
        """Which derivatives of the acceleration do not vanish by structure."""
        return self._patterns[0]

    @cached_property
    def force_patterns(self) -> tuple[Patterns, Patterns]:
        """The same of the multipliers, (m, …), and of the constraint force, (nv, …)."""
        return self._patterns[1], self._patterns[2]

    @cached_property
    def _patterns(self) -> list[Patterns]:
        nv = self._mechanism.model.nv
        return [
            Patterns(x[:, :nv], x[:, nv : 2 * nv], x[:, 2 * nv + 1 :], x[:, 2 * nv])
            for x in motion_sparsity(self._mechanism)
        ]

    def acceleration(self, q: Array, v: Array, tau: Array | None = None, t: float = 0.0) -> Slopes:
        """Of the acceleration alone; the quickest call of a compiled mechanism.

        Args:
            q: Configuration, (nq,).
            v: Velocity, (nv,).
            tau: Generalized forces, (nv,), in N or N·m; None is zero.
            t: In s.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            StateError: The state or the forces have the wrong size, or are not finite.
        """
        return self._split(*self._at(State(t, q, v), Inputs(tau), forces=False))[0]

    def forces(
        self, q: Array, v: Array, tau: Array | None = None, t: float = 0.0
    ) -> ForceDerivatives:
        """Of acceleration, multipliers and constraint force; in C where it is compiled.

        :meth:`at` says whether they exist there, and along which motions. Arguments and errors as
        of :meth:`acceleration`.
        """
        found = self._at(State(t, q, v), Inputs(tau), forces=True)
        return ForceDerivatives(*self._split(*found))

    def call(self) -> None:
        """What :meth:`acceleration` does in C, again and without its results; for measuring."""
        if self._differentiator.compiled is not None:
            self._differentiator.compiled.call()

    def batch(
        self,
        q: Array,
        v: Array,
        tau: Array | None = None,
        t: Array | float = 0.0,
        *,
        forces: bool = False,
        threads: int | None = None,
    ) -> BatchDerivatives:
        """Of the acceleration at many states in one call, of multipliers and force if asked for.

        Regular states stand side by side in the lanes of the processor's vectors; the others are
        differentiated one by one, as :meth:`forces` and :meth:`at` do. Without a compiled
        mechanism all of them are.

        Args:
            q: Configurations, (K, nq).
            v: Velocities, (K, nv).
            tau: Generalized forces, (K, nv), in N or N·m; None is zero.
            t: In s, (K,) or one for all.
            forces: Whether to differentiate multipliers and constraint force as well.
            threads: At most so many; None: as many as there are processors.

        Raises:
            InputError: The shapes do not fit.
            CompilationError: It cannot be compiled for many states.
        """

        def alone(state: State, inputs: Inputs) -> One:
            return self._alone(state, inputs, forces=forces)

        found = self._differentiator.many(q, v, tau, t, forces=forces, threads=threads, alone=alone)
        acceleration, *others = self._split(*found.slopes)
        return BatchDerivatives(found.qdd, acceleration, found.status, *others)

    def _at(self, state: State, inputs: Inputs, *, forces: bool) -> tuple[Array, ...]:
        found = self._differentiator.in_c(state, inputs, forces=forces)
        return self._differentiator.solve(state, inputs).slopes if found is None else found

    def _alone(self, state: State, inputs: Inputs, *, forces: bool) -> One:
        """One state of a batch."""
        compiled = self._differentiator.compiled
        found = self._differentiator.in_c(state, inputs, forces=forces)
        if compiled is not None and found is not None and compiled.rank == self._acting:
            return One(compiled.qdd, found, DerivativeStatus.EXIST)
        by = self.at(state, inputs)
        slopes = (by.acceleration, by.multipliers, by.force)
        return One(
            by.solution.qdd,
            tuple(np.hstack([x.q, x.v, x.t[:, None], x.tau]) for x in slopes),
            DerivativeStatus.EXIST if by.exist else DerivativeStatus.RANK_CHANGES,
        )

    def at(self, state: State, inputs: Inputs | None = None) -> Derivatives:
        """All of them at a state, with where they exist; in Python but for the equations.

        Args:
            state: Where the mechanism is.
            inputs: What acts on it; None for nothing.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            StateError: The state or the forces have the wrong size, or are not finite.
        """
        found = self._differentiator.solve(state, inputs or Inputs())
        nv = self._mechanism.model.nv
        motions = self._motions(found.A, found.rates[:, :nv])
        along = np.vstack([motions, np.zeros((nv + 1, motions.shape[1]))])
        acceleration, multipliers, force = self._split(*found.slopes)
        offending = np.flatnonzero(found.offending(along).any(axis=1))
        return Derivatives(found.solution, acceleration, multipliers, force, motions, offending)

    def equation_slopes(
        self, state: State, qdd: Array, multipliers: Array, inputs: Inputs | None = None
    ) -> EquationSlopes:
        """How M q̈ − F − Aᵀλ and A q̈ − b change with the state, for any acceleration and λ.

        Args:
            state: Where the mechanism is.
            qdd: Acceleration, (nv,).
            multipliers: One per row, (m,).
            inputs: What acts on it; its forces do not matter here.
        """
        return self._differentiator.equation_slopes(state, qdd, multipliers, inputs or Inputs())

    def _motions(self, A: Array, rates: Array) -> Array:
        """Basis of the changes of the state that the constraints allow."""
        constraints, tolerance = (
            self._mechanism.constraints,
            self._mechanism.spec.solver.rank_tolerance,
        )
        places, moving = constraints.position_rows, constraints.motion_rows
        nv = A.shape[1]
        allowed = RowBasis(np.asfortranarray(A[places].T), None, tolerance).complement()
        rows = RowBasis(np.asfortranarray(A[moving].T), None, tolerance)
        free = rows.complement()
        turned = [rows.basis_product(rows.coordinates(-rates[moving] @ z)) for z in allowed.T]
        velocity = np.column_stack(turned) if turned else np.zeros((nv, 0))
        return np.block([[allowed, np.zeros((nv, free.shape[1]))], [velocity, free]])

    def _split(self, *slopes: Array) -> list[Slopes]:
        nv = self._mechanism.model.nv
        return [
            Slopes(x[..., :nv], x[..., nv : 2 * nv], x[..., 2 * nv + 1 :], x[..., 2 * nv])
            for x in slopes
        ]
