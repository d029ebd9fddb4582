# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Many trajectories of one mechanism at fixed steps, one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from uk_dynamics.exceptions import InputError, SimulationError, UkDynamicsError
from uk_dynamics.mechanism.dynamics.arguments import METHODS
from uk_dynamics.mechanism.dynamics.dynamics import Dynamics
from uk_dynamics.mechanism.dynamics.state_projection import project_step
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array, Inputs, Plan, Rollout, State, Stopped


def roll_each(
    mechanism: ResolvedMechanism, dynamics: Dynamics, given: Plan, inputs: Inputs
) -> Rollout:
    """One trajectory after the other.

    Raises:
        InputError: The mechanism has contacts, stops or ropes.
    """
    if mechanism.one_sided:
        raise InputError(
            'rollouts do not know contacts, stops and ropes; take simulate(..., method="moreau")',
            place=mechanism.one_sided[0].name,
        )
    count, instants = len(given.q), given.instants
    q = np.full((count, len(instants), given.q.shape[1]), np.nan)
    v = np.full((count, len(instants), given.v.shape[1]), np.nan)
    stopped = {}
    for k in range(count):
        walk = _walk(mechanism, dynamics, given, inputs, k)
        for step in range(given.steps + 1):
            t = given.t + step * given.dt
            try:
                state = next(walk)
            except UkDynamicsError as error:
                stopped[k] = Stopped(t, str(error))
                break
            if step % given.every == 0:
                q[k, step // given.every], v[k, step // given.every] = state.q, state.v
    return Rollout(instants, q, v, stopped)


def _walk(
    mechanism: ResolvedMechanism, dynamics: Dynamics, given: Plan, inputs: Inputs, k: int
) -> Iterator[State]:
    """The states of trajectory k after every step."""
    one_step = METHODS[given.method].step

    def settled(step: int, q: Array, v: Array, start: State | None = None) -> State:
        t = given.t + step * given.dt
        if not (np.isfinite(q).all() and np.isfinite(v).all()):
            raise SimulationError("the motion has become infinite; take smaller steps", t)
        state = State(t, q, v)
        if not given.project:
            return state
        if start is None:
            return dynamics.project(state, inputs)
        return project_step(mechanism, dynamics, start, state, inputs)

    state = settled(0, given.q[k], given.v[k])
    yield state
    for step in range(given.steps):
        acting = replace(inputs, tau=given.tau_at(k, step), stabilize=not given.project)

        def acceleration(t: float, q: Array, v: Array, acting: Inputs = acting) -> Array:
            return dynamics.evaluate(State(t, q, v), acting).qdd

        q, v = one_step(dynamics.model, acceleration, state.t, state.q, state.v, given.dt)
        state = settled(step + 1, q, v, state)
        yield state
