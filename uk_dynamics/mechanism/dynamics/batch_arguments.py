# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Arguments of batches and rollouts, checked."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.core.integration import rk4_step, semi_implicit_euler_step
from uk_dynamics.exceptions import InputError, StateError
from uk_dynamics.mechanism.resolution.state import Array, Inputs, Plan, States

METHODS: dict[str, Callable[..., tuple[Array, Array]]] = {
    "rk4": rk4_step,
    "semi_implicit_euler": semi_implicit_euler_step,
}


def without_forces(inputs: Inputs) -> Inputs:
    """Inputs that many states share, checked.

    Raises:
        InputError: They hold forces, which are an argument of their own.
    """
    if inputs.tau is not None:
        raise InputError("give generalized forces as tau, not in the inputs", place="inputs.tau")
    return inputs


def states(
    nq: int,  # positions
    nv: int,  # velocities
    t: ArrayLike,  # one time, or (K,), in s
    q: ArrayLike,  # (K, nq)
    v: ArrayLike,  # (K, nv)
    tau: ArrayLike | None,  # (K, nv), (nv,) for all states, or None
) -> States:
    """Arrays of one batch as whole C-ordered floats.

    Raises:
        StateError: Wrong shapes.
    """
    positions = np.ascontiguousarray(q, dtype=float)
    count = len(positions) if positions.ndim else 0
    velocities = np.ascontiguousarray(v, dtype=float)
    times = np.atleast_1d(np.asarray(t, dtype=float))
    forces = None
    if tau is not None:
        forces = np.asarray(tau, dtype=float)
        if forces.shape == (nv,):
            forces = np.broadcast_to(forces, (count, nv))
        forces = np.ascontiguousarray(forces)
    expected = {"q": (positions, (count, nq)), "v": (velocities, (count, nv))}
    if forces is not None:
        expected["tau"] = (forces, (count, nv))
    for name, (found, shape) in expected.items():
        if found.shape != shape:
            raise StateError(f"expected shape {shape}, found {found.shape}", place=name)
    if times.shape not in ((1,), (count,)):
        raise StateError(f"expected shape ({count},), found {times.shape}", place="t")
    return States(times, positions, velocities, forces)


def plan(
    nq: int,
    nv: int,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike | None,
    steps: int,
    dt: float,
    every: int,
    method: str,
    project: bool,
    t: float,
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
