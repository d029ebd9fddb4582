# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What derivatives of the motion have in common, by whatever they are."""

import math
from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import NamedTuple

import numpy as np

from uk_dynamics.compilation import CompiledDerivatives, Library, States
from uk_dynamics.compilation.derivatives import EquationValues, motion_patterns
from uk_dynamics.compilation.verification import Trial
from uk_dynamics.core.equation import Factorization, Solution
from uk_dynamics.derivatives.differentiator import DerivativeBackend, empty
from uk_dynamics.derivatives.sliding_friction_derivatives import Sliding
from uk_dynamics.derivatives.state_by_state import Arrays, Given, StateByState
from uk_dynamics.mechanism.dynamics import (
    FOLLOWS_WITHIN,
    Derivative,
    Derivatives,
    DerivativeStatus,
    EquationDerivatives,
    Groups,
    InterpretedDynamics,
    Quantities,
    require_finite,
)
from uk_dynamics.mechanism.resolution import Array, Flags, Inputs, ResolvedMechanism, State

QUANTITIES = ("acceleration", "multipliers", "force")


class _Solved(NamedTuple):
    """Derivatives at one state, in Python."""

    solution: Solution  # what is differentiated
    factors: Factorization  # of the solution
    # derivatives of the acceleration, of the multipliers of least norm and of Aᵀλ, by D directions,
    # then generalized forces, (k, D + nv) each
    whole: tuple[Array, Array, Array]
    rows: Array  # s, (m, D + nv)
    rates: Array  # how the rates of the rows change, (m, D)

    def offending(self, directions: Array) -> Flags:
        """Tell which rows do not hold along which directions, (D + nv, n): (m, n)."""
        off = np.zeros((len(self.rows), directions.shape[1]), dtype=bool)
        dependent = self.factors.dependent
        A, by, wanted = self.factors.A[dependent], self.whole[0], self.rows[dependent]
        left = np.abs(A @ by @ directions - wanted @ directions)
        size = np.abs(A) @ np.abs(by @ directions) + np.abs(wanted) @ np.abs(directions)
        off[dependent] = left > FOLLOWS_WITHIN * (1.0 + size)
        return off


