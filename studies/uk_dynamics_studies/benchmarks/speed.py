# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Time and accuracy of one constrained acceleration, engine by engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from uk_dynamics.compilation.build import CompilationError
from uk_dynamics.compilation.runtime import CompiledDynamics
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics_studies.benchmarks.peers.drake import DrakePeer
from uk_dynamics_studies.benchmarks.peers.exudyn import ExudynPeer
from uk_dynamics_studies.benchmarks.peers.mujoco import MujocoPeer
from uk_dynamics_studies.benchmarks.peers.peer import PeerError, check_same_machine
from uk_dynamics_studies.benchmarks.peers.pinocchio import Algorithm, PinocchioPeer
from uk_dynamics_studies.benchmarks.timing import medians

BATCH = 4096  # states
_STATES = 5  # for accuracy
_STIFF = "MuJoCo stiff"
_ALONG = "steps of 1 ms along a motion"
_STEPS = 20  # of Exudyn, at a time

AnyPeer = PinocchioPeer | MujocoPeer | DrakePeer | ExudynPeer


@dataclass(frozen=True)
class Measured:
    """One line of a table."""

    mechanism: str
    engine: str  # which engine, and how it was asked
    seconds: float | None  # of one evaluation, None where there is none
    # largest difference from the interpreted acceleration, relative to the largest acceleration;
    # none where it is not asked
    error: float | None
    note: str = ""  # why there is no time, or what it is the time of


def states(mechanism: Mechanism, count: int) -> list[State]:
    """Closed states with random velocities around the assembled configuration."""
    dynamics = InterpretedDynamics(mechanism)
    generator = np.random.default_rng(0)
    q = mechanism.assemble()
    return [
        dynamics.project(mechanism.state(q, generator.standard_normal(mechanism.model.nv)))
        for _ in range(count)
    ]


def single(mechanism: Mechanism, seconds: float = 4.0) -> list[Measured]:
    """One evaluation from Python at a time."""
    chosen = states(mechanism, _STATES)
    tau = np.random.default_rng(1).standard_normal(mechanism.model.nv)
    inputs = Inputs(tau=tau, stabilize=False)
    interpreted = InterpretedDynamics(mechanism)
    expected = [interpreted.evaluate(state, inputs).qdd for state in chosen]
    size = max(float(np.abs(qdd).max()) for qdd in expected)
    state = chosen[0]
    functions: dict[str, Callable[[], object]] = {
        "uk_dynamics interpreted": lambda: interpreted.evaluate(state, inputs)
    }
    errors: dict[str, float | None] = {"uk_dynamics interpreted": None}
    missing: list[Measured] = []
    notes: dict[str, str] = {}
    parts: dict[str, int] = {}  # of what is timed, where one call is not one of them

    def add(engine: str, function: Callable[[], object], answers: list[Array]) -> None:
        functions[engine] = function
        off = [np.abs(a - e).max() for a, e in zip(answers, expected, strict=True)]
        errors[engine] = float(max(off)) / size

    answers = [interpreted.acceleration(s.q, s.v, tau) for s in chosen]
    quick = partial(interpreted.acceleration, state.q, state.v, tau)
    add("uk_dynamics interpreted, acceleration alone", quick, answers)
    try:
        compiled = CompiledDynamics(mechanism)
        answers = [compiled.evaluate(s, inputs).qdd for s in chosen]
        add("uk_dynamics compiled", lambda: compiled.evaluate(state, inputs), answers)
        answers = [compiled.acceleration(s.q, s.v, tau).copy() for s in chosen]
        quick = partial(compiled.acceleration, state.q, state.v, tau)
        add("uk_dynamics compiled, acceleration alone", quick, answers)
        # at the state of the last evaluation, which is the one that counts here
        compiled.evaluate(state, inputs)
        add("uk_dynamics compiled, C alone", compiled.call, answers)
    except CompilationError as error:
        missing.append(Measured(mechanism.name, "uk_dynamics compiled", None, None, str(error)))
    force = tau + mechanism.passive.force(state.q, state.v)
    for engine, peer in _peers(mechanism, chosen, missing):
        answers = [peer.acceleration(s, tau) for s in chosen]
        if isinstance(peer, PinocchioPeer):
            add(engine, partial(peer.bare, state.q, state.v, force), answers)
            continue
        peer.set(state, tau)
        if isinstance(peer, DrakePeer):
            add(engine, peer.forward, answers)
            continue
        if isinstance(peer, ExudynPeer):
            add(f"{engine}, start of its solver", peer.forward, answers)
            moving = ExudynPeer(mechanism)
            stepping = f"{engine}, implicit step"
            functions[stepping] = moving.motion_from(state, tau, _STEPS)
            errors[stepping], parts[stepping] = None, _STEPS
            notes[stepping] = _ALONG
            continue
        add(f"{engine}, mj_forward", peer.forward, answers)
        stepping = f"{engine}, mj_step"
        stepper = MujocoPeer(mechanism, stiff=engine == _STIFF)
        functions[stepping], errors[stepping] = stepper.steps_from(state, tau), None
        notes[stepping] = _ALONG
    times = medians(functions, seconds=seconds)
    measured = [
        Measured(mechanism.name, e, times[e] / parts.get(e, 1), errors[e], notes.get(e, ""))
        for e in functions
    ]
    return measured + missing


