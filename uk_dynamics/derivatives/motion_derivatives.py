# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of acceleration, multipliers and constraint force by the state."""

import numpy as np

from uk_dynamics.core.equation import Status
from uk_dynamics.core.linalg import RowBasis
from uk_dynamics.derivatives.differentiator import DerivativeBackend, differentiable
from uk_dynamics.derivatives.equations_of_motion import QUANTITIES, EquationsOfMotion
from uk_dynamics.mechanism.dynamics import (
    Derivative,
    Derivatives,
    DerivativeStatus,
    Quantities,
    Solver,
    column_groups,
)
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism, State


class MotionDerivatives(EquationsOfMotion):
    """Differentiates the motion of one mechanism by q, v, t and tau; threads may share it."""

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
        mechanism = differentiable(mechanism)
        nv = mechanism.model.nv
        super().__init__(mechanism, backend, column_groups(q=nv, v=nv, t=None, tau=nv))

    def acceleration(
        self, q: Array, v: Array, tau: Array | None = None, t: float = 0.0
    ) -> Derivative:
        """Differentiate the acceleration alone; the quickest call of a compiled mechanism.

        Args:
            q: Configuration, (nq,).
            v: Velocity, (nv,).
            tau: Generalized forces, (nv,), in N or N·m; None is zero.
            t: In s.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            StateError: The state or the forces have the wrong size, or are not finite.
        """
        return Derivative(self._whole(State(t, q, v), Inputs(tau), forces=False)[0], self._groups)

    def forces(self, q: Array, v: Array, tau: Array | None = None, t: float = 0.0) -> Quantities:
        """Differentiate acceleration, multipliers and constraint force; in C where compiled.

        :meth:`at` says whether they exist there, and along which motions. Arguments and errors as
        of :meth:`acceleration`.
        """
        return self._named(*self._whole(State(t, q, v), Inputs(tau), forces=True))

    def call(self) -> None:
        """Repeat what :meth:`acceleration` does in C, without its results; for measuring."""
        if self._single is not None:
            self._single.call()

    def at(self, state: State, inputs: Inputs | None = None) -> Derivatives:
        """Differentiate at a state, with where derivatives exist; in Python but for the equations.

        Args:
            state: Where the mechanism is.
            inputs: What acts on it; None for nothing.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
            StateError: The state or the forces have the wrong size, or are not finite.
        """
        found = self._solve(state, inputs or Inputs())
        nv, solution = self._mechanism.model.nv, found.solution
        tolerance = Solver(self._mechanism).tolerance(inputs or Inputs())
        motions = self._motions(found.factors.A, found.rates[:, :nv], tolerance)
        along = np.vstack([motions, np.zeros((nv + 1, motions.shape[1]))])
        offending = np.flatnonzero(found.offending(along).any(axis=1))
        fine = solution.status is Status.OK and not len(offending)
        named = self._named(*found.whole).quantities
        carried = solution.joint_multipliers
        values = (solution.qdd, carried, found.factors.A.T @ carried)
        for name, value in zip(QUANTITIES, values, strict=True):
            named[name].value = value
        return Derivatives(
            named,
            DerivativeStatus.EXIST if fine else DerivativeStatus.RANK_CHANGES,
            motions=motions,
            offending=offending,
            solution=solution,
        )

    def _whole(self, state: State, inputs: Inputs, *, forces: bool) -> tuple[Array, ...]:
        found = self._in_c_alone(state, inputs, forces=forces)
        return self._solve(state, inputs).whole if found is None else found

    def _differentiate(self, state: State, inputs: Inputs, *, forces: bool) -> Derivatives:
        whole = self._in_c_alone(state, inputs, forces=forces)
        if self._single is None or whole is None or self._single.rank != self._acting:
            return self.at(state, inputs)
        named = self._named(*whole).quantities
        named["acceleration"].value = self._single.qdd
        return Derivatives(named, DerivativeStatus.EXIST)

    def _motions(self, A: Array, rates: Array, tolerance: float | Array) -> Array:
        """Find a basis of the changes of the state that the constraints allow."""
        constraints = self._mechanism.constraints
        places, moving = constraints.position_rows, constraints.motion_rows
        nv, tolerance = A.shape[1], np.broadcast_to(tolerance, len(A))
        allowed = RowBasis(np.asfortranarray(A[places].T), None, tolerance[places]).complement()
        rows = RowBasis(np.asfortranarray(A[moving].T), None, tolerance[moving])
        free = rows.complement()
        turned = [rows.basis_product(rows.coordinates(-rates[moving] @ z)) for z in allowed.T]
        velocity = np.column_stack(turned) if turned else np.zeros((nv, 0))
        return np.block([[allowed, np.zeros((nv, free.shape[1]))], [velocity, free]])
