# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motions as a paper integrates them: the equation alone, without projection onto constraints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from uk_dynamics import Mechanism
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, State


@dataclass(frozen=True)
class Motion:
    """K samples of a motion."""

    t: Array  # times, (K,), in s
    q: Array  # configurations, (K, nq)
    v: Array  # velocities, (K, nv)
    evaluations: int


def integrate(
    mechanism: Mechanism,
    start: State,
    times: Array,  # of the samples, the first one the start's, in s
    *,
    stabilize: bool,
    method: Literal["DOP853", "RK45"] = "DOP853",
    rtol: float = 1e-10,
    atol: float = 1e-11,
) -> Motion:
    """Integrate the equation of motion and nothing else."""
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
