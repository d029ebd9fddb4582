"""Batches in JAX on a GPU: time of a state, and how near the card's memory rate that is."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from uk_dynamics.compilation.jax import JaxDynamics, double_precision, jax_modules
from uk_dynamics.mechanism import Mechanism
from uk_dynamics.mechanism.resolution import Array, Inputs

_STATES = 2**17
_ROUNDS = 10
_COPIED = 2**27  # float64 numbers, more than any cache holds


@dataclass(frozen=True)
class OnDevice:
    """What was measured."""

    device: str  # as JAX names it
    seconds: float  # of a state, from arrays of NumPy and back
    device_seconds: float  # of a state whose arrays are on the device already
    # of the rate at which the device copies its memory, by the values that the terms read and write
    share: float
    error: float  # largest difference from the interpreted acceleration, relative to the largest


def on_device(
    mechanism: Mechanism,
    q: Array,  # states, (K, nq)
    v: Array,  # (K, nv)
    expected: Array,
    *,
    platform: str = "gpu",
    count: int = _STATES,  # states to measure with; fewer where they need too much memory
) -> OnDevice | None:
    """Measure, or None where JAX or such a device is missing."""
    if importlib.util.find_spec("jax") is None:
        return None
    jax, _ = jax_modules()
    if jax.default_backend() != platform:
        return None
    dynamics = JaxDynamics(mechanism)
    count = min(dynamics.block, count)
    q, v = np.resize(q, (count, q.shape[1])), np.resize(v, (count, v.shape[1]))
    inputs, tau = Inputs(stabilize=False), np.zeros_like(v)
    found = dynamics.evaluate_batch(q, v, inputs=inputs, forces=False).qdd[: len(expected)]
    whole = _median(lambda: dynamics.evaluate_batch(q, v, inputs=inputs, forces=False))
    with double_precision():
        arrays = [jax.device_put(x) for x in (q, v, tau)]
        accelerations = jax.jit(lambda *x: dynamics.accelerations(*x, stabilize=False))
        alone = _median(lambda: jax.block_until_ready(accelerations(*arrays)))
        numbers = jax.device_put(np.ones(_COPIED if platform == "gpu" else count))
        copy = jax.jit(lambda x: x + 1.0)
        copied = _median(lambda: jax.block_until_ready(copy(numbers)))
    rate = 2.0 * numbers.nbytes / copied
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    share = dynamics.tape.traffic * count / alone / rate
    return OnDevice(dynamics.device, whole / count, alone / count, share, error)


def _median(function: Callable[[], object]) -> float:
    """Of the time on the clock: what a GPU does takes no time of the processor."""
    function()
    times = []
    for _ in range(_ROUNDS):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return float(np.median(times))
