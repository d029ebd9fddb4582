# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Many trajectories of one mechanism at fixed steps: checked inputs, and one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.core.integration import rk4_step, semi_implicit_euler_step
from uk_dynamics.exceptions import InputError, SimulationError, StateError, UkDynamicsError
from uk_dynamics.mechanism.dynamics.dynamics import Dynamics
from uk_dynamics.mechanism.dynamics.step_projection import project_step
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array, Inputs, Plan, Rollout, State, Stopped

METHODS: dict[str, Callable[..., tuple[Array, Array]]] = {
    "rk4": rk4_step,
    "semi_implicit_euler": semi_implicit_euler_step,
}


def plan(
    nq: int,
    nv: int,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None,
    *,
    steps: int,
    dt: float,
    every: int = 1,
    method: str = "rk4",
    project: bool = True,
    t: float = 0.0,
) -> Plan:
    """Check what a rollout is asked for; see :meth:`Dynamics.rollout`.

    Raises:
        StateError: Wrong shapes.
        InputError: Numbers that make no sense, or an unknown method.
    """
    for name, value in (("steps", steps), ("every", every)):
        if value != int(value) or value < 1:
            raise InputError(f"expected a whole number of at least 1, found {value}", place=name)
    if steps % every:
        raise InputError(f"expected a divisor of the {steps} steps, found {every}", place="every")
    if not (np.isfinite(dt) and dt > 0.0):
        raise InputError(f"expected a positive number, found {dt}", place="dt")
    if method not in METHODS:
        raise InputError(f'no method "{method}"; there are: {", ".join(METHODS)}', place="method")
    positions = np.ascontiguousarray(np.atleast_2d(np.asarray(q, dtype=float)))
    velocities = np.ascontiguousarray(np.atleast_2d(np.asarray(v, dtype=float)))
    count = len(positions)
    for name, found, size in (("q", positions, nq), ("v", velocities, nv)):
        if found.shape != (count, size):
            raise StateError(f"expected shape ({count}, {size}), found {found.shape}", place=name)
    forces = _forces(tau, count, steps, nv)
    return Plan(positions, velocities, forces, steps, dt, every, method, project, t)


def roll_each(
    mechanism: ResolvedMechanism, dynamics: Dynamics, given: Plan, inputs: Inputs
) -> Rollout:
    """One trajectory after the other."""
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
    one_step = METHODS[given.method]

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

        q, v = one_step(dynamics.space, acceleration, state.t, state.q, state.v, given.dt)
        state = settled(step + 1, q, v, state)
        yield state


def _forces(tau: ArrayLike | None, count: int, steps: int, nv: int) -> Array:
    given = np.zeros(nv) if tau is None else np.asarray(tau, dtype=float)
    forces = given
    if forces.ndim == 1:
        forces = forces[None, None]
    elif forces.ndim == 2:
        forces = forces[:, None]
    fits = forces.ndim == 3 and forces.shape[2] == nv
    if not (fits and forces.shape[0] in (1, count) and forces.shape[1] in (1, steps)):
        raise StateError(
            f"expected shape ({nv},), ({count}, {nv}) or ({count}, {steps}, {nv}),"
            f" found {given.shape}",
            place="tau",
        )
    return np.ascontiguousarray(forces)
