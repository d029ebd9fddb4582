# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Evaluation of a mechanism through Pinocchio's terms and LAPACK."""

import functools
import threading
from typing import NamedTuple

import numpy as np

from uk_dynamics.constraints.references import Constant
from uk_dynamics.constraints.rows import ConstraintTerms, FrameKinematics
from uk_dynamics.core.equation import (
    Factorization,
    Instant,
    LoadForces,
    Solution,
    formulas,
    solve_nonideal,
)
from uk_dynamics.exceptions import StateError
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
from uk_dynamics.mechanism.dynamics.state_projection import StateProjection
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import (
    Array,
    BatchSolution,
    DynamicsTerms,
    Energy,
    Inputs,
    NonidealFunction,
    Plan,
    Residual,
    Rollout,
    Samples,
    State,
    States,
)
from uk_dynamics.model import RobotModel
from uk_dynamics.model.kinematics import Workspace


class NonidealForces:
    """Solves the fundamental equation with the c of a mechanism, servo paper (13).

    Functions written in Python are called at every evaluation. They cannot be compiled: a mechanism
    that has one is evaluated by the interpreted backend.
    """

    def __init__(self, mechanism: ResolvedMechanism) -> None:
        self._friction = mechanism.friction
        self._contacts, self._constraints = mechanism.contact_friction, mechanism.constraints
        self._function = mechanism.nonideal
        self._hierarchy = mechanism.hierarchy
        # whether the mechanism has any by itself
        self.active = self._friction.active or self._function is not None
        self._tolerance = mechanism.spec.solver.consistency_tolerance

    def solve(
        self,
        factorization: Factorization,
        kinematics: FrameKinematics,
        terms: DynamicsTerms,
        state: State,
        inputs: Inputs,
    ) -> Solution:
        """Acceleration and forces."""
        given = None if callable(inputs.nonideal) else inputs.nonideal
        functions = [f for f in (self._function, inputs.nonideal) if callable(f)]
        loads = None
        if self._friction.active:
            acting = self._hierarchy.mask(inputs.active)
            viscous, per_load = self._friction.evaluate(kinematics, state.v, acting)
            given = viscous if given is None else viscous + given
            if self._friction.dry:
                loads = LoadForces(
                    per_load, self._friction.load_map, np.zeros(len(per_load.T), bool)
                )
        if inputs.active is not None and (slides := self._contacts.own(inputs.active.sliding)):
            wrenches = self._constraints.wrenches(kinematics)
            sliding = self._contacts.evaluate(kinematics, wrenches, state.v, slides)
            loads = LoadForces(*sliding) if loads is None else loads.with_others(*sliding)
        return solve_nonideal(
            factorization,
            terms.F,
            terms.b,
            given=given,
            loads=loads,
            function=functools.partial(_total, functions, state) if functions else None,
            consistency_tolerance=self._tolerance,
        )


def _total(functions: list[NonidealFunction], state: State, solution: Solution) -> Array:
    total: Array = np.zeros(len(state.v))
    for function in functions:
        try:
            force = np.asarray(function(state, solution), dtype=float)
        except (TypeError, ValueError) as error:
            raise StateError(f"the non-ideal force is no array of numbers: {error}") from None
        if force.shape != total.shape:
            problem = f"expected a non-ideal force of shape {total.shape}, found {force.shape}"
            raise StateError(problem, place=getattr(function, "__name__", "nonideal"))
        total = total + force
    return total


def workless(mechanism: ResolvedMechanism) -> bool:
    """Whether ideal forces Aᵀλ do no work: every velocity the constraints admit fulfils A v = 0.

    That is so where rows neither drive nor yield: they do not depend on t, follow no moving
    reference, have no compliance, and are met at rest. What is not certain counts as work: rows of
    order acceleration and rows that are not linear in the rates.
    """
    constraints = mechanism.constraints
    if constraints.time_dependent or not constraints.linear_in_rates:
        return False
    if not (constraints.motion_rows.all() and mechanism.hierarchy.rigid.all()):
        return False
    references = mechanism.references
    if not all(isinstance(moved, Constant) for moved in references.references.values()):
        return False
    q, rest = mechanism.initial_guess, np.zeros(mechanism.model.nv)
    workspace = mechanism.model.workspace()
    workspace.update(q, rest)
    return not constraints.evaluate(workspace, 0.0, q, rest, references.sample(0.0)).rate.any()


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

    @property
    def model(self) -> RobotModel:
        """The robot, with its integration of velocities."""
        return self._model

    def prepare(self, state: State, inputs: Inputs = _NOTHING) -> Prepared:
        """Terms and factorisation at a checked state, if every motion is determined there."""
        require_finite(self._model, state, inputs)
        own = self._own
        terms, rows = own.terms.evaluate(state.t, state.q, state.v, inputs)
        return Prepared(terms, rows, own.solver.factorize(terms.M, terms.A), own.workspace)

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
