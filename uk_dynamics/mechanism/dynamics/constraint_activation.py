# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Switching constraints while the machine moves: a gripper closes, a foot lands.

Switching on is plastic: velocities jump to the nearest ones, in the metric of M, that the
constraints allow, and the kinetic energy of the jump is lost.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from uk_dynamics.arrays import largest
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.exceptions import ActivationError, SimulationError
from uk_dynamics.mechanism.dynamics.dynamics import Dynamics
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import ActiveConstraints, Array, Inputs, State
from uk_dynamics.model.kinematics import Workspace

# m or rad: further away a constraint with on_activation: require is not where it belongs.
CLOSE = 1e-3
_CAPTURED = 1e-14  # m or rad
_ROUNDING = 1e-11


@dataclass(frozen=True)
class Switched:
    """What switching did.

    Attributes:
        state: After it; the velocities may have jumped.
        active: Switchable constraints that are on now, for ``Inputs.active``.
        energy_lost: Kinetic energy that the jump took, in J; negative where moving constraints
            push.
    """

    state: State
    active: ActiveConstraints
    energy_lost: float


def switch(
    mechanism: ResolvedMechanism,
    dynamics: Dynamics,
    state: State,
    changes: Mapping[str, bool],
    inputs: Inputs,
) -> Switched:
    """Switch constraints on or off at one instant; see :meth:`Mechanism.switch`."""
    hierarchy = mechanism.hierarchy
    hierarchy.check(frozenset(changes))
    before = inputs.active or hierarchy.initial
    added = sorted({name for name, on in changes.items() if on} - before.names)
    names = (before.names | set(added)) - {name for name, on in changes.items() if not on}
    captured = {name: value for name, value in before.captured.items() if name in names}
    for name in added:
        if hierarchy.switchable[name].on_activation == "capture":
            captured[name] = present_values(mechanism, state, name)
            continue
        workspace = mechanism.model.workspace()
        workspace.update_positions(state.q)
        error = largest(_residual(mechanism, workspace, state, name, inputs.references or {}))
        if not error <= CLOSE * mechanism.size:
            raise ActivationError(name, error, CLOSE * mechanism.size)
    active = ActiveConstraints(frozenset(names), captured, features=before.features)
    if not added:
        return Switched(state, active, 0.0)
    after = dynamics.project(state, Inputs(references=inputs.references, active=active))
    lost = (
        dynamics.energy(State(state.t, after.q, state.v)).kinetic - dynamics.energy(after).kinetic
    )
    return Switched(after, active, lost)


def present_values(mechanism: ResolvedMechanism, state: State, name: str) -> Array:
    """What the rows of a constraint have now, in the units of their reference, (rows,)."""
    constraints = mechanism.constraints
    rows = constraints.slices[name]
    unit = constraints.position_rows[rows] / constraints.reference_scale[rows]

    workspace = mechanism.model.workspace()
    workspace.update_positions(state.q)

    def away(value: Array) -> Array:
        live = {name: ReferenceSample.at_rest(value)}
        return _residual(mechanism, workspace, state, name, live) * unit

    value = away(np.zeros(len(unit)))
    if np.abs(away(value)).max(initial=0.0) > _CAPTURED:
        from scipy.optimize import root  # takes long to import

        # Some axes of a rotation in space do not add up.
        value = root(away, value, tol=_CAPTURED).x
        if np.abs(away(value)).max() > _ROUNDING:
            raise SimulationError(f'the pose of "{name}" cannot be captured', state.t)
    return value


def _residual(
    mechanism: ResolvedMechanism,
    workspace: Workspace,
    state: State,
    name: str,
    live: Mapping[str, ReferenceSample],
) -> Array:
    """Residual of the rows of one constraint, on or off, (rows,), in m or rad."""
    reference = mechanism.references.sample(state.t, live)
    residual = mechanism.constraints.position(workspace, state.t, state.q, reference)[1]
    return residual[mechanism.constraints.slices[name]]