class EquationsOfMotion(StateByState):
    """Derivatives of the motion, by whatever the mechanism varies."""

    _library, _tried = Library.DERIVATIVE_BATCH, ("acceleration", "force")
    _numbers = (DerivativeStatus.EXIST, DerivativeStatus.RANK_CHANGES)

    def __init__(
        self, mechanism: ResolvedMechanism, backend: DerivativeBackend, groups: Groups
    ) -> None:
        super().__init__(mechanism, backend)
        self._groups = groups  # of columns
        self._dynamics = InterpretedDynamics(mechanism)
        self._acting = int(mechanism.hierarchy.acting().sum())  # rows
        self._single: CompiledDerivatives | None = None
        if self._wanted(Library.DERIVATIVES):
            self._single = CompiledDerivatives(mechanism)
            self._verify(self._single.path, lambda given: [self._for_trial(x) for x in given])
        self._equations = self._single or EquationValues(mechanism)

    def _for_trial(self, trial: Trial) -> dict[str, Array] | None:
        """Differentiate at one state in C alone, as a library is compared."""
        whole = self._in_c_alone(trial.state, Inputs(trial.tau), forces=True)
        if whole is None:
            return None
        return self._answers(Derivatives(self._named(*whole).quantities, 0), ..., 0)

    def _subject(self) -> ResolvedMechanism | None:
        return None if self._single is None else self._mechanism

    def _given(self) -> Given:
        return Given({}, forces=True)

    def _interpreted(self) -> "EquationsOfMotion":
        python = copy(self)
        python._backend, python._single = "interpreted", None
        python._equations = EquationValues(self._mechanism)
        return python

    def _in_python(self, state: State, tau: Array | None, given: Given) -> Derivatives:
        return self._differentiate(state, Inputs(tau), forces=given.forces)

    @abstractmethod
    def _differentiate(self, state: State, inputs: Inputs, *, forces: bool) -> Derivatives:
        """Differentiate at one state, in C where it answers everything."""

    def _room(self, states: States, given: Given) -> tuple[Derivatives, Arrays]:
        nv, rows = self._mechanism.model.nv, len(self._mechanism.constraints)
        names = QUANTITIES if given.forces else QUANTITIES[:1]
        sizes = dict(zip(names, (nv, rows, nv), strict=False))
        found = empty(len(states.v), sizes, self._groups, {"acceleration": nv})
        whole = {name: x.whole for name, x in found.quantities.items()}
        return found, whole | {"qdd": found.acceleration.value}

    @cached_property
    def patterns(self) -> Quantities:
        """Derivatives that may differ from zero at any state, as booleans."""
        found = self._named(*motion_patterns(self._mechanism))
        return self._ordered(Derivatives(found.quantities, DerivativeStatus.EXIST))

    def batch(
        self,
        q: Array,
        v: Array,
        tau: Array | None = None,
        t: Array | float = 0.0,
        *,
        forces: bool = False,
        threads: int | None = None,
    ) -> Derivatives:
        """Differentiate the acceleration at many states in one call.

        Regular states stand side by side in the lanes of the processor's vectors; the others are
        differentiated one by one, and so are all without a compiled mechanism.

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
        states, given = self._states(q, v, tau, t), Given({}, forces=forces)
        return self._ordered(self._batch(states, given, threads))

    def _ordered(self, found: Derivatives) -> Derivatives:
        """Order the columns as the caller does."""
        return found

    def _named(self, *whole: Flags | Array) -> Quantities:
        found = zip(QUANTITIES, whole, strict=False)
        return Quantities({name: Derivative(x, self._groups) for name, x in found})

    def _in_c_alone(
        self, state: State, inputs: Inputs, *, forces: bool
    ) -> tuple[Array, ...] | None:
        """Differentiate the acceleration, and with forces multipliers and Aᵀλ, (k, D + nv)."""
        # None where nothing is compiled, where C has no solution (singular masses, numbers that are
        # not finite), and where there are non-ideal forces or distinct contacts
        beyond = inputs.active is not None and inputs.active.beyond_rows
        if self._single is None or inputs.nonideal is not None or beyond:
            return None
        if not math.isfinite(state.t):
            return None
        try:
            return self._single.differentiate(
                state,
                inputs.tau,
                self._rows.reference(state.t, inputs),
                self._rows.hierarchy.mask(inputs.active),
                stabilize=inputs.stabilize,
                forces=forces,
            )
        except ValueError:  # arrays of other sizes, which _solve names
            return None

    def equations(
        self, state: State, qdd: Array, multipliers: Array, inputs: Inputs | None = None
    ) -> EquationDerivatives:
        """Differentiate M q̈ − F − Aᵀλ and A q̈ − b, for any acceleration (nv,) and λ (m,).

        Forces among the inputs do not matter here.
        """
        given = inputs or Inputs()
        reference = self._rows.reference(state.t, given)
        found = self._equations.at(state, qdd, multipliers, reference, stabilize=given.stabilize)
        active = self._rows.hierarchy.mask(given.active)
        if active is None:
            return found
        on = active[:, None]
        return found._replace(rows=on * found.rows, rates=on * found.rates)

    def _solve(self, state: State, inputs: Inputs) -> _Solved:
        """Differentiate the interpreted solution; InputError: a contact has just begun to slide."""
        require_finite(self._mechanism.model, state, inputs)
        prepared = self._dynamics.prepare(state, inputs)
        solution = self._dynamics.solve(prepared, state, inputs)
        factors, A = prepared.factorization, prepared.terms.A

        def equations(qdd: Array, multipliers: Array) -> EquationDerivatives:
            return self.equations(state, qdd, multipliers, inputs)

        held = equations(solution.qdd, solution.joint_multipliers)
        nv, directions = held.motion.shape
        varied = self._mechanism.varied if "parameters" in self._groups else None
        names = () if varied is None else varied.names
        sliding = Sliding(self._mechanism, self._equations, state, inputs, solution, held, names)
        r = np.hstack([sliding.motion, np.eye(nv)])
        s = np.hstack([held.rows, np.zeros((len(A), nv))])
        columns = [factors.solve(r[:, k].copy(), s[:, k].copy()) for k in range(r.shape[1])]
        qdd = np.column_stack([x.qdd for x in columns])
        multipliers = np.column_stack([x.multipliers for x in columns])
        if len(factors.dependent):
            multipliers[:, :directions] += _turning(factors, solution, equations)
        friction = sliding.follow(factors, qdd, multipliers)
        unloaded = equations(solution.qdd, np.zeros(len(A)))
        force = prepared.terms.M @ qdd - np.hstack([unloaded.motion, np.eye(nv)]) - friction
        return _Solved(solution, factors, (qdd, multipliers, force), s, held.rates)


def _turning(
    factors: Factorization,
    solution: Solution,
    equations: Callable[[Array, Array], EquationDerivatives],
) -> Array:
    """Find what keeps the multipliers least while the combinations of rows that vanish change."""
    # K of Aᵀ K = 0 turns by dAᵀ K; with λ = A w this asks for Kᵀ dλ = Kᵀ dA w
    A = factors.A
    w = np.linalg.lstsq(A, solution.joint_multipliers, rcond=None)[0].astype(float)
    none = np.zeros(len(A))
    change = equations(np.zeros(len(w)), none).rows - equations(w, none).rows
    left, _, _ = np.linalg.svd(A)
    kernel = left[:, factors.rank :]
    return kernel @ (kernel.T @ change)
