# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What solves for derivatives, whatever the equations of motion are differentiated by.

Differentiating M q̈ = F + τ + Aᵀλ and A q̈ = b at a solution gives the same equations again,

    M dq̈ − Aᵀdλ = r,    A dq̈ = s,

where r and s are what the equations change by while q̈ and λ are held. So one factorisation solves
for the motion and for all its derivatives, whatever the rank.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation import (
    CompiledDerivativeBatch,
    CompiledDerivatives,
    EquationSlopes,
    Library,
    ManySlopes,
    SlopeSource,
    TracedSlopes,
    is_cached,
)
from uk_dynamics.core.equation import Factorization, Solution
from uk_dynamics.exceptions import (
    InputError,
    StateError,
    UndeterminedMotionError,
    expect,
    expect_size,
)
from uk_dynamics.mechanism.dynamics import (
    FOLLOWS_WITHIN,
    DerivativeStatus,
    InterpretedDynamics,
    StructuralRows,
)
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism, State

DerivativeBackend = Literal["cached", "compiled", "interpreted"]


class Solved(NamedTuple):
    """At one state; columns are D directions, then nv generalized forces.

    Attributes:
        solution: What is differentiated.
        A: Constraint matrix, (m, nv).
        factors: Of the solution.
        slopes: Of the acceleration, of the multipliers of least norm and of Aᵀλ, (k, D + nv) each.
        rows: s, (m, D + nv).
        rates: How the rates of the rows change, (m, D).
    """

    solution: Solution
    A: Array
    factors: Factorization
    slopes: tuple[Array, Array, Array]
    rows: Array
    rates: Array

    def offending(self, directions: Array) -> NDArray[np.bool_]:
        """Which rows, (m,), do not hold along which directions, (D + nv, n): (m, n)."""
        off = np.zeros((len(self.A), directions.shape[1]), dtype=bool)
        dependent = self.factors.dependent
        A, along, wanted = self.A[dependent], self.slopes[0], self.rows[dependent]
        left = np.abs(A @ along @ directions - wanted @ directions)
        size = np.abs(A) @ np.abs(along @ directions) + np.abs(wanted) @ np.abs(directions)
        off[dependent] = left > FOLLOWS_WITHIN * (1.0 + size)
        return off


class One(NamedTuple):
    """One state of many: acceleration, slopes as far as they are asked for, whether they exist.

    Attributes:
        qdd: (nv,), or NaN.
        slopes: (k, D + nv) each; none where there is no solution.
        status: Of the state.
        exist: Of each parameter, (D,); or of all that there are.
    """

    qdd: Array | float
    slopes: tuple[Array, ...]
    status: DerivativeStatus
    exist: NDArray[np.bool_] | bool = False


