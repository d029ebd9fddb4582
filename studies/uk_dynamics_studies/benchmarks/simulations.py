# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Whole simulations at equal energy error: processor time of each engine."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial

import numpy as np

from uk_dynamics.compilation.build import CompilationError
from uk_dynamics.compilation.runtime import CompiledDynamics
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import simulate
from uk_dynamics_studies.benchmarks.peers.exudyn import ExudynPeer
from uk_dynamics_studies.benchmarks.peers.mujoco import MujocoPeer
from uk_dynamics_studies.benchmarks.peers.peer import PeerError
from uk_dynamics_studies.benchmarks.peers.pinocchio import PinocchioPeer

ROLLOUT = "uk_dynamics rollout in C (RK4, projected)"

_LONGEST = 2e-2  # s: steps to begin with
_MOST_HALVINGS = 12
_TOLERANCES = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12)


@dataclass(frozen=True)
class Simulated:
    """One engine's simulation."""

    engine: str  # which, and how
    wall: float  # processor time of the whole simulation, in s
    error: float  # largest change of the energy, relative to the largest kinetic energy
    violation: float  # largest residual at the end, in m or rad
    setting: str  # step or tolerance that was needed
    reached: bool  # whether the energy error is as small as asked


def simulations(
    mechanism: Mechanism, state: State, duration: float, error: float, *, longest_run: float = 15.0
) -> list[Simulated]:
    """Find for every engine the coarsest setting that keeps the energy, and its time."""
    found = [
        _refined(
            "uk_dynamics simulate (DOP853, projected)",
            _ours(mechanism, state, duration),
            [(f"rtol {r:g}", r) for r in _TOLERANCES],
            error,
            longest_run,
        )
    ]
    steps = [
        (f"step {_LONGEST / 2**k * 1e3:.3g} ms", _LONGEST / 2**k) for k in range(_MOST_HALVINGS)
    ]
    engines: dict[str, Callable[[Mechanism, State, float], Run]] = {
        ROLLOUT: _rollout,
        "Pinocchio constraintDynamics, RK4": _pinocchio,
        "MuJoCo default, RK4": partial(_mujoco, stiff=False),
        "MuJoCo stiff, RK4": partial(_mujoco, stiff=True),
        "Exudyn, trapezoidal rule": _exudyn,
    }
    for engine, prepare in engines.items():
        with suppress(CompilationError, PeerError):
            run = prepare(mechanism, state, duration)
            found.append(_refined(engine, run, steps, error, longest_run))
    return found


Run = Callable[[float], tuple[float, float, float]]


def _refined(
    engine: str, run: Run, settings: list[tuple[str, float]], error: float, longest: float
) -> Simulated:
    best: Simulated | None = None
    for name, setting in settings:
        wall, drift, violation = run(setting)
        tried = Simulated(engine, wall, drift, violation, name, drift <= error)
        if best is None or not drift >= best.error:
            best = tried
        if tried.reached or wall > longest:
            break
    assert best is not None
    return best


def _drift(mechanism: Mechanism, path: list[State]) -> tuple[float, float]:
    """Relative change of the energy along a path, and the violation at its end."""
    dynamics = InterpretedDynamics(mechanism)
    energies = [dynamics.energy(state) for state in path]
    totals = np.array([energy.total for energy in energies])
    kinetic = max(energy.kinetic for energy in energies)
    residual = float(np.abs(dynamics.residual(path[-1]).position).max(initial=0.0))
    return float(np.abs(totals - totals[0]).max()) / kinetic, residual


def _ours(mechanism: Mechanism, state: State, duration: float) -> Run:
    simulate(mechanism, state, 1e-3, backend="auto")  # compiled and loaded before time counts

    def run(rtol: float) -> tuple[float, float, float]:
        start = time.process_time()
        trajectory = simulate(
            mechanism, state, duration, rtol=rtol, sample_period=duration / 100, backend="auto"
        )
        wall = time.process_time() - start
        path = [
            State(t, q, v) for t, q, v in zip(trajectory.t, trajectory.q, trajectory.v, strict=True)
        ]
        return wall, *_drift(mechanism, path)

    return run


def _rollout(mechanism: Mechanism, state: State, duration: float) -> Run:
    compiled = CompiledDynamics(mechanism)
    compiled.rollout(state.q, state.v, steps=1, dt=1e-3)  # likewise

    def run(step: float) -> tuple[float, float, float]:
        count = int(np.ceil(duration / step))
        every = max(1, count // 100)
        count = every * int(np.ceil(count / every))
        dt = duration / count
        start = time.process_time()
        moved = compiled.rollout(state.q, state.v, steps=count, dt=dt, every=every, threads=1)
        wall = time.process_time() - start
        path = [State(t, q, v) for t, q, v in zip(moved.t, moved.q[0], moved.v[0], strict=True)]
        return wall, *_drift(mechanism, path)

    return run


def _pinocchio(mechanism: Mechanism, state: State, duration: float) -> Run:
    """The classic method without projection, as a user of the solver would write it."""
    peer, zero = PinocchioPeer(mechanism), np.zeros(mechanism.model.nv)

    def accelerate(at: State) -> Array:
        return peer.acceleration(at, zero)

    def run(step: float) -> tuple[float, float, float]:
        count = int(np.ceil(duration / step))
        keep = max(1, count // 100)
        h, q, v = duration / count, state.q.copy(), state.v.copy()
        path = [state]
        start = time.process_time()
        for k in range(1, count + 1):
            a1 = accelerate(State(0.0, q, v))
            v2 = v + 0.5 * h * a1
            a2 = accelerate(State(0.0, q + 0.5 * h * v, v2))
            v3 = v + 0.5 * h * a2
            a3 = accelerate(State(0.0, q + 0.5 * h * v2, v3))
            v4 = v + h * a3
            a4 = accelerate(State(0.0, q + h * v3, v4))
            q = q + h / 6.0 * (v + 2.0 * v2 + 2.0 * v3 + v4)
            v = v + h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4)
            if k % keep == 0 or k == count:
                path.append(State(k * h, q, v))
        return time.process_time() - start, *_drift(mechanism, path)

    return run


def _mujoco(mechanism: Mechanism, state: State, duration: float, *, stiff: bool) -> Run:
    MujocoPeer(mechanism, stiff=stiff)  # refuses what it cannot express

    def run(step: float) -> tuple[float, float, float]:
        peer = MujocoPeer(mechanism, stiff=stiff, step=step)
        peer.prepare_simulation()
        peer.set(state, np.zeros(mechanism.model.nv))
        count = int(np.ceil(duration / step))
        keep = max(1, count // 100)
        path = [state]
        start = time.process_time()
        for k in range(1, count + 1):
            peer.step()
            if k % keep == 0 or k == count:
                path.append(State(k * step, peer.data.qpos.copy(), peer.data.qvel.copy()))
        return time.process_time() - start, *_drift(mechanism, path)

    return run


def _exudyn(mechanism: Mechanism, state: State, duration: float) -> Run:
    peer = ExudynPeer(mechanism)

    def run(step: float) -> tuple[float, float, float]:
        parts = 100
        count = parts * int(np.ceil(duration / (parts * step)))
        start = time.process_time()
        path = peer.samples(state, duration, count, parts)
        return time.process_time() - start, *_drift(mechanism, path)

    return run
