# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Batches and rollouts on a GPU."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from uk_dynamics.compilation.gpu import CudaDevice, GpuDynamics
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs
from uk_dynamics.mechanism_class import Mechanism

STATES = 2**22
_ROUNDS = 5
_STEPS, _STEP = 100, 1e-3  # Runge-Kutta steps of a rollout, and s each
_FEWER = 16  # of so many states one has a rollout
_STAGES = 4  # evaluations in such a step
_DIFFERENT, _AROUND = 64, 0.02  # states; rad or m from the start, before loops are closed
_BETWEEN_WAITS = 20  # calls, so that their start takes no part


@dataclass(frozen=True)
class OnDevice:
    """What was measured.

    Attributes:
        mechanism: Its name.
        device: As it names itself.
        seconds: Of an evaluation, from arrays of NumPy and back.
        there_seconds: Of one whose states stand on the device and whose answers stay there,
            forces not wanted.
        forces_seconds: The same with forces.
        step_seconds: Of an evaluation within rollouts without projection, whose states stay on the
            device; None: joints have several coordinates.
        lanes_seconds: Of an evaluation from arrays of NumPy and back by all cores of the processor.
        cores: How many these are.
        error: Largest difference from the interpreted acceleration, relative to the largest.
    """

    mechanism: str
    device: str
    seconds: float
    there_seconds: float
    forces_seconds: float
    step_seconds: float | None
    lanes_seconds: float
    cores: int
    error: float


def on_device(
    mechanism: Mechanism,
    q: Array,
    v: Array,
    expected: Array,
    *,
    device: CudaDevice | None = None,
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
    on = dynamics.device
    q, v = np.resize(q, (count, q.shape[1])), np.resize(v, (count, v.shape[1]))
    inputs = Inputs(stabilize=False)
    found = dynamics.evaluate_batch(q, v, inputs=inputs, forces=False).qdd[: len(expected)]
    error = float(np.abs(found - expected).max() / np.abs(expected).max())
    whole = _median(lambda: dynamics.evaluate_batch(q, v, inputs=inputs, forces=False))
    there = on.put(q), on.put(v)

    def stay(*, forces: bool) -> float:
        def several() -> None:
            for _ in range(_BETWEEN_WAITS):
                _, failed = dynamics.evaluate_on_device(*there, inputs=inputs, forces=forces)
            on.get(failed[:1])  # waits for all

        return _median(several) / (_BETWEEN_WAITS * count)

    step = None
    if mechanism.model.nq == mechanism.model.nv:
        few = max(1, count // _FEWER)
        took = _median(
            lambda: dynamics.rollout(
                q[:few], v[:few], steps=_STEPS, dt=_STEP, every=_STEPS, method="rk4", project=False
            )
        )
        step = took / (_STAGES * _STEPS * few)
    compiled = mechanism.dynamics("compiled")
    lanes = _median(lambda: compiled.evaluate_batch(q, v, inputs=inputs, forces=False))
    return OnDevice(
        mechanism.name,
        on.name,
        whole / count,
        stay(forces=False),
        stay(forces=True),
        step,
        lanes / count,
        len(os.sched_getaffinity(0)),
        error,
    )


def _median(function: Callable[[], object]) -> float:
    """Of the time on the clock: what a GPU does takes no time of the processor."""
    function()
    times = []
    for _ in range(_ROUNDS):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return float(np.median(times))


def device(mechanism: Mechanism, count: int, on: CudaDevice | None = None) -> OnDevice | None:
    """Measure with so many closed states around the start; None without a GPU."""
    generator = np.random.default_rng(0)
    interpreted = InterpretedDynamics(mechanism)
    q, nv = mechanism.start().q, mechanism.model.nv
    some = [
        interpreted.project(
            mechanism.state(
                mechanism.model.integrate(q, _AROUND * generator.standard_normal(nv)),
                generator.standard_normal(nv),
            )
        )
        for _ in range(_DIFFERENT)
    ]
    there = np.array([state.q for state in some]), np.array([state.v for state in some])
    inputs = Inputs(stabilize=False)
    expected = interpreted.evaluate_batch(*there, inputs=inputs).qdd
    return on_device(mechanism, *there, expected, device=on, count=count)
