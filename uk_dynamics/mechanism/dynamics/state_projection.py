# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Moving a state onto the constraints in the metric of M, and the ends of time steps by size."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from uk_dynamics.arrays import Indices, largest
from uk_dynamics.core import Factorization
from uk_dynamics.core.equation import (
    ProjectionFailedError,
    project_position,
    project_velocity,
    projection,
)
from uk_dynamics.core.linalg import LOOSEST
from uk_dynamics.exceptions import SimulationError, UkDynamicsError, UndeterminedMotionError
from uk_dynamics.mechanism.dynamics.dynamics import Dynamics
from uk_dynamics.mechanism.dynamics.equation_terms import Solver, StructuralRows
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array, Inputs, State
from uk_dynamics.model import RobotModel
from uk_dynamics.model.kinematics import Workspace

# For rows that are not affine in the velocities:
_NEWTON_STEPS = 50
_SHORTEST_PART = 1e-4  # of a Newton step
_ADMITTED_RATE = 1e-6  # relative to the velocities

_PART_OF_A_ROW = 1e-6  # of the largest part: what is less is rounding
_SHOWN_ROWS = 3


class StateProjection:
    """Projects positions, then velocities; compliant rows are left alone."""

    def __init__(
        self,
        mechanism: ResolvedMechanism,
        model: RobotModel,
        workspace: Workspace,
        rows: StructuralRows,
        solver: Solver,
    ) -> None:
        self._model, self._workspace = model, workspace
        self._rows, self._solver = rows, solver
        constraints = rows.constraints
        rigid = rows.hierarchy.rigid
        # None: all rows, which spares a copy.
        held = constraints.position_rows & rigid
        self._position_rows = None if held.all() else np.flatnonzero(held)
        self._motion_rows: Indices = np.flatnonzero(constraints.motion_rows & rigid)
        self._scleronomic = not (
            mechanism.references.references
            or constraints.time_dependent
            or not constraints.position_rows.all()
        )
        self._length = mechanism.spec.model.length
        self._clusters = None if mechanism.local is None else mechanism.local.clusters
        self._reached = max(projection.REACHED, mechanism.closure_tolerance)

    def project(self, state: State, inputs: Inputs) -> State:
        """The nearest state on the constraints; see :meth:`Dynamics.project`."""
        linearize = functools.partial(self._linearize, state.t, inputs)
        try:
            q, there = project_position(
                state.q, linearize, self._model.integrate, tolerance=self._reached
            )
        except ProjectionFailedError as error:
            raise SimulationError(f"{error}{self._blamed(error.q, linearize)}", state.t) from None
        if self._scleronomic and not inputs.references:
            v = project_velocity(state.v, there, there.A @ state.v)
        else:
            v = self._project_velocity(state.t, q, state.v, inputs)
        return State(state.t, q, v)

    def _blamed(self, q: Array, linearize: Callable[[Array], tuple[Factorization, Array]]) -> str:
        """The row that is furthest off, and those that contradict it where it depends on them."""
        there, residual = linearize(q)
        chosen, names = self._position_rows, self._rows.constraints.row_names
        if chosen is not None:
            names = tuple(names[row] for row in chosen)
        worst = int(np.argmax(np.abs(residual)))
        if worst not in there.dependent:
            return f": {names[worst]}"
        A: Any = there.A
        if self._clusters is not None:  # only rows of its own cluster have anything to do with it
            joint = A.indices[A.indptr[worst]]
            A = A[:, self._clusters.members[self._clusters.cluster[joint]]].toarray()
        rows = A[there.independent]
        share = np.linalg.lstsq(rows.T, A[worst], rcond=None)[0]
        parts = np.abs(share) * np.linalg.norm(rows, axis=1)
        others = there.independent[parts > _PART_OF_A_ROW * parts.max(initial=0.0)]
        shown = ", ".join(names[row] for row in sorted(others)[:_SHOWN_ROWS])
        return f": {names[worst]} and {shown} contradict each other"

    def _linearize(self, t: float, inputs: Inputs, q: Array) -> tuple[Factorization, Array]:
        """Factorisation and residual at a configuration."""
        # the rank tolerance follows the loop-closure error; see ``rank_rule``
        self._workspace.update_positions(q)
        A, residual = self._rows.position(self._workspace, t, q, inputs)
        mass, tolerance = self._workspace.mass, self._solver.tolerance(inputs)
        chosen = self._position_rows
        if chosen is not None:
            A, residual = A[chosen], residual[chosen]
        error = largest(residual) / self._length
        if error > self._solver.rank_tolerance:
            try:
                return self._solver.factorize_part(mass, A, min(error, LOOSEST), chosen), residual
            except UndeterminedMotionError:  # a massless link needs every row that holds it
                pass
        return self._solver.factorize_part(mass, A, tolerance, chosen), residual

    def _project_velocity(self, t: float, q: Array, v: Array, inputs: Inputs) -> Array:
        """The nearest velocity on the rows that constrain velocities, in the metric of M."""
        # one step where they are affine in v, else Newton steps, shortened while they do not help
        constraints, solver = self._rows.constraints, self._solver
        tolerance = solver.tolerance(inputs)
        A, rate = self._motion_rates(t, q, v, inputs)
        for _ in range(_NEWTON_STEPS):
            mass = self._workspace.mass
            there = solver.factorize_part(mass, A, tolerance, self._motion_rows)
            target = project_velocity(v, there, rate)
            if constraints.linear_in_rates:
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
        size = 1.0 + largest(v)
        worst = int(np.argmax(np.abs(rate)))
        if abs(rate[worst]) > _ADMITTED_RATE * size:
            name = constraints.row_names[self._motion_rows[worst]]
            problem = f"no velocity was found that {name} admits; it is off by {rate[worst]:.3g}"
            raise SimulationError(problem, t)
        return v

    def _motion_rates(self, t: float, q: Array, v: Array, inputs: Inputs) -> tuple[Array, Array]:
        """A and rate of the rows that constrain velocities."""
        self._workspace.update(q, v)
        rows = self._rows.evaluate(self._workspace, t, q, v, inputs)
        return rows.A[self._motion_rows], rows.rate[self._motion_rows]


