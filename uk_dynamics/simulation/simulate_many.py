# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Many simulations under control at once, side by side in the lanes of vectors."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation import announce
from uk_dynamics.compilation.build import CompilationError, Library, Subject, is_cached
from uk_dynamics.compilation.gpu import GpuLoops
from uk_dynamics.compilation.runtime import (
    CompiledLoops,
    LoopBatch,
    LoopMover,
    in_parts,
    reference_table,
)
from uk_dynamics.compilation.verification import (
    Comparison,
    Trial,
    WrongLibraryError,
    compare,
    trials,
)
from uk_dynamics.core.integration import FIXED_METHODS
from uk_dynamics.exceptions import InputError, UkDynamicsError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import (
    METHODS,
    Backend,
    CompiledLaw,
    Instants,
    InterpretedDynamics,
)
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism, State, States
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.controller import Controller
from uk_dynamics.simulation.instants import periods, same_instant
from uk_dynamics.simulation.options import check_delay, default_method, fixed_step
from uk_dynamics.simulation.plant import Plant
from uk_dynamics.simulation.recorder import Recorder
from uk_dynamics.simulation.recording.trajectory_data import Statistics
from uk_dynamics.simulation.simulate import simulate, warn_of_start
from uk_dynamics.simulation.trajectory import Trajectory


@runtime_checkable
class _LawOfTasks(CompiledLaw, Protocol):
    """A servo law in C."""

    tasks: Tasks

    def another(self, *, control_period: float, backend: Backend) -> Controller:
        """A controller of the same tasks, with the settings of their file."""


def _alike(one: ResolvedMechanism, other: ResolvedMechanism) -> bool:
    """Whether the model of a law is the machine that moves, but for the values of parameters."""
    ours, theirs = (None if x.varied is None else x.varied.names for x in (one, other))
    return ours == theirs


class _Motion(NamedTuple):
    """One of the simulations."""

    plant: Plant
    recorder: Recorder
    start: State


@contextmanager
def _named(k: int, count: int) -> Iterator[None]:
    """Let an error say of which of several states it is."""
    try:
        yield
    except UkDynamicsError as error:
        if count > 1:
            error.args = (f"states[{k}]: {error}",)
        raise


