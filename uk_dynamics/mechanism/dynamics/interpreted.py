# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Evaluation of a mechanism through Pinocchio's terms and LAPACK."""

from __future__ import annotations

import functools
from typing import NamedTuple

from uk_dynamics.constraints.rows import ConstraintSet, ConstraintTerms
from uk_dynamics.core import Factorization
from uk_dynamics.core.equation import Solution
from uk_dynamics.core.integration import ConfigurationSpace
from uk_dynamics.mechanism.dynamics.batch import Batches, evaluate_each, sample_each
from uk_dynamics.mechanism.dynamics.equation_terms import EquationTerms, StructuralRows
from uk_dynamics.mechanism.dynamics.motion import Motion
from uk_dynamics.mechanism.dynamics.nonideal_forces import NonidealForces
from uk_dynamics.mechanism.dynamics.rollout import roll_each
from uk_dynamics.mechanism.dynamics.samples import Samples
from uk_dynamics.mechanism.dynamics.solver import Solver
from uk_dynamics.mechanism.dynamics.state_projection import StateProjection
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import (
    Array,
    BatchSolution,
    DynamicsTerms,
    Energy,
    Inputs,
    Plan,
    Residual,
    Rollout,
    State,
    States,
)
from uk_dynamics.model import RobotModel
from uk_dynamics.model.kinematics import Workspace

_NOTHING = Inputs()


class Prepared(NamedTuple):
    """Terms of a state with their factorisation, for callers that need more than q̈."""

    terms: DynamicsTerms  # M, F, A, b; M is a live view of the workspace
    rows: ConstraintTerms  # the structural rows behind A and b
    factorization: Factorization  # of M and A
    workspace: Workspace  # kinematics at the state, valid until the next evaluation


class InterpretedDynamics(Batches):
    """The ``Dynamics`` of a mechanism in NumPy and LAPACK; not to be shared between threads."""

    def __init__(self, mechanism: ResolvedMechanism, model: RobotModel | None = None) -> None:
        """Allocate the workspace.

        Args:
            mechanism: What to evaluate.
            model: ``mechanism.extended_model(...)`` when further frames are needed.
        """
        self._mechanism = mechanism
        self._model = model or mechanism.model
        new_workspace = self._model.workspace
        if mechanism.local is not None:
            new_workspace = functools.partial(mechanism.local.workspace, self._model)
        self._workspace = new_workspace()
        self.rows = len(mechanism.constraints)  # number of constraint rows, m
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
        # Energies leave the arrays of the last evaluation alone.
        self._places = self._workspace
        if self._forces.stores_energy_in_frames:
            self._places = new_workspace()

    def prepare(self, state: State, inputs: Inputs = _NOTHING) -> Prepared:
        """Terms and factorisation at a state.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
        """
        terms, rows = self._terms.evaluate(state.t, state.q, state.v, inputs)
        return Prepared(terms, rows, self._solver.factorize(terms.M, terms.A), self._workspace)

    def terms(self, state: State, inputs: Inputs | None = None) -> DynamicsTerms:
        """M, F, A and b at a state; M is a live view, valid until the next evaluation."""
        return self._terms.evaluate(state.t, state.q, state.v, inputs or _NOTHING)[0]

    def evaluate(self, state: State, inputs: Inputs | None = None) -> Solution:
        """Constrained acceleration and forces (review (36)), fresh; see :class:`Dynamics`."""
        given = inputs or _NOTHING
        return self.solve(self.prepare(state, given), state, given)

    def acceleration(self, q: Array, v: Array, tau: Array | None = None, t: float = 0.0) -> Array:
        """Constrained acceleration alone; see :meth:`Dynamics.acceleration`."""
        return self.evaluate(State(t, q, v), Inputs(tau)).qdd

    def evaluate_states(
        self, given: States, inputs: Inputs, *, forces: bool, threads: int | None
    ) -> BatchSolution:
        """One state after the other; see :meth:`Dynamics.evaluate_batch`."""
        return evaluate_each(self, given, inputs, forces=forces)

    @property
    def sizes(self) -> tuple[int, int]:
        """Numbers of positions and velocities."""
        return self._model.nq, self._model.nv

    def roll(self, given: Plan, inputs: Inputs, threads: int | None) -> Rollout:
        """One trajectory after the other; see :meth:`Dynamics.rollout`."""
        return roll_each(self._mechanism, self, given, inputs)

    def motion(self) -> Motion | None:
        """None: nothing is in C."""
        return None

    def samples(self, given: States, inputs: Inputs) -> Samples:
        """One state after the other; see :meth:`Dynamics.samples`."""
        return sample_each(self, given, inputs)

    @property
    def space(self) -> ConfigurationSpace:
        """The space of configurations."""
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
