# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of acceleration, multipliers and constraint force, exact, redundant rows included.

Differentiating M q̈ = F + τ + Aᵀλ and A q̈ = b at a solution gives the same equations again,

    M dq̈ − Aᵀdλ = r,    A dq̈ = s,

where r and s are what the equations change by while q̈ and λ are held. So one factorisation solves
for the motion and for all its derivatives, whatever the rank.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation import (
    CompiledDerivativeBatch,
    CompiledDerivatives,
    EquationSlopes,
    SlopeSource,
    TracedSlopes,
    derivatives_are_cached,
    motion_sparsity,
)
from uk_dynamics.core.equation import Factorization, Solution
from uk_dynamics.core.linalg import RowBasis
from uk_dynamics.exceptions import InputError, UndeterminedMotionError
from uk_dynamics.mechanism.dynamics import (
    FOLLOWS_WITHIN,
    BatchDerivatives,
    Derivatives,
    DerivativeStatus,
    InterpretedDynamics,
    Slopes,
    StructuralRows,
)
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism, State

DerivativeBackend = Literal["cached", "compiled", "interpreted"]


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


class ParameterDerivatives(NamedTuple):
    """How the motion changes with parameters while the state and the efforts are held.

    Attributes:
        names: Of the parameters, P of them, in the order of the columns.
        acceleration: Of q̈, (nv, P).
        multipliers: Of the multipliers of least norm, (m, P).
        force: Of the ideal constraint force Aᵀλ, (nv, P).
    """

    names: tuple[str, ...]
    acceleration: Array
    multipliers: Array
    force: Array


