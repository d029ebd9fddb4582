# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Projection of the end of a time step, judged by its size against the step."""

from __future__ import annotations

import numpy as np

from uk_dynamics.exceptions import SimulationError, UkDynamicsError
from uk_dynamics.mechanism.dynamics.dynamics import Dynamics
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array, Inputs, State

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
    return {
        "CORRECTION_ROUNDING": max(_ROUNDING, mechanism.closure_tolerance),
    }


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
    speed = _largest(start.v)
    moved, sudden = np.inf, np.inf
    if not inputs.references:
        rounding = jump_constants(mechanism)["CORRECTION_ROUNDING"]
        moved = _largest(difference(start.q, end.q)) + duration * (speed + _SUDDEN) + rounding
        sudden = _largest(end.v - start.v) + speed + _SUDDEN
    if not _largest(difference(end.q, reached.q)) <= min(moved, _LARGEST):
        raise _jump(mechanism, dynamics, start, end, inputs, rate=False)
    if not _largest(reached.v - end.v) <= sudden:
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


def _largest(values: Array) -> float:
    return float(np.abs(values).max(initial=0.0))
