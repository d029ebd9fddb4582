"""Motions as a paper integrates them: the equation alone, without projection onto constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from uk_dynamics import Mechanism
from uk_dynamics.mechanism.dynamics.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.resolution.state import Inputs, State

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Motion:
    """K samples of a motion.

    Attributes:
        t: Times, (K,), in s.
        q: Configurations, (K, nq).
        v: Velocities, (K, nv).
        evaluations: Of the acceleration.
    """

    t: Array
    q: Array
    v: Array
    evaluations: int


def integrate(
    mechanism: Mechanism,
    start: State,
    times: Array,
    *,
    stabilize: bool,
    method: Literal["DOP853", "RK45"] = "DOP853",
    rtol: float = 1e-10,
    atol: float = 1e-11,
) -> Motion:
    """Integrate the equation of motion and nothing else.

    Args:
        mechanism: One whose positions are a vector space (nq = nv).
        start: Where it starts, on the constraints or not.
        times: Of the samples, the first one the start's, in s.
        stabilize: Whether b contains the stabilisation of the mechanism file.
        method: Of SciPy's ``solve_ivp``.
        rtol: Relative tolerance.
        atol: Absolute tolerance.
    """
    from scipy.integrate import solve_ivp

    dynamics = InterpretedDynamics(mechanism)
    inputs = Inputs(stabilize=stabilize)
    n = mechanism.model.nv

    def rate(t: float, y: Array) -> Array:
        qdd = dynamics.evaluate(State(t, y[:n], y[n:]), inputs).qdd
        return np.concatenate((y[n:], qdd))

    span = (float(times[0]), float(times[-1]))
    y0 = np.concatenate((start.q, start.v))
    found = solve_ivp(rate, span, y0, method=method, t_eval=times, rtol=rtol, atol=atol)
    return Motion(found.t, found.y[:n].T, found.y[n:].T, int(found.nfev))
