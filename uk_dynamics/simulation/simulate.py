# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Simulation: integration with projection, control at a fixed period, recording."""

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from uk_dynamics.exceptions import InputError, SimulationError, expect
from uk_dynamics.mechanism.analysis import vanishing_rows
from uk_dynamics.mechanism.dynamics import (
    Backend,
    ContactEffort,
    Instants,
    MotionSegment,
    Told,
    require_finite,
)
from uk_dynamics.mechanism.resolution import State, States, Values
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import instants as at
from uk_dynamics.simulation.controller import Controller
from uk_dynamics.simulation.live_recording import live_recording
from uk_dynamics.simulation.options import checked
from uk_dynamics.simulation.plant import Plant
from uk_dynamics.simulation.recorder import Recorder
from uk_dynamics.simulation.recording.trajectory_data import Statistics
from uk_dynamics.simulation.time_integration import Advance
from uk_dynamics.simulation.trajectory import Trajectory

_OPEN = 1e-4  # of the machine's size: a larger error of the start is probably a mistake

_REST = 1e-9  # m/s² or rad/s², and rates of rows: nothing moves, or they hold

_MOST_RESTS = 1e5  # of C in a long motion: each is an instant of Python


def simulate(
    mechanism: Mechanism,
    state: State,
    duration: float,
    *,
    controller: Controller | None = None,
    control_period: float | None = None,
    delay: float = 0.0,
    tau: Values | None = None,
    method: str | None = None,
    step: float | None = None,
    rtol: float = 1e-9,
    atol: float | None = None,
    sample_period: float = 0.01,
    events: Sequence[tuple[float, Mapping[str, bool]]] = (),
    progress: Callable[[float], object] | None = None,
    backend: Backend = "auto",
    recording: str | Path | None = None,
) -> Trajectory:
    """Simulate a mechanism; every accepted step is projected onto its constraints.

    The projection replaces the stabilisation of the structural constraints, which would only make
    the equations stiff. The initial state is projected, too; a noticeable correction is a warning
    of the trajectory.

    Args:
        mechanism: What moves.
        state: Initial state; it is projected onto the constraints first.
        duration: In s.
        controller: Computes the motor efforts; None: they are zero.
        control_period: Efforts are held for this time, in s; None evaluates the controller
            continuously, also at every stage of the integrator.
        delay: From a state until the efforts that the controller computes from it act, in s, as
            where messages and drives take their time; until the first ones do, there are none.
            :class:`DelayCompensation` makes a controller that knows of it.
        tau: Constant generalized forces by joint name or (nv,), in N or N·m.
        method: ``DOP853``, ``RK45``, ``RK23`` or ``Radau`` with error control, or ``rk4``,
            ``semi_implicit_euler`` or ``gauss`` with a fixed step. ``gauss`` (collocation with
            four stages, order eight) keeps the energy of free motion over millions of steps, each
            of which costs about six of ``rk4``. ``Radau`` is for stiff machines, such as
            those that creep against dry friction (a warning of the trajectory tells); otherwise it
            is ten times slower than ``DOP853``, interpreted, and it may fail where accelerations
            jump, as at a damped joint stop. Compiled, ``DOP853`` and fixed steps are taken in C.
            ``moreau`` takes fixed steps over impacts of contacts, stops and ropes, which the
            adaptive methods locate. None is ``DOP853``; ``rk4`` if efforts are held, since error
            control would have to restart in every period; with more than four contacts that have
            friction ``moreau``.
        step: Fixed step, in s; None is 1 ms, or the control period between 1 and 2 ms.
        rtol: Relative tolerance of the adaptive methods, at least 100 times what numbers resolve.
        atol: Absolute tolerance, in m, rad and their rates; None is 0.3 rtol.
        sample_period: Time between samples of the result, in s.
        events: Constraints to switch on or off, as (time in s, {name: on}); velocities jump there,
            and the trajectory contains the dissipated energy.
        progress: Called with the simulated time since the start, in s, now and then and at the end.
        backend: Evaluator from the first step to the last: ``auto`` compiles the mechanism at its
            first start, where it can be compiled; ``cached`` takes what has been compiled before.
            See :func:`select_backend`; the controller has one of its own.
        recording: File for the samples, also written after an error or Ctrl-C: ``.npz`` or
            ``.csv`` at the end, ``.mcap`` sample by sample, so that after a crash it is readable up
            to the last 16 kB.

    Raises:
        InputError: Unknown method, a number that is not positive, efforts that are not finite, an
            event outside the duration or of a constraint that is not switchable, or a recording
            that cannot be written.
        ActivationError: A constraint to switch on is too far from the pose it requires.
        SimulationError: The loops cannot be kept closed or the step size vanishes.
        UndeterminedMotionError: Some motion has neither inertia nor constraint.
    """
    expect("mechanism", mechanism, Mechanism, 'Mechanism.from_file("five_bar")')
    expect("state", state, State, "mechanism.start()")
    require_finite(mechanism.model, state)
    if control_period is None and getattr(controller, "corrections", None) is not None:
        problem = "the law compares periods (adaptive, observers); give a control period"
        raise InputError(problem, place="control_period")
    method, step, tolerances = checked(
        mechanism,
        state,
        duration,
        control_period=control_period,
        delay=delay,
        method=method,
        step=step,
        rtol=rtol,
        atol=atol,
        sample_period=sample_period,
    )
    began = time.perf_counter()
    continuous = control_period is None
    same = at.same_instant(sample_period, control_period or duration)
    plant = Plant(
        mechanism,
        mechanism.inputs(tau).tau,
        controller,
        continuous=continuous,
        delay=delay,
        same=same,
        backend=backend,
        over_contacts=method == "moreau",
    )

    def moved(t: float) -> None:
        if progress is not None:
            progress(t - state.t)

    advance = Advance(mechanism.model, plant, method, step, tolerances, moved)
    recorder = Recorder(
        mechanism, plant.dynamics, plant.task_rows, plant.tasks, estimated=plant.estimated
    )
    advance.changed, advance.warn = recorder.switched, recorder.warn

    def control(reached: State) -> None:
        plant.control(reached)
        for problem in plant.problems:
            recorder.warn(problem, reached.t)

    def record(reached: State) -> None:
        if plant.continuous:
            control(reached)
        error = plant.tracking_error(reached)
        recorder.add(reached, plant.inputs, plant.efforts, error, plant.told(1))

    def move(start: State, instants: Instants) -> State:
        """Move in C from instant to instant; where it cannot, in Python to the next break."""
        first, treated = 0, False  # the instant reached, and whether what happens there has
        when = instants.when
        in_charge = advance.in_charge
        in_python = advance.run_in_python if in_charge else advance.run
        while True:
            phase = "control"
            if in_charge and not advance.needs_python:
                stop = advance.stop_after(first, when)
                here = Instants(*(x[first:stop].copy() for x in instants))
                here.control[-1] = here.sample[-1] = 0.0
                if treated:
                    here.sample[0] = 0.0
                found = advance.move(start, here)
                record_many(here, found)
                advance.close(found, here.when)
                start, first, phase = found.state, first + found.reached, found.phase
                treated = phase == "paused"
            if phase == "control" and instants.control[first]:
                control(start)
            if phase == "control" and instants.breaks[first]:
                plant.act(start.t)
            if phase == "control":
                start = advance.begin(start)
            if phase == "control" and instants.sample[first]:
                record(start)
            if in_charge and controller is None and phase == "control" and plant.stepping:
                treated = True  # contacts have begun
            elif phase in ("control", "motion"):
                stop = advance.next_break(first, instants.breaks)
                plant.set_law()
                for reached in in_python(start, when[first + 1 : stop + 1]):
                    first, start = first + 1, reached
                    if first < stop and instants.sample[first]:
                        record(reached)
            if first == len(when) - 1:
                return start

    def record_many(instants: Instants, found: MotionSegment) -> None:
        count = len(found.q)
        if count:
            times = instants.when[np.flatnonzero(instants.sample)[:count]]
            efforts = found.sampled_efforts
            errors = plant.tracking_errors(times, found.q, found.v)
            columns = times, found.q, found.v, plant.forces(efforts)
            told = plant.told(count, found.watched)
            for part, inputs in advance.inputs_of(found, instants):
                at = States(*(x[part] for x in columns)), inputs, efforts[part], errors[part]
                recorder.add_many(*at, Told(*(x[part] for x in told)))

    def switch(reached: State, changes: Mapping[str, bool]) -> State:
        switched = plant.switch(reached, changes)
        recorder.switched(changes, reached.t, switched.energy_lost)
        return switched.state

    def cost() -> Statistics:
        stepping = plant.stepping
        error, iterations, fell_back = ContactEffort() if stepping is None else stepping.effort
        return Statistics(
            steps=advance.steps,
            evaluations=advance.evaluations,
            wall_time=time.perf_counter() - began,
            rejected=advance.rejected,
            largest_projection=advance.largest_projection,
            contact_error=error,
            contact_iterations=iterations,
            contact_fallbacks=fell_back,
        )

    scheduled = _schedule(mechanism, events, state.t, duration)
    samples = at.ticks(state.t, duration, sample_period)
    controls = at.ticks(state.t, duration, control_period or duration)
    current = plant.project(state)
    _require_determined(mechanism, plant, current)
    warn_of_start(mechanism, plant, recorder, state)
    effects = at.effects_of(controls, delay)
    if advance.fixed and duration > advance.longest:  # a call of C ends after so many steps
        rests = at.ticks(state.t, duration, max(advance.longest, duration / _MOST_RESTS))
        effects = np.sort(np.append(effects, rests[~at.near(effects, rests, same)]))
    instants, changes_at = at.merged(controls, effects, scheduled, same)
    with live_recording(None if recording is None else Path(recording), recorder, cost):
        for begin, stop in pairwise(at.parts(instants, changes_at)):
            for changes in changes_at.get(begin, ()):
                current = switch(current, changes)
            between = [t for t in instants if begin <= t <= stop]
            current = move(current, at.marked(between, samples, controls, same))
        for problem, t in {**plant.first_problems, **advance.hints}.items():
            recorder.warn(problem, t)
        for changes in changes_at.get(current.t, ()):
            current = switch(current, changes)
        plant.act(current.t)
        record(current)
    return recorder.trajectory(cost())


