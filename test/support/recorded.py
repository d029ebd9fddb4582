# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Recordings of machines whose parameters are known, from closed forms instead of simulations."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from uk_dynamics import Mechanism, State, Trajectory
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.simulation.recording import Statistics
from uk_dynamics.simulation.recording.trajectory_data import Names

Array = NDArray[np.float64]
PARALLELOGRAM = np.array([1.0, -1.0, 1.0, 1.0])  # rates of crank, coupler, middle, right


def five_bar_recording(
    machine: Mechanism, *, duration: float = 8.0, noise: bool = False, seed: int = 0
) -> Trajectory:
    """The five-bar on a sum of sinusoids of its crank, 500 samples a second.

    All legs turn with the crank, and the effort is what the equation of motion of that one freedom
    asks for. Noise: 1e-4 rad, and 1 % of the efforts.
    """
    t = np.arange(0.0, duration, 0.002)
    waves = ((0.35, 0.4, 0.3), (0.12, 1.0, 1.1), (0.05, 1.8, 2.0))
    turns = [(a, 2.0 * np.pi * f, p) for a, f, p in waves]
    angle = 0.9 + sum(a * np.sin(w * t + p) for a, w, p in turns)
    rate = sum(a * w * np.cos(w * t + p) for a, w, p in turns)
    acceleration = -sum(a * w**2 * np.sin(w * t + p) for a, w, p in turns)
    q, v = np.outer(angle, PARALLELOGRAM), np.outer(rate, PARALLELOGRAM)
    qdd = np.outer(acceleration, PARALLELOGRAM)
    efforts, dynamics = np.zeros((len(t), 1)), InterpretedDynamics(machine)
    for k in range(len(t)):
        terms = dynamics.terms(State(float(t[k]), q[k], v[k]))
        efforts[k] = PARALLELOGRAM @ (terms.M @ qdd[k] - terms.F)
    # commands hold until the next sample: that of its middle
    efforts[:-1] = 0.5 * (efforts[:-1] + efforts[1:])
    if noise:
        random = np.random.default_rng(seed)
        size = np.sqrt((efforts**2).mean())
        q = q + 1e-4 * random.standard_normal(q.shape)
        efforts = efforts + 0.01 * size * random.standard_normal(efforts.shape)
    return recording(machine, t, q, v, qdd, efforts)


def recording(
    machine: Mechanism, t: Array, q: Array, v: Array, qdd: Array, efforts: Array
) -> Trajectory:
    """A trajectory that holds a motion and nothing else."""
    names, none, K = machine.joint_names, np.zeros((len(t), 0)), len(t)
    return Trajectory(
        name=machine.name,
        names=Names(names, names, machine.actuators.names, (), ()),
        t=t,
        q=q,
        v=v,
        qdd=qdd,
        efforts=efforts,
        effort_limits=machine.actuators.effort_limits,
        residual=none,
        residual_rate=none,
        multipliers=none,
        contact_gaps=none,
        contact_rates=none,
        contact_forces=none,
        tracking_error=none,
        references=none,
        bounds=none,
        estimates=none,
        deviations=none,
        kinetic=np.zeros(K),
        potential=np.zeros(K),
        rank=np.zeros(K, dtype=int),
        condition=np.ones(K),
        status=("OK",) * K,
        warnings=(),
        statistics=Statistics(K, 0, 0.0),
    )
