"""Evaluation of a mechanism through Pinocchio's terms and LAPACK."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

from numpy.typing import ArrayLike

from uk_dynamics.constraints.constraint_set import ConstraintSet, ConstraintTerms
from uk_dynamics.core.factorization import Factorization
from uk_dynamics.core.integrators import ConfigurationSpace
from uk_dynamics.core.solution import Solution
from uk_dynamics.mechanism.batch import BatchSolution, evaluate_each, states, without_forces
from uk_dynamics.mechanism.equation_terms import EquationTerms
from uk_dynamics.mechanism.nonideal_forces import NonidealForces
from uk_dynamics.mechanism.rollout import Plan, Rollout, RolloutMethod, plan, roll_each
from uk_dynamics.mechanism.solver import Solver
from uk_dynamics.mechanism.state import Array, DynamicsTerms, Energy, Inputs, Residual, State
from uk_dynamics.mechanism.state_projection import StateProjection
from uk_dynamics.mechanism.structural_rows import StructuralRows
from uk_dynamics.model.robot_model import RobotModel
from uk_dynamics.model.workspace import Workspace

if TYPE_CHECKING:
    from uk_dynamics.mechanism.mechanism import Mechanism

_NOTHING = Inputs()


class Prepared(NamedTuple):
    """Terms of a state with their factorisation, for whoever needs more than q̈.

    Attributes:
        terms: M, F, A, b; M is a live view of the workspace.
        rows: The structural rows behind A and b.
        factorization: Of M and A.
        workspace: Kinematics at the state, valid until the next evaluation.
    """

    terms: DynamicsTerms
    rows: ConstraintTerms
    factorization: Factorization
    workspace: Workspace


class InterpretedDynamics:
    """The ``Dynamics`` of a mechanism in NumPy and LAPACK; not to be shared between threads.

    Attributes:
        hierarchy: Levels of the rows, and which of them can be switched.
        rows: Number of constraint rows, m.
    """

    def __init__(self, mechanism: Mechanism, model: RobotModel | None = None) -> None:
        """Allocate the workspace.

        Args:
            mechanism: What to evaluate.
            model: ``mechanism.extended_model(...)`` when further frames are needed.
        """
        self._model = model or mechanism.model
        new_workspace = self._model.workspace
        if mechanism.local is not None:
            new_workspace = functools.partial(mechanism.local.workspace, self._model)
        self._workspace = new_workspace()
        self.hierarchy = mechanism.hierarchy
        self.rows = len(mechanism.constraints)
        self._rows = StructuralRows(mechanism)
        self._constraints: ConstraintSet = self._rows.constraints
        self._terms = EquationTerms(mechanism, self._workspace, self._rows)
        self._solver = Solver(mechanism)
        self._projection = StateProjection(
            mechanism, self._model, self._workspace, self._rows, self._solver
        )
        self._passive = mechanism.passive
        self._forces = mechanism.forces
        self._nonideal = NonidealForces(mechanism)
        self._consistency_tolerance = mechanism.spec.solver.consistency_tolerance
        self._quick = None if self._nonideal.active else self._solver.quick_motion()
        # Energies leave the arrays of the last evaluation alone.
        self._places = self._workspace
        if self._forces.stores_energy_in_frames:
            self._places = new_workspace()

    def prepare(self, state: State, inputs: Inputs = _NOTHING) -> Prepared:
        """Terms and factorisation at a state.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
        """
        terms, rows = self._terms.with_rows(state.t, state.q, state.v, inputs)
        return Prepared(terms, rows, self._solver.factorize(terms.M, terms.A), self._workspace)

    def terms(self, state: State, inputs: Inputs | None = None) -> DynamicsTerms:
        """M, F, A and b at a state; M is a live view, valid until the next evaluation."""
        return DynamicsTerms(*self._terms.evaluate(state.t, state.q, state.v, inputs or _NOTHING))

    def evaluate(
        self, state: State, inputs: Inputs | None = None, out: Solution | None = None
    ) -> Solution:
        """Constrained acceleration and forces (review (36)), fresh; see :class:`Dynamics`."""
        given = inputs or _NOTHING
        quick = self._quick if given.nonideal is None else None
        if quick is not None and quick.ready:
            found = quick.solve(*self._terms.evaluate(state.t, state.q, state.v, given, quick=True))
            if found is not None:
                return found
        M, F, A, b = self._terms.evaluate(state.t, state.q, state.v, given)
        factorization = self._solver.factorize(M, A)
        if quick is not None:
            quick.learn(factorization.taken)
        if given.nonideal is None and not self._nonideal.active:
            return factorization.solve(F, b, consistency_tolerance=self._consistency_tolerance)
        named = DynamicsTerms(M, F, A, b)
        return self._nonideal.solve(factorization, self._workspace, named, state, given)

    def acceleration(self, q: Array, v: Array, tau: Array | None = None, t: float = 0.0) -> Array:
        """Constrained acceleration alone, (nv,), fresh; the quickest call of a compiled mechanism.

        Args:
            q: Configuration, (nq,).
            v: Velocity, (nv,).
            tau: Generalized forces, (nv,), in N or N·m; None is zero.
            t: In s.
        """
        if self._nonideal.active:
            return self.evaluate(State(t, q, v), Inputs(tau)).qdd
        quick = self._quick
        if quick is not None and quick.ready:
            found = quick.acceleration(*self._terms.usual(t, q, v, tau, quick=True))
            if found is not None:
                return found
        M, F, A, b = self._terms.usual(t, q, v, tau)
        factorization = self._solver.factorize(M, A)
        if quick is not None:
            quick.learn(factorization.taken)
        return factorization.acceleration(F, b)

    def evaluate_batch(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        t: ArrayLike = 0.0,
        inputs: Inputs | None = None,
        forces: bool = True,
        threads: int | None = None,
    ) -> BatchSolution:
        """Constrained accelerations and forces at K states; compiled many times faster.

        Args:
            q: Configurations, (K, nq).
            v: Velocities, (K, nv).
            tau: Generalized forces, (K, nv), or (nv,) for all; None is zero.
            t: One time, or (K,), in s.
            inputs: What all states share; no forces, which are ``tau``.
            forces: Whether forces, multipliers and residuals are wanted, not only accelerations.
            threads: At most, for the compiled evaluator; None: as many as pay.

        Raises:
            StateError: Wrong shapes.
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
        """
        shared = without_forces(inputs or _NOTHING)
        given = states(self._model.nq, self._model.nv, t, q, v, tau)
        return evaluate_each(self, given, shared, forces=forces)

    def rollout(
        self,
        q: ArrayLike,
        v: ArrayLike,
        tau: ArrayLike | None = None,
        *,
        steps: int,
        dt: float,
        method: RolloutMethod = "rk4",
        project: bool = True,
        t: float = 0.0,
        every: int = 1,
        inputs: Inputs | None = None,
        threads: int | None = None,
    ) -> Rollout:
        """K trajectories at fixed steps; compiled they are integrated in C, many at once.

        Args:
            q: Where they start, (K, nq) or (nq,).
            v: (K, nv) or (nv,).
            tau: Generalized forces, constant within a step: (nv,), (K, nv) or (K, steps, nv).
            steps: How many.
            dt: Of one step, in s.
            method: ``rk4`` or ``semi_implicit_euler``.
            project: Whether the start and every step are projected onto the constraints, positions
                and velocities; then there is no stabilisation, as in simulations.
            t: Start, in s.
            every: Steps from sample to sample.
            inputs: What all share; no forces, which are ``tau``.
            threads: At most, for the compiled evaluator; None: as many as pay.

        Raises:
            StateError: Wrong shapes.
            InputError: Numbers that make no sense, or an unknown method.
        """
        given = plan(
            self._model,
            q,
            v,
            tau,
            steps=steps,
            dt=dt,
            every=every,
            method=method,
            project=project,
            t=t,
        )
        return self._roll(given, without_forces(inputs or _NOTHING), threads)

    def _roll(self, given: Plan, inputs: Inputs, threads: int | None) -> Rollout:
        return roll_each(self, given, inputs)

    @property
    def space(self) -> ConfigurationSpace:
        """Where configurations live."""
        return self._model

    def solve(self, prepared: Prepared, state: State, inputs: Inputs = _NOTHING) -> Solution:
        """Acceleration and forces from terms prepared at the same state with the same inputs."""
        return self._nonideal.solve(
            prepared.factorization, prepared.workspace, prepared.terms, state, inputs
        )

    def energy(self, state: State) -> Energy:
        """Kinetic and potential energy; see :class:`Dynamics`."""
        workspace = self._workspace
        if self._forces.stores_energy_in_frames:
            self._places.update_positions(state.q)
        potential = (
            workspace.potential_energy(state.q)
            + self._passive.potential_energy(state.q)
            + self._forces.potential_energy(self._places, state.q)
        )
        return Energy(workspace.kinetic_energy(state.q, state.v), potential)

    def residual(self, state: State, inputs: Inputs | None = None) -> Residual:
        """Violation of the constraints; see :class:`Dynamics`."""
        self._workspace.update(state.q, state.v)
        given = inputs or _NOTHING
        rows = self._rows.evaluate(self._workspace, state.t, state.q, state.v, given)
        scale = self._constraints.reference_scale
        return Residual(self._constraints.row_names, rows.residual / scale, rows.rate / scale)

    def project(self, state: State, inputs: Inputs | None = None) -> State:
        """The nearest state on the constraints in the metric of M; see :class:`Dynamics`."""
        return self._projection.project(state, inputs or _NOTHING)