class MotionDerivatives:
    """The derivatives of one mechanism at many states; not to be shared between threads."""

    def __init__(self, mechanism: ResolvedMechanism, backend: DerivativeBackend = "cached") -> None:
        """Trace the equations, or load what was compiled.

        Args:
            mechanism: What to differentiate.
            backend: ``compiled`` takes seconds at the first start; ``cached`` uses what is compiled
                already; ``interpreted`` needs no compiler, and milliseconds for each state.

        Raises:
            InputError: It has forces that depend on the constraint forces, or is a large one with
                local loops.
            CompilationError: With backend ``compiled``: it cannot be compiled.
        """
        mechanism = differentiable(mechanism)
        self._mechanism = mechanism
        self._dynamics = InterpretedDynamics(mechanism)
        self._rows = StructuralRows(mechanism)
        self._constraints = mechanism.constraints
        self._tolerance = mechanism.spec.solver.rank_tolerance
        self._compiled: CompiledDerivatives | None = None
        if backend == "compiled" or (backend == "cached" and derivatives_are_cached(mechanism)):
            self._compiled = CompiledDerivatives(mechanism)
        self._source: SlopeSource = self._compiled or TracedSlopes(mechanism)
        self._many: CompiledDerivativeBatch | None = None
        self._active = self._rows.hierarchy.mask(None)
        self._of_parameters: dict[tuple[str, ...], SlopeSource] = {}

    @property
    def mechanism(self) -> ResolvedMechanism:
        """What is differentiated."""
        return self._mechanism

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
            InputError: The state gives numbers that are not finite.
        """
        state, inputs = State(t, q, v), Inputs(tau)
        if self._compiled is not None:
            reference = self._rows.reference(t, inputs)
            found = self._compiled.acceleration(state, tau, reference, self._active, stabilize=True)
            if found is not None:
                return _split(found, len(v))
        return self.at(state, inputs).acceleration

    def forces(
        self, q: Array, v: Array, tau: Array | None = None, t: float = 0.0
    ) -> ForceDerivatives:
        """Of acceleration, multipliers and constraint force; in C where it is compiled.

        :meth:`at` says whether they exist there, and along which motions.

        Args:
            q: Configuration, (nq,).
            v: Velocity, (nv,).
            tau: Generalized forces, (nv,), in N or N·m; None is zero.
            t: In s.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            InputError: The state gives numbers that are not finite.
        """
        state, inputs = State(t, q, v), Inputs(tau)
        if self._compiled is not None:
            reference = self._rows.reference(t, inputs)
            found = self._compiled.acceleration(state, tau, reference, self._active, stabilize=True)
            if found is not None:
                whole = (found, *self._compiled.forces())
                return ForceDerivatives(*(_split(x, len(v)) for x in whole))
        all_of_them = self.at(state, inputs)
        return ForceDerivatives(
            all_of_them.acceleration, all_of_them.multipliers, all_of_them.force
        )

    def call(self) -> None:
        """What :meth:`acceleration` does in C, again and without its results; for measuring."""
        if self._compiled is not None:
            self._compiled.call()

    def batch(
        self,
        q: Array,
        v: Array,
        tau: Array | None = None,
        t: Array | float = 0.0,
        *,
        threads: int | None = None,
    ) -> BatchDerivatives:
        """Of the acceleration at many states in one call.

        Regular states stand side by side in the lanes of the processor's vectors; the others are
        differentiated one by one, as :meth:`acceleration` and :meth:`at` do. Without a compiled
        mechanism all of them are.

        Args:
            q: Configurations, (K, nq).
            v: Velocities, (K, nv).
            tau: Generalized forces, (K, nv), in N or N·m; None is zero.
            t: In s, (K,) or one for all.
            threads: At most so many; None: as many as there are processors.

        Raises:
            InputError: The shapes do not fit.
            CompilationError: It cannot be compiled for many states.
        """
        count, nv = len(v), self._mechanism.model.nv
        times = np.full(1, t, dtype=float) if np.ndim(t) == 0 else np.asarray(t, dtype=float)
        given = (q, v, np.zeros((count, nv)) if tau is None else tau, times)
        q, v, tau, times = (np.ascontiguousarray(x, dtype=float) for x in given)
        expected = ((count, self._mechanism.model.nq), (count, nv), (count, nv))
        if (q.shape, v.shape, tau.shape) != expected or times.shape not in ((1,), (count,)):
            raise InputError(
                f"states of a batch need q, v, tau of {expected} and t of ({count},) or a number;"
                f" found {q.shape}, {v.shape}, {tau.shape} and {times.shape}",
                place=self._mechanism.name,
            )
        if self._compiled is None:
            qdd, slopes = np.full((count, nv), np.nan), np.full((count, nv, 3 * nv + 1), np.nan)
            status, alone = np.zeros(count, np.int8), np.arange(count)
        else:
            if self._many is None:
                self._many = CompiledDerivativeBatch(self._mechanism)
            rows = (self._rows.reference(float(x), Inputs()) for x in times)
            followed = [np.concatenate(row) for row in rows if row is not None]
            many = self._many.differentiate(
                q, v, tau, times, np.array(followed) if followed else None, threads
            )
            qdd, slopes, status, alone = many.qdd, many.slopes, many.status, many.alone
        for k in alone:
            state = State(float(times[k % len(times)]), q[k], v[k])
            qdd[k], slopes[k], status[k] = self._alone(state, tau[k])
        return BatchDerivatives(qdd, _split(slopes, nv), status)

    def _alone(self, state: State, tau: Array) -> tuple[Array, Array, DerivativeStatus]:
        """Acceleration, derivatives by q, v, t, tau and status of one state of a batch."""
        nv = len(state.v)
        if self._compiled is not None:
            reference, active = self._rows.reference(state.t, Inputs()), self._active
            found = self._compiled.acceleration(state, tau, reference, active, stabilize=True)
            acting = len(self._constraints) if active is None else int(active.sum())
            if found is not None and self._compiled.rank == acting:
                return self._compiled.qdd, found, DerivativeStatus.EXIST
        nothing = np.full(nv, np.nan), np.full((nv, 3 * nv + 1), np.nan)
        if not all(np.isfinite(x).all() for x in (state.t, state.q, state.v, tau)):
            return *nothing, DerivativeStatus.NOT_FINITE
        try:
            all_of_them = self.at(state, Inputs(tau))
        except UndeterminedMotionError:
            return *nothing, DerivativeStatus.UNDETERMINED
        except InputError:
            return *nothing, DerivativeStatus.NOT_FINITE
        by = all_of_them.acceleration
        exist = all_of_them.exist
        return (
            all_of_them.solution.qdd,
            np.hstack([by.q, by.v, by.t[:, None], by.tau]),
            DerivativeStatus.EXIST if exist else DerivativeStatus.RANK_CHANGES,
        )

    def at(self, state: State, inputs: Inputs | None = None) -> Derivatives:
        """All of them at a state.

        Args:
            state: Where the mechanism is.
            inputs: What acts on it; None for nothing.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            InputError: The state gives numbers that are not finite.
        """
        given = inputs or Inputs()
        prepared = self._dynamics.prepare(state, given)
        solution = self._dynamics.solve(prepared, state, given)
        factors, A = prepared.factorization, prepared.terms.A

        def slopes(qdd: Array, multipliers: Array) -> EquationSlopes:
            return self.equation_slopes(state, qdd, multipliers, given)

        whole = slopes(solution.qdd, solution.multipliers)
        nv = len(solution.qdd)
        r = np.hstack([whole.motion, np.eye(nv)])
        s = np.hstack([whole.rows, np.zeros((len(A), nv))])
        columns = [factors.solve(r[:, k].copy(), s[:, k].copy()) for k in range(r.shape[1])]
        qdd = np.column_stack([x.qdd for x in columns])
        multipliers = np.column_stack([x.multipliers for x in columns])
        motions = self._motions(A, whole.rates[:, :nv])
        offending = self._offending(A, qdd, s, motions, factors)
        if len(factors.dependent):
            multipliers[:, : r.shape[1] - nv] += self._turning(factors, A, solution, slopes)
        unloaded = slopes(solution.qdd, np.zeros(len(A)))
        force = prepared.terms.M @ qdd - np.hstack([unloaded.motion, np.eye(nv)])
        by_qdd, by_multipliers, by_force = (_split(x, nv) for x in (qdd, multipliers, force))
        return Derivatives(solution, by_qdd, by_multipliers, by_force, motions, offending)

    def by_parameters(
        self, names: Sequence[str], state: State, inputs: Inputs | None = None
    ) -> ParameterDerivatives:
        """Derivatives by numbers of the mechanism: masses, lengths, springs, friction, gravity.

        Where a length moves redundant rows apart, those that the solution takes as independent are
        followed. They are evaluated in Python; the first call with other names traces them.

        Args:
            names: Of ``Mechanism.parameters``.
            state: Where the mechanism is.
            inputs: What acts on it; None for nothing.

        Raises:
            UnknownNameError: There is no such parameter.
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            InputError: The state gives numbers that are not finite.
        """
        given, chosen = inputs or Inputs(), tuple(sorted(set(names)))
        if chosen not in self._of_parameters:
            self._of_parameters[chosen] = TracedSlopes(self._mechanism.with_parameters(chosen))
        source = self._of_parameters[chosen]
        order = [chosen.index(name) for name in names]
        prepared = self._dynamics.prepare(state, given)
        solution = self._dynamics.solve(prepared, state, given)
        factors, A = prepared.factorization, prepared.terms.A

        def slopes(qdd: Array, multipliers: Array) -> EquationSlopes:
            return self._slopes_of(source, state, qdd, multipliers, given)

        whole = slopes(solution.qdd, solution.multipliers)
        nv, m, count = len(solution.qdd), len(A), len(chosen)
        qdd, multipliers = np.zeros((nv, count)), np.zeros((m, count))
        for k in range(count):
            found = factors.solve(whole.motion[:, k].copy(), whole.rows[:, k].copy())
            qdd[:, k], multipliers[:, k] = found.qdd, found.multipliers
        if len(factors.dependent):
            multipliers += self._turning(factors, A, solution, slopes)
            # lengths part redundant rows; the motion follows those that carry the force alone
            carrying, rows = np.zeros(m), factors.independent
            force = A.T @ solution.multipliers
            carrying[rows] = np.linalg.lstsq(A[rows].T, force, rcond=None)[0]
            alone = slopes(solution.qdd, carrying)
            for k in range(count):
                qdd[:, k] = factors.solve(alone.motion[:, k].copy(), alone.rows[:, k].copy()).qdd
        force = prepared.terms.M @ qdd - slopes(solution.qdd, np.zeros(m)).motion
        return ParameterDerivatives(
            tuple(names), qdd[:, order], multipliers[:, order], force[:, order]
        )

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
        return self._slopes_of(self._source, state, qdd, multipliers, inputs or Inputs())

    def _slopes_of(
        self, source: SlopeSource, state: State, qdd: Array, multipliers: Array, given: Inputs
    ) -> EquationSlopes:
        reference = self._rows.reference(state.t, given)
        found = source.at(state, qdd, multipliers, reference, stabilize=given.stabilize)
        active = self._rows.hierarchy.mask(given.active)
        if active is None:
            return found
        on = active[:, None]
        return found._replace(rows=on * found.rows, rates=on * found.rates)

    def _motions(self, A: Array, rates: Array) -> Array:
        """Basis of the changes of the state that the constraints allow."""
        constraints = self._constraints
        places, moving = constraints.position_rows, constraints.motion_rows
        nv = A.shape[1]
        allowed = RowBasis(np.asfortranarray(A[places].T), None, self._tolerance).complement()
        rows = RowBasis(np.asfortranarray(A[moving].T), None, self._tolerance)
        free = rows.complement()
        turned = [rows.basis_product(rows.coordinates(-rates[moving] @ z)) for z in allowed.T]
        velocity = np.column_stack(turned) if turned else np.zeros((nv, 0))
        return np.block([[allowed, np.zeros((nv, free.shape[1]))], [velocity, free]])

    @staticmethod
    def _offending(
        A: Array, qdd: Array, s: Array, motions: Array, factors: Factorization
    ) -> NDArray[np.intp]:
        """Dependent rows whose derivatives do not hold along the motions."""
        rows, nv = factors.dependent, A.shape[1]
        if not len(rows) or not motions.shape[1]:
            return rows[:0]
        along, wanted = qdd[:, : 2 * nv] @ motions, s[rows, : 2 * nv] @ motions
        left = np.abs(A[rows] @ along - wanted).max(axis=1)
        size = (np.abs(A[rows]) @ np.abs(along) + np.abs(s[rows, : 2 * nv]) @ np.abs(motions)).max(
            axis=1
        )
        found: NDArray[np.intp] = rows[left > FOLLOWS_WITHIN * (1.0 + size)]
        return found

    @staticmethod
    def _turning(
        factors: Factorization,
        A: Array,
        solution: Solution,
        slopes: Callable[[Array, Array], EquationSlopes],
    ) -> Array:
        """What keeps the multipliers least while the combinations of rows that vanish change.

        K of Aᵀ K = 0 turns by dAᵀ K; with λ = A w this asks for Kᵀ dλ = Kᵀ dA w.
        """
        w = np.linalg.lstsq(A, solution.multipliers, rcond=None)[0].astype(float)
        none = np.zeros(len(A))
        change = slopes(np.zeros(len(w)), none).rows - slopes(w, none).rows
        left, _, _ = np.linalg.svd(A)
        kernel = left[:, factors.rank :]
        turned: Array = kernel @ (kernel.T @ change)
        return turned


def differentiable(mechanism: ResolvedMechanism) -> ResolvedMechanism:
    """The mechanism with its parameters as constants, where its motion has derivatives.

    Raises:
        InputError: It has forces that depend on the constraint forces, or is a large one with local
            loops.
    """
    if mechanism.friction.active or mechanism.nonideal is not None:
        raise InputError(
            "derivatives need forces that do not depend on constraint forces; found friction in"
            " loop joints, or a non-ideal force",
            place=mechanism.name,
        )
    if mechanism.local is not None:
        raise InputError(
            f"derivatives are not available for large mechanisms with local loops; found"
            f" {mechanism.model.nv} velocities",
            place=mechanism.name,
        )
    if mechanism.varied is not None:  # its parameters are constants here
        mechanism = mechanism.settled()
    return mechanism


def _split(whole: Array, nv: int) -> Slopes:
    return Slopes(
        whole[..., :nv],
        whole[..., nv : 2 * nv],
        whole[..., 2 * nv + 1 :],
        whole[..., 2 * nv],
    )
