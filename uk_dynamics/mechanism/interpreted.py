"""Evaluation of a mechanism through Pinocchio's terms and LAPACK."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.constraints.constraint_set import ConstraintSet, Rows
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.core.factorization import (
    Factorization,
    SingularMassError,
    UndeterminedCoordinatesError,
    factorize,
)
from uk_dynamics.core.mass_factor import mass_factor
from uk_dynamics.core.methods import Method
from uk_dynamics.core.projection import (
    ProjectionFailedError,
    project_position,
    project_velocity,
)
from uk_dynamics.core.solution import Solution
from uk_dynamics.exceptions import SimulationError, UndeterminedMotionError
from uk_dynamics.mechanism.nonideal_forces import NonidealForces
from uk_dynamics.mechanism.state import Array, DynamicsTerms, Energy, Inputs, Residual, State
from uk_dynamics.model.robot_model import RobotModel
from uk_dynamics.model.workspace import Workspace

if TYPE_CHECKING:
    from uk_dynamics.mechanism.mechanism import Mechanism

_NOTHING = Inputs()
# For rows that are not affine in the velocities:
_NEWTON_STEPS = 50
_SHORTEST_PART = 1e-4  # of a Newton step
_ADMITTED_RATE = 1e-6  # relative to the velocities
_LOOSEST = 0.2  # rank tolerance of a projection from far away


class Prepared(NamedTuple):
    """Terms of a state with their factorisation, for whoever needs more than q̈.

    Attributes:
        terms: M, F, A, b; M is a live view of the workspace.
        rows: The structural rows behind A and b.
        factorization: Of M and A.
        workspace: Kinematics at the state, valid until the next evaluation.
    """

    terms: DynamicsTerms
    rows: Rows
    factorization: Factorization
    workspace: Workspace


class InterpretedDynamics:
    """The ``Dynamics`` of a mechanism in NumPy and LAPACK; not to be shared between threads."""

    def __init__(self, mechanism: Mechanism, model: RobotModel | None = None) -> None:
        """Allocate the workspace.

        Args:
            mechanism: What to evaluate.
            model: ``mechanism.extended_model(...)`` when further frames are needed.
        """
        self._mechanism = mechanism
        self._model = model or mechanism.model
        self._workspace = self._model.workspace()
        self._constraints: ConstraintSet = mechanism.constraints
        self._references = mechanism.references
        self._scleronomic = not (
            mechanism.references.references
            or self._constraints.time_dependent
            or not self._constraints.position_rows.all()
        )
        self.hierarchy = mechanism.hierarchy
        rigid = self.hierarchy.rigid
        self._soft = None if rigid.all() else ~rigid
        # Projection leaves compliant rows alone. None: all rows, which spares a copy.
        self._position_rows = _part(self._constraints.position_rows & rigid)
        self._motion_rows = np.flatnonzero(self._constraints.motion_rows & rigid)
        self._passive = mechanism.passive
        self._forces = mechanism.forces
        self._nonideal = NonidealForces(mechanism)
        # Energies leave the arrays of the last evaluation alone.
        self._places = self._workspace
        if self._forces.stores_energy_in_frames:
            self._places = self._model.workspace()
        self._solver = mechanism.spec.solver
        method = self._solver.method
        # Levels change nothing about a projection.
        self._projection_method: Method = "auto" if method == "hierarchical" else method
        self._length = mechanism.spec.model.length

    def prepare(self, state: State, inputs: Inputs = _NOTHING) -> Prepared:
        """Terms and factorisation at a state.

        Raises:
            UndeterminedMotionError: Some motion has neither inertia nor constraint.
        """
        terms, rows = self._terms(state, inputs)
        factorization = self._named(
            terms.M,
            terms.A,
            natural_scale=self._mechanism.natural_scale,
            rank_tolerance=self._solver.rank_tolerance,
            method=self._solver.method,
            levels=self.hierarchy.levels,
            clearance=self.hierarchy.clearance,
        )
        return Prepared(terms, rows, factorization, self._workspace)

    def terms(self, state: State, inputs: Inputs | None = None) -> DynamicsTerms:
        """M, F, A and b at a state; M is a live view, valid until the next evaluation."""
        return self._terms(state, inputs or _NOTHING)[0]

    def evaluate(
        self, state: State, inputs: Inputs | None = None, out: Solution | None = None
    ) -> Solution:
        """Constrained acceleration and forces (review (36)), fresh; see :class:`Dynamics`."""
        given = inputs or _NOTHING
        return self.solve(self.prepare(state, given), state, given)

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
        rows = self._rows(state.t, state.q, state.v, inputs or _NOTHING)
        return Residual(self._constraints.row_names, rows.residual, rows.rate)

    def project(self, state: State, inputs: Inputs | None = None) -> State:
        """The nearest state on the constraints in the metric of M; see :class:`Dynamics`."""
        given = inputs or _NOTHING
        linearize = functools.partial(self._linearize, state.t, given)
        try:
            q, there = project_position(state.q, linearize, self._model.integrate)
        except ProjectionFailedError as error:
            raise SimulationError(str(error), state.t) from None
        if self._scleronomic and not given.references:
            return State(state.t, q, project_velocity(state.v, there, there.A @ state.v))
        return State(state.t, q, self._project_velocity(state.t, q, state.v, given))

    def _project_velocity(self, t: float, q: Array, v: Array, inputs: Inputs) -> Array:
        """The nearest velocity on the rows that speak of velocities, in the metric of M.

        One step where they are affine in v, else Newton steps, shortened while they do not help.

        Raises:
            SimulationError: No velocity was found that they admit.
        """
        A, rate = self._motion_rates(t, q, v, inputs)
        for _ in range(_NEWTON_STEPS):
            there = self._factorize(
                self._workspace.mass, A, self._solver.rank_tolerance, self._motion_rows
            )
            target = project_velocity(v, there, rate)
            if self._constraints.linear_in_rates:
                return target
            part = 1.0
            violation = np.linalg.norm(rate)
            while part > _SHORTEST_PART:
                trial = v + part * (target - v)
                trial_A, trial_rate = self._motion_rates(t, q, trial, inputs)
                if np.linalg.norm(trial_rate) < violation:
                    break
                part /= 2.0
            else:  # rounding, or a dead end
                break
            v, A, rate = trial, trial_A, trial_rate
        size = 1.0 + float(np.abs(v).max(initial=0.0))
        worst = int(np.argmax(np.abs(rate)))
        if abs(rate[worst]) > _ADMITTED_RATE * size:
            name = self._constraints.row_names[self._motion_rows[worst]]
            problem = f"no velocity was found that {name} admits; it is off by {rate[worst]:.3g}"
            raise SimulationError(problem, t)
        return v

    def _motion_rates(self, t: float, q: Array, v: Array, inputs: Inputs) -> tuple[Array, Array]:
        """A and rate of the rows that speak of velocities."""
        self._workspace.update(q, v)
        rows = self._rows(t, q, v, inputs)
        return rows.A[self._motion_rows], rows.rate[self._motion_rows]

    def _reference(self, t: float, inputs: Inputs) -> ReferenceSample | None:
        live = inputs.references
        if inputs.active is not None and inputs.active.captured:
            live = {**(live or {}), **self.hierarchy.captured(inputs.active)}
        return self._references.sample(t, live)

    def _rows(self, t: float, q: Array, v: Array, inputs: Inputs) -> Rows:
        reference = self._reference(t, inputs)
        rows = self._constraints.evaluate(self._workspace, t, q, v, reference)
        mask = self.hierarchy.mask(inputs.active)
        if mask is None:
            return rows
        # A constraint that is off has rows of zeros: 0 q̈ = 0 holds, and nobody else is renumbered.
        return Rows(rows.A * mask[:, None], *(part * mask for part in rows[1:]))

    def _terms(self, state: State, inputs: Inputs) -> tuple[DynamicsTerms, Rows]:
        workspace = self._workspace
        q, v = state.q, state.v
        workspace.update(q, v)
        rows = self._rows(state.t, q, v, inputs)
        force = self._passive.force(q, v) - workspace.bias
        if self._forces.active:
            self._forces.add_to(force, workspace, state.t, q, v)
        if inputs.tau is not None:
            force += inputs.tau
        if inputs.stabilize:
            b = rows.right_hand_side(self._constraints.damping, self._constraints.stiffness)
        else:
            b = -rows.bias
            if (soft := self._soft) is not None:  # nothing else holds compliant rows
                damping, stiffness = self._constraints.damping, self._constraints.stiffness
                b -= soft * (damping * rows.rate + stiffness * rows.residual)
        return DynamicsTerms(workspace.mass, force, rows.A, b), rows

    def _linearize(self, t: float, inputs: Inputs, q: Array) -> tuple[Factorization, Array]:
        """Factorisation and residual for a projection.

        Off the constraints a redundant row looks independent by about the size of the violation
        (over a length of the machine); to follow it would lead far away.
        """
        self._workspace.update_positions(q)
        reference = self._reference(t, inputs)
        A, residual = self._constraints.position(self._workspace, t, q, reference)
        mask = self.hierarchy.mask(inputs.active)
        if mask is not None:
            A, residual = A * mask[:, None], residual * mask
        mass, usual = self._workspace.mass, self._solver.rank_tolerance
        chosen = self._position_rows
        if chosen is not None:
            A, residual = A[chosen], residual[chosen]
        gap = float(np.abs(residual).max(initial=0.0)) / self._length
        if gap > usual:
            try:
                return self._factorize(mass, A, min(gap, _LOOSEST), chosen), residual
            except UndeterminedMotionError:  # a massless link needs every row that holds it
                pass
        return self._factorize(mass, A, usual, chosen), residual

    def _factorize(
        self,
        mass: Array,
        A: Array,
        rank_tolerance: float,
        chosen: NDArray[np.intp] | None = None,
    ) -> Factorization:
        scale = self._mechanism.natural_scale
        return self._named(
            mass,
            A,
            natural_scale=scale if chosen is None else scale[chosen],
            rank_tolerance=rank_tolerance,
            method=self._projection_method,
        )

    def _named(self, mass: Array, A: Array, **options: Any) -> Factorization:
        try:
            return factorize(
                mass_factor(mass), A, pseudoinverse=self._solver.pseudoinverse, **options
            )
        except SingularMassError as error:
            raise error.located(file=self._mechanism.spec.file, place="solver.method") from None
        except UndeterminedCoordinatesError as error:
            raise error.named(self._model.velocity_names) from None


def _part(rows: NDArray[np.bool_]) -> NDArray[np.intp] | None:
    return None if rows.all() else np.flatnonzero(rows)
