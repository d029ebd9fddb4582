# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Why a method with error control creeps: some motion decays faster than its steps."""

import numpy as np

from uk_dynamics.core.integration import motion_jacobian
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.simulation.plant import Plant

_MANY = 10_000  # steps to go: what takes fewer ends soon
_PART = 1e-6  # of m/s or rad/s
_STABLE = 1.0  # step times rate: explicit methods creep at 2.5 to 6, fast ones stay below


def creeping(plant: Plant, method: str, state: State, step: float, end: float) -> str:
    """What keeps an explicit method at short steps, in words; empty: nothing does, or not for long.

    At about this state, with a step that it takes now, until the end of the way, both in s.
    """
    if not (step > 0.0 and end - state.t > _MANY * step):
        return ""
    model = plant.model
    xi = np.zeros(model.nv)
    jacobian = motion_jacobian(model, plant.accelerations, state.t, state.q, xi, state.v)
    if not np.isfinite(jacobian).all():
        return ""
    rates, modes = np.linalg.eig(jacobian)
    fastest = int(np.argmax(-rates.real))
    rate = -float(rates[fastest].real)
    if not (rate * step > _STABLE and rate > abs(rates[fastest].imag)):
        return ""
    joint = _damped(plant, state, modes[model.nv :, fastest].real)
    left = float(f"{(end - state.t) / step:.1g}")
    return (
        f"{method} creeps in steps of {step:.2g} s, about {left:,.0f} of them to go: the motion of"
        f" {joint} decays within {1.0 / rate:.2g} s, which an explicit method must resolve; less"
        " damping or friction there, or the method Radau (--method Radau), is quicker"
    )


def _damped(plant: Plant, state: State, mode: Array) -> str:
    """The joint whose forces take most from a motion; without any, the one that moves most.

    In a loop all joints of a mode move, and only one of them may have the damper.
    """
    size = float(np.abs(mode).max(initial=0.0))
    if size == 0.0:
        return plant.model.velocity_names[0]
    way = mode / size
    dynamics = InterpretedDynamics(plant.mechanism)
    forces = [
        dynamics.terms(State(state.t, state.q, v), plant.inputs).F.copy()
        for v in (state.v - _PART * way, state.v + _PART * way)
    ]
    power = way * (forces[1] - forces[0])
    cause = np.argmin(power) if power.min() < 0.0 else np.argmax(np.abs(way))
    return plant.model.velocity_names[int(cause)]
