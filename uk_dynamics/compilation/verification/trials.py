# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""States at which libraries are tried: on the constraints, and off them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism.dynamics import Dynamics
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism, State

# How far loops are open, in rad or m: states on the constraints, near them, and one where stops and
# other forces act that a guess does not reach.
_APART = (0.0, 0.0, 0.0, 0.05, 0.05, 0.7)
_NEAR = 1e-12  # relative change of an input that rounding may amount to


class Trial(NamedTuple):
    """Inputs of an evaluation."""

    state: State
    tau: Array  # (nv,), in N or N·m

    def nearby(self, mechanism: ResolvedMechanism) -> Trial:
        """Inputs that differ by about as much as rounding does in the course of an evaluation."""
        t, q, v = self.state.t, self.state.q, self.state.v
        rng = np.random.default_rng(1)
        step = _NEAR * (1.0 + np.abs(v)) * rng.uniform(-1.0, 1.0, len(v))
        moved = mechanism.model.integrate(q, step)
        return Trial(State(t, moved, v + step), self.tau * (1.0 + _NEAR))


def trials(mechanism: ResolvedMechanism, reference: Dynamics) -> list[Trial]:
    """Give the same states every time: assembled and moving, then with open loops.

    Args:
        mechanism: What moves.
        reference: Its interpreted evaluator, which assembles it.
    """
    model = mechanism.model
    rng = np.random.default_rng(20)
    found = []
    for k, apart in enumerate(_APART):
        t = 0.37 * k
        # assembled from near the guess, where the mechanism is known to close
        step = rng.uniform(-1.0, 1.0, model.nv)
        v, tau = rng.standard_normal((2, model.nv))
        state = State(t, model.integrate(mechanism.initial_guess, 0.02 * k * step), v)
        try:
            state = reference.project(state)
        except UkDynamicsError:
            if not apart:
                continue
        q = model.integrate(state.q, apart * step)
        found.append(Trial(State(t, q, state.v + apart * v), tau))
    return found
