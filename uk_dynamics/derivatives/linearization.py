# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Linearisation of a mechanism around a motion, in coordinates that are independent there."""

from collections.abc import Sequence

import numpy as np

from uk_dynamics.core.linalg import skew
from uk_dynamics.derivatives.motion_derivatives import MotionDerivatives
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.analysis import LinearSystem
from uk_dynamics.mechanism.kinematics import choose
from uk_dynamics.mechanism.resolution import Array, Inputs, ResolvedMechanism, State


def linearize(
    mechanism: ResolvedMechanism,
    state: State,
    inputs: Inputs | None = None,
    *,
    coordinates: Sequence[str] | None = None,
    derivatives: MotionDerivatives | None = None,
) -> LinearSystem:
    """Linearise around a state.

    Args:
        mechanism: What to linearise.
        state: With closed loops and velocities in agreement with them.
        inputs: What acts on it; None for nothing.
        coordinates: Names of the velocity coordinates that are to be the state; None: those by
            which the motion is determined best.
        derivatives: Of the mechanism, where there are some already.

    Raises:
        InputError: The motion has no derivatives here, because the rank of the constraints is
            about to change; or the coordinates do not determine it.
        UnknownNameError: A coordinate does not exist.
    """
    found = (derivatives or MotionDerivatives(mechanism)).at(state, inputs)
    if not found.exist:
        rows = ", ".join(mechanism.row_names[r] for r in found.offending)
        raise InputError(
            f"the rank of the constraints changes here, and the motion has no derivatives: {rows}"
            if rows
            else "the constraints contradict each other here",
            place=mechanism.name,
        )
    nv = mechanism.model.nv
    names = mechanism.model.velocity_names
    allowed = choose(found.motions[:nv], names, coordinates)
    still = ~found.motions[:nv].any(axis=0)  # motions that change velocities alone
    moving = choose(found.motions[nv:, still], names, coordinates)
    chosen = [*allowed, *(nv + k for k in moving)]
    motion = found.motions @ np.linalg.inv(found.motions[chosen])
    rate = motion[nv:] - _turning(mechanism, state.v) @ motion[:nv]
    acceleration = found.acceleration
    qdd = acceleration.q @ motion[:nv] + acceleration.v @ motion[nv:]
    motors = mechanism.actuators
    B = np.vstack(
        [np.zeros((len(allowed), len(motors))), (acceleration.tau @ motors.matrix)[moving]]
    )
    return LinearSystem(
        A=np.vstack([rate[allowed], qdd[moving]]),
        B=B,
        C=motion[:nv],
        D=np.zeros((nv, len(motors))),
        drift=np.concatenate([state.v[allowed], found.acceleration.value[moving]]),
        states=(*(names[k] for k in allowed), *(f"{names[k]}.rate" for k in moving)),
        inputs=motors.names,
        outputs=names,
        motion=motion,
    )


def linearize_along(
    mechanism: ResolvedMechanism,
    states: Sequence[State],
    efforts: Array | None = None,
    *,
    coordinates: Sequence[str] | None = None,
) -> tuple[LinearSystem, ...]:
    """Linearise at each state of a motion, in the same coordinates.

    x and u are deviations from the motion: ẋ = A x + B u, without the drift. ``discrete(period)``
    of each leads from its sample to the next, up to terms of the order of the period squared.

    Args:
        mechanism: What moves.
        states: Samples of the motion, K of them.
        efforts: Of the motors at each, (K, motors); None: none.
        coordinates: As of :func:`linearize`; None: those that are best at the first state.

    Raises:
        InputError: As of :func:`linearize`, or another number of efforts.
        UnknownNameError: A coordinate does not exist.
    """
    if efforts is not None and len(efforts) != len(states):
        raise InputError(
            f"expected efforts for {len(states)} states, found {len(efforts)}", place="efforts"
        )
    evaluator, found = MotionDerivatives(mechanism), []
    for k, state in enumerate(states):
        inputs = mechanism.inputs(efforts=None if efforts is None else efforts[k])
        system = linearize(mechanism, state, inputs, coordinates=coordinates, derivatives=evaluator)
        if coordinates is None:
            coordinates = [name for name in system.states if not name.endswith(".rate")]
        found.append(system)
    return tuple(found)


def _turning(mechanism: ResolvedMechanism, v: Array) -> Array:
    """Change of a deviation that is seen from a frame which moves with it, (nv, nv)."""
    # positions of joints with several freedoms deviate in the moving frame: ξ̇ = δv − v × ξ
    nv = len(v)
    whole = np.zeros((nv, nv))
    for body in mechanism.model.bodies:
        k = body.velocity
        if body.kind == "floating":
            linear, angular = skew(v[k : k + 3]), skew(v[k + 3 : k + 6])
            whole[k : k + 3, k : k + 3] = angular
            whole[k : k + 3, k + 3 : k + 6] = linear
            whole[k + 3 : k + 6, k + 3 : k + 6] = angular
        elif body.kind == "planar":
            vx, vy, w = v[k : k + 3]
            whole[k : k + 3, k : k + 3] = [[0.0, -w, vy], [w, 0.0, -vx], [0.0, 0.0, 0.0]]
    return whole