def warn_of_start(mechanism: Mechanism, plant: Plant, recorder: Recorder, state: State) -> None:
    """Warn where the initial state was far from the constraints."""
    initial = plant.dynamics.residual(state, plant.inputs).position
    errors = np.abs(initial) * mechanism.hierarchy.rigid
    open_ = max(_OPEN * mechanism.size, mechanism.closure_tolerance)
    if np.max(errors, initial=0.0) > open_:
        row = mechanism.row_names[int(np.argmax(errors))]
        recorder.warn(
            f"the start was corrected by its loop-closure error of {np.max(errors):.3g} m or rad"
            f" ({row})",
            state.t,
        )


def _require_determined(mechanism: Mechanism, plant: Plant, start: State) -> None:
    """Refuse a start where rows vanish that the motion from there would violate.

    A row quadratic in velocities is zero at rest. The acceleration without it leads off the
    constraint, and none of those that stay on it is singled out: steps would shrink to nothing.
    """
    if mechanism.constraints.linear_in_rates:
        return
    vanishing = vanishing_rows(mechanism, start.q, start.v)
    qdd = plant.acceleration(start.t, start.q, start.v) if vanishing else np.zeros(0)
    if not np.abs(qdd).max(initial=0.0) > _REST:
        return
    ahead = State(start.t, start.q, start.v + qdd / np.abs(qdd).max())
    residual = plant.dynamics.residual(ahead, plant.inputs)
    for name in vanishing:
        if abs(residual.velocity[residual.names.index(name)]) > _REST:
            problem = f"{name} vanishes at the start and does not say which motion begins there"
            raise SimulationError(f"{problem}; give velocities that it admits", start.t)


def _schedule(
    mechanism: Mechanism, events: Sequence[at.Event], start: float, duration: float
) -> tuple[at.Event, ...]:
    """Check events and sort them by time."""
    for t, changes in events:
        if not start <= t <= start + duration:
            raise InputError(
                f"expected a time between {start:g} and {start + duration:g} s, found {t}",
                place="events",
            )
        mechanism.hierarchy.check(frozenset(changes))
    return tuple(sorted(events, key=lambda event: event[0]))