class Differentiator:
    """One mechanism at many states; not to be shared between threads."""

    def __init__(self, mechanism: ResolvedMechanism, backend: DerivativeBackend) -> None:
        """Trace the equations, or load what was compiled.

        Args:
            mechanism: A differentiable one; differentiated by the parameters that it varies, or by
                q, v and t where it varies none.
            backend: As of :class:`~uk_dynamics.MotionDerivatives`.

        Raises:
            InputError: There is no such backend.
            CompilationError: With backend ``compiled``: it cannot be compiled.
        """
        if backend not in get_args(DerivativeBackend):
            known = ", ".join(get_args(DerivativeBackend))
            raise InputError(f'no backend "{backend}"; there are: {known}', place="backend")
        self.mechanism = mechanism
        self._dynamics = InterpretedDynamics(mechanism)
        self._rows = StructuralRows(mechanism)
        self.compiled: CompiledDerivatives | None = None
        if backend == "compiled" or (
            backend == "cached" and is_cached(mechanism, Library.DERIVATIVES)
        ):
            self.compiled = CompiledDerivatives(mechanism)
        self._source: SlopeSource = self.compiled or TracedSlopes(mechanism)
        self._many: CompiledDerivativeBatch | None = None

    def in_c(self, state: State, inputs: Inputs, *, forces: bool) -> tuple[Array, ...] | None:
        """Slopes of the acceleration, and with forces those of multipliers and Aᵀλ, (k, D + nv).

        None where nothing is compiled, where C has no solution (singular masses, numbers that are
        not finite), and where there are non-ideal forces.
        """
        if self.compiled is None or inputs.nonideal is not None:
            return None
        try:
            return self.compiled.differentiate(
                state,
                inputs.tau,
                self._rows.reference(state.t, inputs),
                self._rows.hierarchy.mask(inputs.active),
                stabilize=inputs.stabilize,
                forces=forces,
            )
        except ValueError:  # arrays of other sizes, which solve names
            return None

    def solve(self, state: State, inputs: Inputs) -> Solved:
        """All of them, by the interpreted solution.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            StateError: The state or the forces have the wrong size, or are not finite.
        """
        self._check(state, inputs)
        prepared = self._dynamics.prepare(state, inputs)
        solution = self._dynamics.solve(prepared, state, inputs)
        factors, A = prepared.factorization, prepared.terms.A

        def slopes(qdd: Array, multipliers: Array) -> EquationSlopes:
            return self.equation_slopes(state, qdd, multipliers, inputs)

        whole = slopes(solution.qdd, solution.multipliers)
        nv, directions = whole.motion.shape
        r = np.hstack([whole.motion, np.eye(nv)])
        s = np.hstack([whole.rows, np.zeros((len(A), nv))])
        columns = [factors.solve(r[:, k].copy(), s[:, k].copy()) for k in range(r.shape[1])]
        qdd = np.column_stack([x.qdd for x in columns])
        multipliers = np.column_stack([x.multipliers for x in columns])
        if len(factors.dependent):
            multipliers[:, :directions] += _turning(factors, A, solution, slopes)
        unloaded = slopes(solution.qdd, np.zeros(len(A)))
        force = prepared.terms.M @ qdd - np.hstack([unloaded.motion, np.eye(nv)])
        return Solved(solution, A, factors, (qdd, multipliers, force), s, whole.rates)

    def _check(self, state: State, inputs: Inputs) -> None:
        nv = self.mechanism.model.nv
        given = {"q": (state.q, self.mechanism.model.nq), "v": (state.v, nv)}
        if inputs.tau is not None:
            given["tau"] = inputs.tau, nv
        for place, (found, size) in given.items():
            expect_size(place, found, size)
            if not np.isfinite(found).all():
                raise StateError("expected finite numbers, found nan or inf", place=place)

    def equation_slopes(
        self, state: State, qdd: Array, multipliers: Array, inputs: Inputs
    ) -> EquationSlopes:
        """How M q̈ − F − Aᵀλ and A q̈ − b change, for any acceleration and λ."""
        reference = self._rows.reference(state.t, inputs)
        found = self._source.at(state, qdd, multipliers, reference, stabilize=inputs.stabilize)
        active = self._rows.hierarchy.mask(inputs.active)
        if active is None:
            return found
        on = active[:, None]
        return found._replace(rows=on * found.rows, rates=on * found.rates)

    def many(
        self,
        q: Array,
        v: Array,
        tau: Array | None,
        t: Array | float,
        *,
        forces: bool,
        threads: int | None,
        alone: Callable[[State, Inputs], One],
    ) -> ManySlopes:
        """At many states, in lanes where it is compiled; ``alone`` answers for all others.

        Raises:
            InputError: The shapes do not fit.
            CompilationError: It cannot be compiled for many states.
        """
        q, v, tau, times = many_states(self.mechanism, q, v, tau, t)
        count = len(v)
        if self.compiled is None:
            found = ManySlopes.none(self.mechanism, count, forces=forces)
        else:
            if self._many is None:
                self._many = CompiledDerivativeBatch(self.mechanism)
            found = self._many.differentiate(
                q, v, tau, times, followed_by(self._rows, times), threads, forces=forces
            )
        for k in found.alone:
            state = State(float(times[k % len(times)]), q[k], v[k])
            one = self._one(state, tau[k], alone)
            found.qdd[k], found.status[k], found.exist[k] = one.qdd, one.status, one.exist
            for i, whole in enumerate(found.slopes):
                whole[k] = one.slopes[i] if one.slopes else np.nan
        return found

    @staticmethod
    def _one(state: State, tau: Array, alone: Callable[[State, Inputs], One]) -> One:
        """That state, or why there are no numbers."""
        if all(np.isfinite(x).all() for x in (state.t, state.q, state.v, tau)):
            try:
                return alone(state, Inputs(tau))
            except UndeterminedMotionError:
                return One(np.nan, (), DerivativeStatus.UNDETERMINED)
            except InputError:
                pass
        return One(np.nan, (), DerivativeStatus.NOT_FINITE)


def many_states(
    mechanism: ResolvedMechanism, q: Array, v: Array, tau: Array | None, t: Array | float
) -> tuple[Array, Array, Array, Array]:
    """q, v, tau (zero where None) and t, (1,) or (K,), contiguous.

    Raises:
        InputError: The shapes do not fit.
    """
    count, nv = len(v), mechanism.model.nv
    times = np.full(1, t, dtype=float) if np.ndim(t) == 0 else np.asarray(t, dtype=float)
    given = (q, v, np.zeros((count, nv)) if tau is None else tau, times)
    q, v, tau, times = (np.ascontiguousarray(x, dtype=float) for x in given)
    expected = ((count, mechanism.model.nq), (count, nv), (count, nv))
    if (q.shape, v.shape, tau.shape) != expected or times.shape not in ((1,), (count,)):
        raise InputError(
            f"states of a batch need q, v, tau of {expected} and t of ({count},) or a number;"
            f" found {q.shape}, {v.shape}, {tau.shape} and {times.shape}",
            place=mechanism.name,
        )
    return q, v, tau, times


def followed_by(rows: StructuralRows, times: Array) -> Array | None:
    """What rows follow at some times, (k, 3 m); None where they follow nothing."""
    samples = (rows.reference(float(t), Inputs()) for t in times)
    found = [np.concatenate(sample) for sample in samples if sample is not None]
    return np.array(found) if found else None


def differentiable(mechanism: ResolvedMechanism) -> ResolvedMechanism:
    """The mechanism with its parameters as constants, where its motion has derivatives.

    Raises:
        InputError: It is no mechanism, has forces that depend on the constraint forces, or is a
            large one with local loops.
    """
    expect("mechanism", mechanism, ResolvedMechanism, 'Mechanism.from_file("five_bar")')
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
