# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Whole simulations under servo control at 1 kHz: simulated time per processor time."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from uk_dynamics.compilation.build import CompilationError
from uk_dynamics.control.servo import ServoController
from uk_dynamics.core.integration import rk4_step
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import simulate
from uk_dynamics_studies.benchmarks.peers.mujoco import MujocoPeer
from uk_dynamics_studies.benchmarks.peers.peer import PeerError
from uk_dynamics_studies.benchmarks.peers.pinocchio import PinocchioPeer

OURS = "uk_dynamics simulate"
PERIOD = 1e-3  # s: of control, and every step
#: Tasks of the machines that are compared.
TASKS = {
    "five_bar": "five_bar_sweep",
    "rrr3": "rrr3_track",
    "coordinated_robots": "coordinated_robots_lift",
    "excavator": "excavator_grade",
    "dual_panda": "dual_panda_load",
    "stewart_platform": "stewart_platform_heave_roll",
}
_SHORTEST = 0.1  # s of processor time: one measurement takes at least as long
_FIRST = 20  # periods of the first trial that says how many that are

#: Simulates so many periods from the start of the motion; the state at their end.
Run = Callable[[int], State]


@dataclass(frozen=True)
class Controlled:
    """One engine's closed loop."""

    mechanism: str
    engine: str  # which, and what computes the efforts
    speed: float | None  # simulated time per processor time, None where there is none
    ratio: float | None  # of this speed to ours, median of the rounds
    violation: float | None  # largest residual of the loops where the motion ends, in m or rad
    note: str = ""  # why there is none


def controlled(mechanism: Mechanism, *, rounds: int = 7) -> list[Controlled]:
    """All engines on one machine, in turns, so that they run under the same load."""
    tasks = Tasks.from_file(TASKS[mechanism.name], mechanism)
    runs: dict[str, Run] = {}
    missing: list[Controlled] = []
    for engine, prepare in _ENGINES.items():
        try:
            runs[engine] = prepare(mechanism, tasks)
        except (CompilationError, PeerError) as error:  # noqa: PERF203 - each on its own
            missing.append(Controlled(mechanism.name, engine, None, None, None, str(error)))
    counts = {engine: _periods(run) for engine, run in runs.items()}
    speeds: dict[str, list[float]] = {engine: [] for engine in runs}
    ends: dict[str, State] = {}
    for _ in range(rounds):
        for engine, run in runs.items():
            begin = time.process_time()
            ends[engine] = run(counts[engine])
            speeds[engine].append(counts[engine] * PERIOD / (time.process_time() - begin))
    dynamics = InterpretedDynamics(mechanism)
    own = np.array(speeds.get(OURS, [np.nan]))
    found = [
        Controlled(
            mechanism.name,
            engine,
            float(np.median(measured)),
            float(np.median(np.array(measured) / own)),
            float(np.abs(dynamics.residual(ends[engine]).position).max(initial=0.0)),
        )
        for engine, measured in speeds.items()
    ]
    return found + missing


def _periods(run: Run) -> int:
    """How many take long enough; what is done once in a simulation is a small part of them."""
    run(1)  # what is compiled and loaded once
    count = _FIRST
    while True:
        begin = time.process_time()
        run(count)
        elapsed = time.process_time() - begin
        if elapsed >= _SHORTEST:
            return count
        count = int(count * min(10.0, 1.5 * _SHORTEST / elapsed))


def _ours(mechanism: Mechanism, tasks: Tasks) -> Run:
    controller = _law(mechanism, tasks)
    start = mechanism.start(tasks=tasks)

    def run(periods: int) -> State:
        controller.reset()
        motion = simulate(
            mechanism,
            start,
            periods * PERIOD,
            controller=controller,
            control_period=PERIOD,
            step=PERIOD,
            sample_period=10 * PERIOD,
            backend="compiled",
        )
        return State(float(motion.t[-1]), motion.q[-1], motion.v[-1])

    return run


def _law(mechanism: Mechanism, tasks: Tasks) -> ServoController:
    return ServoController(mechanism, tasks, control_period=PERIOD, backend="compiled")


def _mujoco(mechanism: Mechanism, tasks: Tasks, *, constant: bool) -> Run:
    peer = MujocoPeer(mechanism, step=PERIOD)
    controller, start = _law(mechanism, tasks), mechanism.start(tasks=tasks)
    motors, passive = mechanism.actuators.matrix, mechanism.passive
    data = peer.data

    def run(periods: int) -> State:
        controller.reset()
        peer.set(start, motors @ controller.command(start).efforts)
        if constant:
            for _ in range(periods):
                peer.step()
        else:
            for k in range(periods):
                q, v = data.qpos.copy(), data.qvel.copy()
                efforts = controller.command(State(k * PERIOD, q, v)).efforts
                data.qfrc_applied[:] = motors @ efforts + passive.force(q, v)
                peer.step()
        return State(periods * PERIOD, data.qpos.copy(), data.qvel.copy())

    return run


def _pinocchio(mechanism: Mechanism, tasks: Tasks) -> Run:
    """Without projection, as a user of the solver would write it."""
    peer = PinocchioPeer(mechanism)
    controller, start = _law(mechanism, tasks), mechanism.start(tasks=tasks)
    motors, space = mechanism.actuators.matrix, mechanism.model

    def run(periods: int) -> State:
        controller.reset()
        state = start
        for k in range(periods):
            tau = motors @ controller.command(state).efforts

            def acceleration(t: float, q: Array, v: Array, tau: Array = tau) -> Array:
                return peer.acceleration(State(t, q, v), tau)

            q, v = rk4_step(space, acceleration, state.t, state.q, state.v, PERIOD)
            state = State((k + 1) * PERIOD, q, v)
        return state

    return run


_ENGINES: dict[str, Callable[[Mechanism, Tasks], Run]] = {
    OURS: _ours,
    "MuJoCo mj_step, constant effort": partial(_mujoco, constant=True),
    "MuJoCo mj_step, the same law": partial(_mujoco, constant=False),
    "Pinocchio constraintDynamics, RK4, the same law": _pinocchio,
}
