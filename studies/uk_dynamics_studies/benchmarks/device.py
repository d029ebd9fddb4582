# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""JAX on a GPU: evaluations, closed-loop steps, and how near the card's memory rate they are."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from uk_dynamics.compilation.jax import JaxDynamics, double_precision, jax_modules
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs
from uk_dynamics.mechanism_class import Mechanism

_STATES = 2**17
_ROUNDS = 10
_STEPS, _STEP = 10, 1e-3  # closed-loop steps in a call, and s each
_FREQUENCY = 1.0  # Hz, of the control in these
_COPIED = 2**27  # float64 numbers, more than any cache holds


@dataclass(frozen=True)
class OnDevice:
    """What was measured."""

    mechanism: str
    device: str  # as JAX names it
    seconds: float  # of an evaluation, from arrays of NumPy and back
    device_seconds: float  # of one whose arrays are on the device already
    # of a step under control, without transfers; None: joints have several coordinates
    step_seconds: float | None
    # of the rate at which the device copies its memory, by the values that the terms read and write
    share: float
    error: float  # largest difference from the interpreted acceleration, relative to the largest


def on_device(
    mechanism: Mechanism,
    q: Array,  # states, (K, nq)
    v: Array,  # (K, nv)
    expected: Array,
    *,
    platform: str = "gpu",  # empty: whatever JAX has
    count: int = _STATES,  # states to measure with; fewer where they need too much memory
) -> OnDevice | None:
    """Measure, or None where JAX or such a device is missing."""
    if importlib.util.find_spec("jax") is None:
        return None
    jax, _ = jax_modules()
    found_platform = jax.default_backend()
    if platform and found_platform != platform:
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
        numbers = jax.device_put(np.ones(_COPIED if found_platform == "gpu" else count))
        copy = jax.jit(lambda x: x + 1.0)
        step = None
        if mechanism.model.nq == mechanism.model.nv:
            moved = jax.jit(_steps(mechanism, dynamics, arrays[0]))
            step = _median(lambda: jax.block_until_ready(moved(*arrays[:2]))) / (_STEPS * count)
        copied = _median(lambda: jax.block_until_ready(copy(numbers)))
    rate = 2.0 * numbers.nbytes / copied
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    share = dynamics.tape.traffic * count / alone / rate
    return OnDevice(
        mechanism.name, dynamics.device, whole / count, alone / count, step, share, error
    )


def _steps(mechanism: Mechanism, dynamics: JaxDynamics, goal: Any) -> Callable[[Any, Any], Any]:
    """Some steps of semi-implicit Euler, in which motors hold a position, within their limits.

    The law is PD control at the motors: the servo law of tasks is not written for JAX.
    """
    jax, jnp = jax_modules()
    motors, limits = mechanism.actuators.matrix, mechanism.actuators.effort_limits
    stiffness = 2.0 * np.pi * _FREQUENCY

    def step(state: Any, _: None) -> tuple[Any, None]:
        q, v = state
        wanted = -(stiffness**2 * (q - goal) + 2.0 * stiffness * v) @ motors
        efforts = jnp.clip(wanted, -limits, limits)
        v = v + _STEP * dynamics.accelerations(q, v, efforts @ motors.T)
        return (q + _STEP * v, v), None

    return lambda q, v: jax.lax.scan(step, (q, v), None, length=_STEPS)[0]


def _median(function: Callable[[], object]) -> float:
    """Of the time on the clock: what a GPU does takes no time of the processor."""
    function()
    times = []
    for _ in range(_ROUNDS):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return float(np.median(times))


def device(mechanism: Mechanism, states: int) -> OnDevice | None:
    """Measure on the device that JAX has, with so many states; None without JAX."""
    some = mechanism.start()
    generator = np.random.default_rng(0)
    v = 0.1 * generator.standard_normal((states, mechanism.model.nv))
    interpreted = InterpretedDynamics(mechanism)
    q = np.tile(some.q, (states, 1))
    inputs = Inputs(stabilize=False)
    expected = interpreted.evaluate_batch(q[:8], v[:8], inputs=inputs).qdd
    return on_device(mechanism, q, v, expected, platform="", count=states)
