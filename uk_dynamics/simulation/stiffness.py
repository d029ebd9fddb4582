# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motion that decays faster than steps: error control creeps, fixed steps chatter."""

import numpy as np

from uk_dynamics.core.integration import motion_jacobian
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.simulation.plant import Plant

_MANY = 10_000  # steps to go: what takes fewer ends soon
_PART = 1e-6  # of m/s or rad/s
_STABLE = 1.0  # step times rate: explicit methods creep at 2.5 to 6, fast ones stay below
_CHATTERS = 2.0  # the same: friction of the velocity before a step turns it back for ever


def creeping(plant: Plant, method: str, state: State, step: float, end: float) -> str:
    """What keeps an explicit method at short steps, in words; empty: nothing does, or not for long.

    At about this state, with a step that it takes now, until the end of the way, both in s.
    """
    if not (step > 0.0 and end - state.t > _MANY * step):
        return ""
    found = _fastest(plant, state)
    if found is None or not found[0] * step > _STABLE:
        return ""
    rate, joint = found
    left = float(f"{(end - state.t) / step:.1g}")
    return (
        f"{method} creeps in steps of {step:.2g} s, about {left:,.0f} of them to go: the motion of"
        f" {joint} decays within {1.0 / rate:.2g} s, which an explicit method must resolve; less"
        " damping or friction there, or the method Radau (--method Radau), is quicker"
    )


def creeps(plant: Plant, state: State, step: float) -> bool:
    """Whether motion at about this state decays so fast that an explicit method steps so, in s."""
    found = _fastest(plant, state)
    return found is not None and found[0] * step > _STABLE


def chattering(plant: Plant, state: State, step: float) -> str:
    """What friction reverses in each of the fixed steps over contacts, in words, at rest.

    Friction is steepest there, and steps over contacts know that of the velocity before them.
    """
    if not (plant.mechanism.model.friction.any() or plant.mechanism.friction.dry):
        return ""
    found = _fastest(plant, State(state.t, state.q, np.zeros_like(state.v)))
    if found is None or not found[0] * step > _CHATTERS:
        return ""
    return (
        f"friction of {found[1]} is too steep for steps of {step:.2g} s: instead of stopping, it"
        f" may turn back and forth; give it stiction, or steps below {_CHATTERS / found[0]:.1g} s"
    )


def _fastest(plant: Plant, state: State) -> tuple[float, str] | None:
    """Rate of the motion that decays fastest, in 1/s, and the joint that it is of."""
    model = plant.model
    xi = np.zeros(model.nv)
    jacobian = motion_jacobian(model, plant.accelerations, state.t, state.q, xi, state.v)
    if not np.isfinite(jacobian).all():
        return None
    rates, modes = np.linalg.eig(jacobian)
    fastest = int(np.argmax(-rates.real))
    rate = -float(rates[fastest].real)
    if not rate > abs(rates[fastest].imag):
        return None
    return rate, _damped(plant, state, modes[model.nv :, fastest].real)


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
