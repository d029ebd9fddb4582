# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Time of the derivatives of the acceleration: one state, a batch, and Pinocchio's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space

from uk_dynamics.derivatives import MotionDerivatives
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism.resolution import Array, Inputs
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics_studies.benchmarks.peers.peer import PeerError
from uk_dynamics_studies.benchmarks.peers.pinocchio import PinocchioPeer
from uk_dynamics_studies.benchmarks.speed import states
from uk_dynamics_studies.benchmarks.timing import medians

OURS = "uk_dynamics, in C"
PYTHON = "uk_dynamics, from Python"
BATCH = "uk_dynamics, a batch from Python, one thread"
PEER = "Pinocchio computeConstraintDynamicsDerivatives"
WHOLE_PEER = "Pinocchio, constraintDynamics before them"  # as ours, which have the solution
_STATES = 512  # of a batch
_SAME = 1e-6  # relative; Pinocchio's rows are regularised


@dataclass(frozen=True)
class Differentiated:
    """Derivatives of q̈ by q, v, τ of one engine; ours with the acceleration.

    Attributes:
        mechanism: Its name.
        engine: Which, and how it is asked.
        seconds: Processor time of one state; None: there are no derivatives.
        error: Of the derivatives by τ from ours in C, relative to the largest entry.
        note: Why there are none, or how far those by q and v are off along what the loops allow.
    """

    mechanism: str
    engine: str
    seconds: float | None = None
    error: float | None = None
    note: str = ""


def slopes(mechanism: Mechanism, seconds: float = 4.0) -> list[Differentiated]:
    """All of them by turns, at a state on the constraints."""
    name = mechanism.name
    try:
        derivatives = MotionDerivatives(mechanism, "compiled")
    except UkDynamicsError as problem:
        return [Differentiated(name, OURS, note=str(problem))]
    several = states(mechanism, 16)
    state, rng = several[0], np.random.default_rng(1)
    tau = rng.standard_normal(mechanism.model.nv)
    many = [several[k] for k in rng.integers(0, len(several), _STATES)]
    q, v = np.array([s.q for s in many]), np.array([s.v for s in many])
    efforts = rng.standard_normal(v.shape)
    own = derivatives.acceleration(state.q, state.v, tau)
    one = derivatives.batch(state.q[None], state.v[None], tau[None]).acceleration
    derivatives.acceleration(state.q, state.v, tau)  # what is timed in C alone

    functions: dict[str, Callable[[], object]] = {
        OURS: derivatives.call,
        PYTHON: lambda: derivatives.acceleration(state.q, state.v, tau),
        BATCH: lambda: derivatives.batch(q, v, efforts, threads=1),
    }
    errors: dict[str, float | None] = {
        OURS: None,
        PYTHON: None,
        BATCH: _difference(one.tau[0], own.tau),
    }
    notes: dict[str, str] = {}
    missing: list[Differentiated] = []
    try:
        peer = PinocchioPeer(mechanism)
        by_q, by_v, by_tau = peer.slopes(state, tau)
        bare = derivatives.at(state, Inputs(tau, stabilize=False))
        errors[PEER] = off = _difference(by_tau, bare.acceleration.tau)
        if off > _SAME:
            raise PeerError(f"another mechanism: derivatives by forces are off by {off:.2g}")
        functions[PEER] = peer.differentiate
        force = tau + mechanism.passive.force(state.q, state.v)
        functions[WHOLE_PEER] = lambda: (peer.bare(state.q, state.v, force), peer.differentiate())
        errors[WHOLE_PEER] = off
        # Across what the loops allow, each continues the rows in its own way; Pinocchio's first
        # column by q is wrong for loops of points.
        along = bare.motions @ null_space(bare.motions[:1])
        expected = np.hstack([bare.acceleration.q, bare.acceleration.v])
        differences = (np.hstack([by_q, by_v]) - expected) @ along
        notes[PEER] = (
            "by q and v, along what the loops allow with the first joint held, off by"
            f" {np.abs(differences).max() / np.abs(expected).max():.1e}"
        )
    except PeerError as problem:
        missing.append(Differentiated(name, PEER, note=problem.problem))
    times = medians(functions, seconds=seconds)
    times[BATCH] /= _STATES
    found = [
        Differentiated(name, engine, times[engine], errors[engine], notes.get(engine, ""))
        for engine in times
    ]
    return found + missing


def _difference(found: Array, own: Array) -> float:
    return float(np.abs(found - own).max() / np.abs(own).max())
