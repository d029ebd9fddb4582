# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Evaluation of a mechanism through Pinocchio's terms and LAPACK."""

import functools
import threading
from typing import NamedTuple

from uk_dynamics.constraints.rows import ConstraintTerms
from uk_dynamics.core import Factorization
from uk_dynamics.core.equation import Instant, Solution, formulas
from uk_dynamics.mechanism.dynamics.arguments import require_finite, require_finite_answer
from uk_dynamics.mechanism.dynamics.batches_and_rollouts import (
    evaluate_each,
    goes_over_contacts,
    roll_smoothly,
    sample_each,
)
from uk_dynamics.mechanism.dynamics.dynamics import Backend, Dynamics
from uk_dynamics.mechanism.dynamics.equation_terms import EquationTerms, Solver, StructuralRows
from uk_dynamics.mechanism.dynamics.motion import Motion
from uk_dynamics.mechanism.dynamics.nonideal_forces import NonidealForces
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
    Samples,
    State,
    States,
)
from uk_dynamics.model import RobotModel
from uk_dynamics.model.kinematics import Workspace

_NOTHING = Inputs()


class Prepared(NamedTuple):
    """Terms of a state with their factorisation, for callers that need more than q̈."""

    terms: DynamicsTerms  # M, F, A, b
    rows: ConstraintTerms  # the structural rows behind A and b
    factorization: Factorization  # of M and A
    workspace: Workspace  # kinematics at the state, valid until the next evaluation


class _Evaluation(threading.local):
    """What evaluates a mechanism and remembers the last state: each thread has its own."""

    def __init__(self, mechanism: ResolvedMechanism, model: RobotModel) -> None:
        new_workspace = model.workspace
        if mechanism.local is not None:
            new_workspace = functools.partial(mechanism.local.workspace, model)
        self.workspace = new_workspace()
        self.rows = StructuralRows(mechanism)
        self.terms = EquationTerms(mechanism, self.workspace, self.rows)
        self.solver = Solver(mechanism)
        self.projection = StateProjection(mechanism, model, self.workspace, self.rows, self.solver)
        # Energies leave the arrays of the last evaluation alone.
        self.places = self.workspace
        if mechanism.forces.stores_energy_in_frames:
            self.places = new_workspace()


class InterpretedDynamics(Dynamics):
    """The ``Dynamics`` of a mechanism in NumPy and LAPACK; threads may share it."""

    backend: Backend = "interpreted"

    def __init__(self, mechanism: ResolvedMechanism, model: RobotModel | None = None) -> None:
        """Allocate the workspace; ``mechanism.extended_model(...)`` has further frames."""
        self._mechanism = mechanism
        self._model = model or mechanism.model
        self._own = _Evaluation(mechanism, self._model)
        self._scale = mechanism.constraints.reference_scale
        self._row_names = mechanism.constraints.row_names
        self._passive = mechanism.passive
        self._forces = mechanism.forces
        self._nonideal = NonidealForces(mechanism)

    @classmethod
    def shared(cls, mechanism: ResolvedMechanism) -> "InterpretedDynamics":
        """One that motions and contacts of a mechanism share."""
        known: InterpretedDynamics | None = mechanism.evaluators.get(cls)
        if known is None:
            known = mechanism.evaluators[cls] = cls(mechanism)
        return known

    @property
    def model(self) -> RobotModel:
        """The robot, with its integration of velocities."""
        return self._model

    def prepare(self, state: State, inputs: Inputs = _NOTHING) -> Prepared:
        """Terms and factorisation at a checked state, if every motion is determined there."""
        require_finite(self._model, state, inputs)
        own = self._own
        terms, rows = own.terms.evaluate(state.t, state.q, state.v, inputs)
        factors = own.solver.factorize(terms.M, terms.A, inputs)
        return Prepared(terms, rows, factors, own.workspace)

    def terms(self, state: State, inputs: Inputs | None = None) -> DynamicsTerms:
        """M, F, A and b at a state."""
        given = inputs or _NOTHING
        require_finite(self._model, state, given)
        return self._own.terms.evaluate(state.t, state.q, state.v, given)[0]

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
    def rows(self) -> int:
        """Number of constraint rows, m."""
        return len(self._row_names)

    def roll(self, given: Plan, inputs: Inputs, threads: int | None) -> Rollout:
        """One trajectory after the other, without contacts; see :meth:`Dynamics.rollout`."""
        goes_over_contacts(self._mechanism, given)
        return roll_smoothly(self._mechanism, self, given, inputs)

    def motion(self) -> Motion | None:
        """None: nothing is in C."""
        return None

    def samples(self, given: States, inputs: Inputs) -> Samples:
        """One state after the other; see :meth:`Dynamics.samples`."""
        return sample_each(self, given, inputs)

    def solve(self, prepared: Prepared, state: State, inputs: Inputs = _NOTHING) -> Solution:
        """Acceleration and forces from terms prepared at the same state with the same inputs."""
        solution = self._nonideal.solve(
            prepared.factorization, prepared.workspace, prepared.terms, state, inputs
        )
        require_finite_answer(self._model, solution.qdd)
        if formulas():
            solution.apply(
                Instant(
                    *(state.t, state.q, state.v, prepared.terms.F, prepared.workspace.bias),
                    *(solution.qdd, solution.constraint_force),
                )
            )
        return solution

    def energy(self, state: State) -> Energy:
        """Kinetic and potential energy; see :class:`Dynamics`."""
        require_finite(self._model, state)
        workspace, places = self._own.workspace, self._own.places
        if self._forces.stores_energy_in_frames:
            places.update_positions(state.q)
        potential = (
            workspace.potential_energy(state.q)
            + self._passive.potential_energy(state.q)
            + self._forces.potential_energy(places, state.q)
        )
        return Energy(workspace.kinetic_energy(state.q, state.v), potential)

    def residual(self, state: State, inputs: Inputs | None = None) -> Residual:
        """Violation of the constraints; see :class:`Dynamics`."""
        given, own = inputs or _NOTHING, self._own
        require_finite(self._model, state, given)
        own.workspace.update(state.q, state.v)
        rows = own.rows.evaluate(own.workspace, state.t, state.q, state.v, given)
        return Residual(self._row_names, rows.residual / self._scale, rows.rate / self._scale)

    def project(self, state: State, inputs: Inputs | None = None) -> State:
        """The nearest state on the constraints in the metric of M; see :class:`Dynamics`."""
        given = inputs or _NOTHING
        require_finite(self._model, state, given)
        return self._own.projection.project(state, given)
