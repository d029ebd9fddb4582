"""Motion over time: integration with projection, control at a fixed period, recording."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.core.adaptive import Tolerances
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism.dynamics import Backend
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import Array, State
from uk_dynamics.simulation.advance import METHODS, Advance
from uk_dynamics.simulation.controller import Controller
from uk_dynamics.simulation.events import merge, schedule
from uk_dynamics.simulation.live_recording import live_recording
from uk_dynamics.simulation.plant import Plant
from uk_dynamics.simulation.recorder import Recorder
from uk_dynamics.simulation.trajectory import Statistics, Trajectory

_OPEN = 1e-3  # m or rad: a start further off is hardly what was meant; assemble() closes loops

_STEP = 1e-3  # s, of the fixed-step methods


def simulate(
    mechanism: Mechanism,
    state: State,
    duration: float,
    *,
    controller: Controller | None = None,
    control_period: float | None = None,
    tau: Mapping[str, float] | ArrayLike | None = None,
    method: str | None = None,
    step: float | None = None,
    rtol: float = 1e-9,
    atol: float | None = None,
    sample_period: float = 0.01,
    events: Sequence[tuple[float, Mapping[str, bool]]] = (),
    progress: Callable[[float], None] | None = None,
    backend: Backend = "cached",
    recording: str | Path | None = None,
) -> Trajectory:
    """Simulate a mechanism; every accepted step is projected onto its constraints.

    Because of the projection the stabilisation of the structural constraints is left out: it would
    only make the equation stiff. The start is projected as well,
    which is reported when it moves.

    Args:
        mechanism: What moves.
        state: Where it starts; it is projected onto the constraints first.
        duration: In s.
        controller: Gives the motor efforts; None leaves the motors at rest.
        control_period: Efforts are held for this time, in s; None evaluates the controller
            continuously, at every trial of the integrator too.
        tau: Constant generalized forces by joint name or (nv,), in N or N·m.
        method: ``DOP853``, ``RK45``, ``RK23`` or ``Radau`` with error control, or ``rk4`` or
            ``semi_implicit_euler`` with a fixed step. ``Radau`` is for stiff machines, such as
            those creeping against dry friction; others take it ten times as long as ``DOP853``,
            and where accelerations jump, as on a damped joint stop, it may end with an error.
            None is ``DOP853``, and ``rk4`` where efforts are held: error control would have to
            start anew in every period.
        step: Fixed step, in s; None is 1 ms, or the control period between 1 and 2 ms.
        rtol: Relative tolerance of the adaptive methods.
        atol: Absolute tolerance, in m, rad and their rates; None is 0.3 rtol.
        sample_period: Time between samples of the result, in s.
        events: Constraints to switch on or off, as (time in s, {name: on}); velocities jump there,
            and the trajectory tells the energy that was lost.
        progress: Called with the simulated time since the start, in s, at every sample.
        backend: What evaluates the mechanism from the first step to the last: ``cached``, in C
            where it was compiled before; ``compiled`` and ``auto`` compile it first.
        recording: File for the samples, written also after an error or Ctrl-C: ``.npz`` or
            ``.csv`` at the end, ``.mcap`` as they come, so that it can be read up to the last
            16 kB after a crash.

    Raises:
        InputError: Unknown method, numbers that are not positive, efforts of the controller
            that are not finite, an event outside the duration or of no switchable constraint, or
            a recording that cannot be written.
        ActivationError: A constraint shall be switched on too far from the pose it requires.
        SimulationError: The loops cannot be kept closed or the step size vanishes.
        UndeterminedMotionError: Some motion has neither inertia nor constraint.
    """
    method = method or ("DOP853" if control_period is None else "rk4")
    _check(method, duration=duration, rtol=rtol, sample_period=sample_period)
    for name, value in (("atol", atol), ("control_period", control_period), ("step", step)):
        if value is not None:
            _check(method, **{name: value})
    if step is None:
        step = min(max(_STEP, control_period or _STEP), 2.0 * _STEP)
    began = time.perf_counter()
    continuous = control_period is None
    plant = Plant(
        mechanism, mechanism.inputs(tau).tau, controller, continuous=continuous, backend=backend
    )
    tolerances = Tolerances(rtol, 0.3 * rtol if atol is None else atol)
    advance = Advance(mechanism.model, plant, method, step, tolerances)
    recorder = Recorder(mechanism, plant.dynamics, plant.task_rows)

    def decide(reached: State) -> None:
        plant.decide(reached)
        for complaint in plant.complaints:
            recorder.warn(complaint, reached.t)

    def record(reached: State) -> None:
        if plant.continuous:
            decide(reached)
        recorder.add(reached, plant.inputs, plant.efforts, plant.tracking_error(reached))
        if progress is not None:
            progress(reached.t - state.t)

    def happen(reached: State, changes: Mapping[str, bool]) -> State:
        switched = plant.switch(reached, changes)
        recorder.switched(changes, reached.t, switched.energy_lost)
        return switched.state

    def cost() -> Statistics:
        return Statistics(advance.steps, advance.evaluations, time.perf_counter() - began)

    scheduled = schedule(mechanism, events, state.t, duration)
    samples = _ticks(state.t, duration, sample_period)
    controls = _ticks(state.t, duration, control_period or duration)
    same = 1e-9 * min(sample_period, control_period or duration)  # s; ticks differ by rounding
    current = State(state.t, *plant.project(state.t, state.q, state.v))
    gaps = np.abs(plant.dynamics.residual(state, plant.inputs).position) * mechanism.hierarchy.rigid
    if np.max(gaps, initial=0.0) > _OPEN:
        row = mechanism.row_names[int(np.argmax(gaps))]
        recorder.warn(
            f"the start was moved: its loops were open by {np.max(gaps):.3g} m or rad ({row})",
            state.t,
        )
    instants, changes_at, deciding = merge(controls, scheduled, same)
    with live_recording(None if recording is None else Path(recording), recorder, cost):
        for start, end in pairwise(instants):
            for changes in changes_at.get(start, ()):
                current = happen(current, changes)
            if start in deciding:
                decide(current)
            if _near(samples, start, same):
                record(current)
            inside = samples[(samples > start + same) & (samples < end - same)]
            for reached in advance.run(current, np.append(inside, end)):
                current = reached
                if reached.t < end:
                    record(reached)
        for changes in changes_at.get(current.t, ()):
            current = happen(current, changes)
        record(current)
    return recorder.trajectory(cost())


def _ticks(start: float, duration: float, period: float) -> Array:
    """Start, then multiples of the period after it, and the end."""
    count = int(np.floor(duration / period + 1e-9))
    ticks: Array = start + period * np.arange(count + 1.0)
    end = start + duration
    if end - ticks[-1] < 1e-9 * period:
        ticks[-1] = end
        return ticks
    return np.append(ticks, end)


def _near(ticks: Array, t: float, same: float) -> bool:
    """Whether there is a tick at a time, within rounding."""
    return bool(ticks[np.searchsorted(ticks, t - same)] <= t + same)


def _check(method: str, **numbers: float) -> None:
    if method not in METHODS:
        raise InputError(f'no method "{method}"; there are: {", ".join(METHODS)}', place="method")
    for name, value in numbers.items():
        if not (np.isfinite(value) and value > 0.0):
            raise InputError(f"expected a positive number, found {value}", place=name)