def simulate_many(
    mechanisms: Mechanism | Sequence[Mechanism],
    states: Sequence[State],
    duration: float,
    *,
    controllers: Sequence[Controller] | None = None,
    control_period: float | None = None,
    delay: float = 0.0,
    method: str | None = None,
    step: float | None = None,
    sample_period: float = 0.01,
    backend: Backend = "auto",
    threads: int | None = None,
) -> list[Trajectory]:
    """Simulate many motions: of Monte Carlo studies, tuning, learning.

    The results are those of :func:`simulate` to rounding. Controllers of one kind whose mechanisms
    differ in nothing but parameters (:meth:`Mechanism.with_parameters`) are moved in C side by
    side; gains, limits, weights, initial states, and values of references may differ. The law of
    :class:`ServoController` is side by side as well; :class:`Hold`, :class:`GravityCompensation`,
    :class:`DelayCompensation` and :class:`ServoModes` are asked one after the other. What cannot be
    moved so is simulated one after the other, which is logged once, with what it costs.

    Args:
        mechanisms: What moves, K of them or one for all.
        states: Initial states, (K,), at one time.
        duration: In s.
        controllers: A controller for each, made for its mechanism; none may serve two motions.
            None: the motors rest, and each motion has a thread.
        control_period: Efforts of controllers are held for this time, in s.
        delay: From a state until its efforts act, in s; as of :func:`simulate`.
        method: ``rk4`` or ``semi_implicit_euler``; others of :func:`simulate` one after the other,
            but ``moreau`` a motion a thread. None: as of :func:`simulate`.
        step: Fixed step, in s; None: as of :func:`simulate`.
        sample_period: Time between samples, in s.
        backend: As of :func:`simulate`; ``gpu`` moves a motion a thread of a GPU, of servo laws
            alone, and computes starts and samples as ``compiled`` does.
        threads: At most so many; None: one for each processor.

    Returns:
        K trajectories.

    Raises:
        InputError: Numbers of mechanisms, states and controllers differ; controllers without a
            control period, or with ``gpu`` none; no GPU, or one does not
            move these; or as of :func:`simulate`.
        SimulationError: As of :func:`simulate`. Of several, errors name the state.
        WrongLibraryError: With ``compiled`` and ``gpu``: what moves them in C answers otherwise
            than Python.
    """
    on_gpu, backend = backend == "gpu", "compiled" if backend == "gpu" else backend
    each = [mechanisms] * len(states) if isinstance(mechanisms, Mechanism) else list(mechanisms)
    laws = [None] * len(states) if controllers is None else list(controllers)
    own = len(states) if controllers is None else len(set(map(id, controllers)))
    if not len(each) == len(states) == len(laws) == own:
        raise InputError(
            "expected a controller of its own for each of as many states and mechanisms, found"
            f" {len(each)} mechanisms, {len(states)} states, {len(laws)} controllers"
        )
    if (controllers is None) != (control_period is None) or (on_gpu and controllers is None):
        raise InputError("expected controllers and a control period, or neither of them")

    def alone(k: int) -> Trajectory:
        with _named(k, len(states)):
            return simulate(
                each[k],
                states[k],
                duration,
                controller=laws[k],
                control_period=control_period,
                delay=delay,
                method=method,
                step=step,
                sample_period=sample_period,
                backend=backend,
            )

    if len(states) < (1 if on_gpu else 2):
        return [alone(k) for k in range(len(states))]
    check_delay(delay)
    method = method or default_method(each[0], held=control_period is not None)
    if controllers is None or control_period is None or (method == "moreau" and not on_gpu):
        # Which contacts are closed, and how often a step is solved for, is particular to a motion:
        # in lanes all would wait for the slowest. So each is moved as by itself.
        found_each: list[Trajectory | None] = [None] * len(states)

        def run(first: int, end: int) -> None:
            found_each[first:end] = [alone(k) for k in range(first, end)]

        in_parts(run, len(states), threads, 1, 1)
        return [one for one in found_each if one is not None]
    motions: list[_Motion] = []
    loops: LoopMover | str = f"method {method}"
    if len({state.t for state in states}) > 1:
        loops = "they start at different times"
    elif method in METHODS:
        for k, one in enumerate(zip(each, states, controllers, strict=True)):
            with _named(k, len(states)):
                motions.append(_prepared(*one, backend))
        loops = _loops(motions, backend, on_gpu=on_gpu)
    if isinstance(loops, str):
        if on_gpu:
            raise InputError(f"a GPU does not move these closed loops: {loops}", place="backend")
        announce(
            f"{each[0].name}: closed loops are simulated one after the other, which takes three to"
            f" six times as long as side by side: {loops}",
            logging.INFO,
        )
        return [alone(k) for k in range(len(states))]
    began = time.perf_counter()
    instants = periods(states[0].t, duration, sample_period, control_period, delay)
    found = _moved(
        loops,
        motions,
        instants,
        fixed_step(step, control_period),
        method=method,
        delay=(delay, same_instant(sample_period, control_period)),
        threads=threads,
    )
    wall = (time.perf_counter() - began) / len(motions)
    steps = found.steps // len(motions)
    statistics = Statistics(steps, steps * FIXED_METHODS[method].evaluations, wall)
    times = np.append(instants.when[np.flatnonzero(instants.sample)], instants.when[-1])
    return [
        alone(k) if found.stopped[k] else _recorded(motion, found, k, times, statistics)
        for k, motion in enumerate(motions)
    ]


def _prepared(
    mechanism: Mechanism, state: State, controller: Controller, backend: Backend
) -> _Motion:
    plant = Plant(mechanism, None, controller, continuous=False, backend=backend)
    recorder = Recorder(
        mechanism, plant.dynamics, plant.task_rows, plant.tasks, estimated=plant.estimated
    )
    start = plant.project(state)
    warn_of_start(mechanism, plant, recorder, state)
    return _Motion(plant, recorder, start)


def _loops(motions: Sequence[_Motion], backend: Backend, *, on_gpu: bool) -> LoopMover | str:
    """What moves all of them; otherwise why nothing does."""
    laws = [motion.plant.law for motion in motions]
    functions = {None if law is None else law.law.function for law in laws}
    if None in functions:
        return "a law is computed in Python"
    if len(functions) > 1:  # of different libraries
        return "mechanisms differ in more than parameters, or controllers in kind or tasks"
    if not motions[0].plant.mechanism.model.is_euclidean:
        return "a joint is floating or planar"
    law, mechanism = laws[0], motions[0].plant.mechanism
    subject: Subject = mechanism
    if isinstance(law, _LawOfTasks) and _alike(law.tasks.mechanism, mechanism):
        subject = law.tasks
    if on_gpu and not isinstance(subject, Tasks):
        return "laws other than that of a ServoController for these mechanisms"
    if backend == "cached" and not is_cached(subject, Library.CLOSED_LOOPS):
        return 'they are not compiled; backend="compiled" does it once'
    try:
        loops: LoopMover
        if on_gpu and isinstance(subject, Tasks):
            loops = GpuLoops(subject)
        else:
            loops = CompiledLoops(subject)
        if isinstance(law, _LawOfTasks):
            mechanism, another = motions[0].plant.mechanism, law.another
            name = f"closed loops of {mechanism.name}"
            loops.verify(name, lambda: _answers(loops, mechanism, another))
    except CompilationError as error:
        return error.unless(strict=backend == "compiled" and isinstance(error, WrongLibraryError))
    return loops