def batch(mechanism: Mechanism, seconds: float = 4.0) -> list[Measured]:
    """Many states at once on one thread; times are those of one state."""
    generator = np.random.default_rng(2)
    some = states(mechanism, 64)
    chosen = [some[k] for k in generator.integers(0, len(some), BATCH)]
    q, v = np.array([s.q for s in chosen]), np.array([s.v for s in chosen])
    tau = np.zeros_like(v)
    inputs = Inputs(stabilize=False)
    functions: dict[str, Callable[[], object]] = {}
    missing: list[Measured] = []
    error = None
    try:
        compiled = CompiledDynamics(mechanism)
        interpreted = InterpretedDynamics(mechanism)
        found = compiled.evaluate_batch(q, v, tau, inputs=inputs, forces=False, threads=1).qdd
        expected = np.array([interpreted.evaluate(s, inputs).qdd for s in chosen[:64]])
        error = float(np.abs(found[:64] - expected).max() / np.abs(expected).max())
        functions["uk_dynamics evaluate_batch"] = lambda: compiled.evaluate_batch(
            q, v, tau, inputs=inputs, forces=False, threads=1
        )
    except CompilationError as problem:
        missing.append(
            Measured(mechanism.name, "uk_dynamics evaluate_batch", None, None, str(problem))
        )
    for stiff in (False, True):
        engine = f"MuJoCo {'stiff' if stiff else 'default'}, rollout"
        try:
            peer = MujocoPeer(mechanism, stiff=stiff)
            check_same_machine(peer, mechanism, some[:2])
            functions[engine] = peer.rollout(q, v)
        except PeerError as problem:
            missing.append(Measured(mechanism.name, engine, None, None, problem.problem))
    times = medians(functions, rounds=10, seconds=seconds) if functions else {}
    ours = "uk_dynamics evaluate_batch"
    rows = [
        Measured(mechanism.name, engine, time / BATCH, error if engine == ours else None)
        for engine, time in times.items()
    ]
    return rows + missing


def _peers(
    mechanism: Mechanism, chosen: list[State], missing: list[Measured]
) -> list[tuple[str, AnyPeer]]:
    """Engines that can simulate the mechanism; why others cannot goes to ``missing``."""
    found: list[tuple[str, AnyPeer]] = []

    def make(engine: str, build: Callable[[], AnyPeer]) -> None:
        try:
            peer = build()
            check_same_machine(peer, mechanism, chosen[:2])
            found.append((engine, peer))
        except PeerError as error:
            missing.append(Measured(mechanism.name, engine, None, None, error.problem))

    algorithms: tuple[Algorithm, ...] = ("constraintDynamics", "lcaba")
    for algorithm in algorithms:
        make(f"Pinocchio {algorithm}", partial(PinocchioPeer, mechanism, algorithm))
    for stiff in (False, True):
        engine = _STIFF if stiff else "MuJoCo default"
        make(engine, partial(MujocoPeer, mechanism, stiff=stiff))
    make("Drake, SAP", partial(DrakePeer, mechanism))
    make("Exudyn", partial(ExudynPeer, mechanism))
    return found
