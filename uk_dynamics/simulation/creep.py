"""Why a method with error control creeps: some motion decays faster than its steps."""

from __future__ import annotations

import numpy as np

from uk_dynamics.core.integration import motion_jacobian
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.simulation.plant import Plant

_MANY = 10_000  # steps to go: what takes fewer ends soon
_STABLE = 1.0  # step times rate: explicit methods creep at 2.5 to 6, fast ones stay below


def creeping(plant: Plant, method: str, state: State, step: float, end: float) -> str:
    """What keeps an explicit method at short steps, in words; empty: nothing does, or not for long.

    Args:
        plant: What moves.
        method: Its name.
        state: About where it is.
        step: That it takes now, in s.
        end: Of the way, in s.
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
    joint = model.velocity_names[int(np.argmax(np.abs(modes[model.nv :, fastest])))]
    left = float(f"{(end - state.t) / step:.1g}")
    return (
        f"{method} creeps in steps of {step:.2g} s, about {left:,.0f} of them to go: the motion of"
        f" {joint} decays within {1.0 / rate:.2g} s, which an explicit method must resolve; less"
        " damping or friction there, or the method Radau (--method Radau), is quicker"
    )
