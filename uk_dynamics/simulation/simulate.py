"""Motion over time: integration with projection, control at a fixed period, recording."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.core.integrators import Tolerances
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import Array, State
from uk_dynamics.simulation.advance import METHODS, Advance
from uk_dynamics.simulation.controller import Controller
from uk_dynamics.simulation.plant import Plant
from uk_dynamics.simulation.recorder import Recorder
from uk_dynamics.simulation.trajectory import Statistics, Trajectory


def simulate(
    mechanism: Mechanism,
    state: State,
    duration: float,
    *,
    controller: Controller | None = None,
    control_period: float | None = None,
    tau: Mapping[str, float] | ArrayLike | None = None,
    method: str = "DOP853",
    step: float = 1e-3,
    rtol: float = 1e-9,
    atol: float | None = None,
    sample_period: float = 0.01,
    progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """Simulate a mechanism; every accepted step is projected onto its constraints.

    Because of the projection the stabilisation of the structural constraints is left out: it would
    only make the equation stiff.

    Args:
        mechanism: What moves.
        state: Where it starts; it is projected onto the constraints first.
        duration: In s.
        controller: Gives the motor efforts; None leaves the motors at rest.
        control_period: Efforts are held for this time, in s; None evaluates the controller
            continuously.
        tau: Constant generalized forces by joint name or (nv,), in N or N·m.
        method: ``DOP853``, ``RK45``, ``RK23`` or ``Radau`` with error control, or ``rk4`` or
            ``semi_implicit_euler`` with a fixed step.
        step: Fixed step, in s.
        rtol: Relative tolerance of the adaptive methods.
        atol: Absolute tolerance, in m, rad and their rates; None is the same number as rtol.
        sample_period: Time between samples of the result, in s.
        progress: Called with the simulated time since the start, in s, at every sample.

    Raises:
        InputError: Unknown method, or numbers that are not positive.
        SimulationError: The loops cannot be kept closed or the step size vanishes.
    """
    if method not in METHODS:
        raise InputError(f'no method "{method}"; there are: {", ".join(METHODS)}', place="method")
    _check_positive(duration=duration, step=step, rtol=rtol, sample_period=sample_period)
    if control_period is not None:
        _check_positive(control_period=control_period)
    began = time.perf_counter()
    plant = Plant(
        mechanism, mechanism.inputs(tau).tau, controller, continuous=control_period is None
    )
    advance = Advance(
        mechanism.model, plant, method, step, Tolerances(rtol, rtol if atol is None else atol)
    )
    recorder = Recorder(
        mechanism, plant.dynamics, () if controller is None else controller.row_names
    )

    def record(reached: State) -> None:
        recorder.add(reached, *plant.situation(reached))
        if progress is not None:
            progress(reached.t - state.t)

    samples = _ticks(state.t, duration, sample_period)
    controls = _ticks(state.t, duration, control_period or duration)
    current = plant.dynamics.project(state)
    plant.decide(current)
    record(current)
    for start, end in pairwise(controls):
        plant.decide(current)
        inside = samples[(samples > start) & (samples < end)]
        stops = np.append(inside, end)
        for reached in advance.run(current, stops):
            current = reached
            if reached.t != end or end in samples:
                record(reached)
    statistics = Statistics(advance.steps, advance.evaluations, time.perf_counter() - began)
    return recorder.trajectory(statistics)


def _ticks(start: float, duration: float, period: float) -> Array:
    """Start, then multiples of the period after it, and the end."""
    count = int(np.floor(duration / period + 1e-9))
    ticks: Array = start + period * np.arange(count + 1.0)
    end = start + duration
    if end - ticks[-1] < 1e-9 * period:
        ticks[-1] = end
        return ticks
    return np.append(ticks, end)


def _check_positive(**numbers: float) -> None:
    for name, value in numbers.items():
        if not (np.isfinite(value) and value > 0.0):
            raise InputError(f"expected a positive number, found {value}", place=name)