_PERIOD = 1e-3  # s
_PERIODS = 3


def _answers(
    loops: LoopMover, mechanism: Mechanism, controller: Callable[..., Controller]
) -> Iterator[Comparison]:
    """Compare some control periods of closed loops in every lane with those of Python."""
    duration = _PERIODS * _PERIOD
    law = partial(controller, control_period=_PERIOD)

    def expected(trial: Trial) -> dict[str, Array]:
        end = simulate(
            mechanism,
            State(0.0, trial.state.q, trial.state.v),
            duration,
            controller=law(backend="interpreted"),
            control_period=_PERIOD,
            method="rk4",
            step=_PERIOD,
            sample_period=duration,
            backend="interpreted",
        )
        return {"closed loops": np.concatenate([end.q[-1], end.v[-1]])}

    def compiled(given: Sequence[Trial]) -> list[dict[str, Array] | None]:
        states = [State(0.0, trial.state.q, trial.state.v) for trial in given]
        motions = [_prepared(mechanism, x, law(backend="compiled"), "compiled") for x in states]
        instants = periods(0.0, duration, duration, _PERIOD, 0.0)
        late = 0.0, same_instant(duration, _PERIOD)
        end = _moved(loops, motions, instants, _PERIOD, method="rk4", delay=late, threads=1)
        return [
            None
            if end.stopped[k] and not loops.complete
            else {"closed loops": np.concatenate([end.q[k], end.v[k]])}
            for k in range(len(given))
        ]

    given = trials(mechanism, InterpretedDynamics(mechanism))[:2]
    yield from compare(mechanism, expected, compiled, given, -(-loops.width // len(given)))


def _moved(
    loops: LoopMover,
    motions: Sequence[_Motion],
    instants: Instants,
    step: float,
    *,
    method: str,
    delay: tuple[float, float],
    threads: int | None,
) -> LoopBatch:
    laws = [law for motion in motions if (law := motion.plant.law) is not None]
    for law in laws:
        law.set()
    before: list[list[NDArray[Any]]] = [
        [memory.copy() for memory in law.remembered] for law in laws
    ]
    varied = [motion.plant.mechanism.varied for motion in motions]
    values = [one.values for one in varied if one is not None]
    mechanism = motions[0].plant.mechanism
    late, same = delay
    found = loops.move(
        [law.law for law in laws],
        np.array([motion.start.q for motion in motions]),
        np.array([motion.start.v for motion in motions]),
        instants,
        tau=np.zeros((len(motions), mechanism.model.nv)),
        parameters=np.array(values) if values and len(values[0]) else None,
        active=mechanism.hierarchy.acting().astype(float),
        structures=[
            reference_table(motion.plant.mechanism.references)
            if mechanism.follows_references
            else None
            for motion in motions
        ],
        step=step,
        euler=method == "semi_implicit_euler",
        delay=late,
        same=same,
        threads=threads,
    )
    for k, law in enumerate(laws):
        if found.stopped[k]:  # it begins again
            for memory, past in zip(law.remembered, before[k], strict=True):
                memory[...] = past
    return found


def _recorded(
    motion: _Motion, found: LoopBatch, k: int, times: Array, statistics: Statistics
) -> Trajectory:
    plant, recorder = motion.plant, motion.recorder
    q = np.concatenate((found.sampled_q[k], found.q[k : k + 1]))
    v = np.concatenate((found.sampled_v[k], found.v[k : k + 1]))
    efforts = np.concatenate((found.sampled_efforts[k], found.efforts[k : k + 1]))
    states = States(times, q, v, plant.forces(efforts))
    told, final = plant.told(len(times), np.zeros((len(times), 0))), plant.told(1)
    told.estimates[-1:] = final.estimates  # lanes keep none of before
    told.deviations[-1:] = final.deviations
    recorder.add_many(states, plant.inputs, efforts, plant.tracking_errors(times, q, v), told)
    for flag, t in zip(plant.flags, found.seen[k].tolist(), strict=True):
        if t < np.inf:
            recorder.warn(flag, t)
    return recorder.trajectory(statistics)
