# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The servo paper's recipe, to the letter: the loop's force is found without motors, then kept.

Step 1 of its procedure computes Q^c from the loop alone, (14), step 4 puts it into a, and step 5
adds B u: but motors change the force that keeps a loop closed. With the force frozen at u = 0 the
task holds and the loop does not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from uk_dynamics_studies.papers.servo import chain
from uk_dynamics_studies.papers.servo.chain import Array


class Recipe(NamedTuple):
    """What the recipe gives at one state."""

    torques: Array  # u of (71), (6,), in N·m
    accelerations: Array  # what follows from them and the frozen force, (5,), in rad/s²


def recipe(angles: Array, rates: Array, t: float, frequency: float = 0.0) -> Recipe:
    """The five steps of section II at link angles and rates, (5,); α = β = frequency, rad/s."""
    M, bias = chain.terms(angles, rates)
    loop, b_loop = chain.loop_rows(angles, rates)
    task, b_task = chain.task_rows(angles, rates, t)
    if frequency:
        missed = chain.load_position(angles) - [1.5, 0.5 * (1.0 - np.cos(t)), 0.0]
        missed_rate = task @ rates - [0.0, 0.5 * np.sin(t), 0.0]
        b_loop -= 2.0 * frequency * (loop @ rates) + frequency**2 * chain.closure_error(angles)
        b_task -= 2.0 * frequency * missed_rate + frequency**2 * missed
    values, vectors = np.linalg.eigh(M)
    half = (vectors * np.sqrt(values)) @ vectors.T  # M^{1/2}
    inverse_half = (vectors / np.sqrt(values)) @ vectors.T
    Q = -bias
    Q_c = half @ np.linalg.pinv(loop @ inverse_half) @ (b_loop - loop @ np.linalg.solve(M, Q))
    C, B_bar, a = task @ inverse_half, inverse_half @ chain.B, inverse_half @ (Q + Q_c)
    torques = np.linalg.pinv(C @ B_bar) @ (b_task - C @ a)
    return Recipe(torques, np.linalg.solve(M, Q + Q_c + chain.B @ torques))


class Followed(NamedTuple):
    """A motion of the open chain under the recipe."""

    t: Array  # times, (K,), in s
    closure_errors: Array  # how far the loop is open, (K,), in m
    torques: Array  # (K, 6), in N·m


def follow(duration: float, frequency: float, step: float = 1e-3) -> Followed:
    """Follow the recipe with RK4, until the loop is open by more than a link's length."""
    start = chain.exact_motion(0.0)
    state = np.concatenate((start.angles, start.rates))
    times: Array = np.linspace(0.0, duration, round(duration / step) + 1)
    step = float(times[1])
    closure_errors: list[float] = []
    torques: list[Array] = []

    def rate(t: float, x: Array) -> Array:
        found = recipe(x[: chain.LINKS], x[chain.LINKS :], t, frequency)
        return np.concatenate((x[chain.LINKS :], found.accelerations))

    for t in times:
        closure_errors.append(float(np.linalg.norm(chain.closure_error(state[: chain.LINKS]))))
        torques.append(recipe(state[: chain.LINKS], state[chain.LINKS :], t, frequency).torques)
        if closure_errors[-1] > chain.LENGTH:
            break
        k1 = rate(t, state)
        k2 = rate(t + step / 2.0, state + step / 2.0 * k1)
        k3 = rate(t + step / 2.0, state + step / 2.0 * k2)
        k4 = rate(t + step, state + step * k3)
        state = state + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return Followed(times[: len(closure_errors)], np.array(closure_errors), np.array(torques))