_SUDDEN = 0.1  # m/s or rad/s: a change of velocity that may come from nothing
_LARGEST = 0.5  # m or rad: errors of the coarsest steps are smaller
# m or rad: where the rank changes, projections move the shortest steps by rounding
_ROUNDING = 1e-7

#: The generated C has these from here.
STEP_CONSTANTS = {"SUDDEN": _SUDDEN, "LARGEST_CORRECTION": _LARGEST}


def jump_constants(mechanism: ResolvedMechanism) -> dict[str, float]:
    """What a mechanism adds to tell a jump from an error of integration; C has it from here.

    Where loops close to more than rounding, they move by as much when other rows hold than before.
    """
    return {"CORRECTION_ROUNDING": max(_ROUNDING, mechanism.closure_tolerance)}


def project_step(
    mechanism: ResolvedMechanism,
    dynamics: Dynamics,  # its evaluator
    start: State,  # state before the step, on the constraints
    end: State,  # state after it, as integrated
    inputs: Inputs,  # of the dynamics at the end
) -> State:
    """Project the end of a step onto the constraints, unless they jumped within the step.

    A projection that moves the mechanism further than the step did is no correction of integration
    errors: a reference or an expression has jumped, and the step knows nothing of the motion
    between. The same holds for velocities. References that arrive as samples go in steps by nature;
    of them only steps of ``_LARGEST`` are refused.

    Raises:
        SimulationError: The positions cannot be projected, or constraints jump; it names the row.
    """
    reached = dynamics.project(end, inputs)
    difference = mechanism.model.difference
    duration = end.t - start.t
    speed = largest(start.v)
    moved, sudden = np.inf, np.inf
    if not inputs.references:
        rounding = jump_constants(mechanism)["CORRECTION_ROUNDING"]
        moved = largest(difference(start.q, end.q)) + duration * (speed + _SUDDEN) + rounding
        sudden = largest(end.v - start.v) + speed + _SUDDEN
    if not largest(difference(end.q, reached.q)) <= min(moved, _LARGEST):
        raise _jump(mechanism, dynamics, start, end, inputs, rate=False)
    if not largest(reached.v - end.v) <= sudden:
        raise _jump(mechanism, dynamics, start, end, inputs, rate=True)
    return reached


def _jump(
    mechanism: ResolvedMechanism,
    dynamics: Dynamics,
    start: State,
    end: State,
    inputs: Inputs,
    *,
    rate: bool,
) -> SimulationError:
    residual = dynamics.residual(end, inputs)
    sizes = np.abs(residual.velocity if rate else residual.position) * mechanism.hierarchy.rigid
    worst = int(np.argmax(sizes))
    unit = "m/s or rad/s" if rate else "m or rad"
    off = f"{residual.names[worst]} is off by {sizes[worst]:.3g} {unit}"
    duration = end.t - start.t
    ranks = [_rank(dynamics, state, inputs) for state in (start, end)]
    if ranks[0] == ranks[1]:
        cause = "its reference or expression jumps, or is too steep for this step"
        return SimulationError(f"{off} after a step of {duration:.3g} s; {cause}", end.t)
    tolerance = mechanism.spec.solver.rank_tolerance
    reason = (
        f"{off}: near a singular configuration rows were left out as nearly redundant (rank"
        f" {min(ranks)}, then {max(ranks)}), and the motion left them; begin with velocities that"
        f" can go on, or set a smaller rank_tolerance than {tolerance:g} in the file's solver"
    )
    return SimulationError(reason, end.t)


def _rank(dynamics: Dynamics, state: State, inputs: Inputs) -> int:
    try:
        return dynamics.evaluate(state, inputs).rank
    except UkDynamicsError:
        return -1
