# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Batches and rollouts on a GPU."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from uk_dynamics.compilation.gpu import Device, GpuDynamics
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs
from uk_dynamics.mechanism_class import Mechanism

STATES = 2**20
_ROUNDS = 10
_STEPS, _STEP = 100, 1e-3  # Runge-Kutta steps of a rollout, and s each
_STAGES = 4  # evaluations in such a step


@dataclass(frozen=True)
class OnDevice:
    """What was measured.

    Attributes:
        mechanism: Its name.
        device: As it names itself.
        seconds: Of an evaluation, from arrays of NumPy and back.
        step_seconds: Of an evaluation within rollouts without projection, whose states stay on the
            device; None: joints have several coordinates.
        error: Largest difference from the interpreted acceleration, relative to the largest.
    """

    mechanism: str
    device: str
    seconds: float
    step_seconds: float | None
    error: float


def on_device(
    mechanism: Mechanism,
    q: Array,
    v: Array,
    expected: Array,
    *,
    device: Device | None = None,
    count: int = STATES,
) -> OnDevice | None:
    """Measure, or None where there is no device.

    Args:
        mechanism: What to evaluate.
        q: States, (K, nq).
        v: (K, nv).
        expected: Accelerations at the first of them, without stabilisation.
        device: Where; None: the GPU.
        count: States to measure with, made of those given.
    """
    try:
        dynamics = GpuDynamics(mechanism, device)
    except InputError:
        return None
    q, v = np.resize(q, (count, q.shape[1])), np.resize(v, (count, v.shape[1]))
    inputs = Inputs(stabilize=False)
    found = dynamics.evaluate_batch(q, v, inputs=inputs, forces=False).qdd[: len(expected)]
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    whole = _median(lambda: dynamics.evaluate_batch(q, v, inputs=inputs, forces=False))
    step = None
    if mechanism.model.nq == mechanism.model.nv:
        took = _median(
            lambda: dynamics.rollout(
                q, v, steps=_STEPS, dt=_STEP, every=_STEPS, method="rk4", project=False
            )
        )
        step = took / (_STAGES * _STEPS * count)
    return OnDevice(mechanism.name, dynamics.device.name, whole / count, step, error)


def _median(function: Callable[[], object]) -> float:
    """Of the time on the clock: what a GPU does takes no time of the processor."""
    function()
    times = []
    for _ in range(_ROUNDS):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return float(np.median(times))


def device(mechanism: Mechanism, states: int, on: Device | None = None) -> OnDevice | None:
    """Measure with so many states; None without a GPU."""
    some = mechanism.start()
    generator = np.random.default_rng(0)
    v = 0.1 * generator.standard_normal((states, mechanism.model.nv))
    interpreted = InterpretedDynamics(mechanism)
    q = np.tile(some.q, (states, 1))
    inputs = Inputs(stabilize=False)
    expected = interpreted.evaluate_batch(q[:8], v[:8], inputs=inputs).qdd
    return on_device(mechanism, q, v, expected, device=on, count=states)
