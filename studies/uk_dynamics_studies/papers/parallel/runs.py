# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The parallel manipulator as the package moves it, and as torques found beforehand move it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from uk_dynamics import Mechanism, ServoController, State
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics_studies.papers.parallel import arms
from uk_dynamics_studies.papers.parallel.arms import Array, Motion

JOINTS = ("a1", "b1", "a2", "b2", "a3", "b3")


class Torques(NamedTuple):
    """Along the exact motion."""

    t: Array  # times, (K,), in s
    motors: Array  # by the servo law on the mechanism, (K, 3), in N·m
    closed_form: Array  # the same from the plain formulas
    stacked: Array  # the stacked recipe's force on each joint, (K, 6), in N·m
    balance: Array  # largest entry of M q̈ + h − A_sᵀλ − S u of the closed machine, (K,), in N·m
    missed: Array  # how far its accelerations are from those of the exact motion, (K,), in rad/s²


class Program(NamedTuple):
    """Torques as a function of time, without feedback; a controller for a simulation."""

    servo: ServoController  # says how far the task is missed
    torques: Callable[[float], Array]  # motor torques at a time, (3,), in N·m

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the task rows."""
        return self.servo.row_names

    def command(self, state: State) -> Decided:
        """What the program says for this time."""
        return Decided(self.torques(state.t), ())

    def tracking_error(self, state: State) -> Array:
        """How far the point is from its line, (2,), in m."""
        return self.servo.tracking_error(state)


class Decided(NamedTuple):
    """Torques, the task rows they cannot serve, and motors at their limits."""

    efforts: Array
    unreachable: tuple[str, ...]
    limited_by: Mapping[str, str] = MappingProxyType({})


def state_of(mechanism: Mechanism, motion: Motion, t: float) -> State:
    """A motion as a state of the mechanism."""
    return mechanism.state(_named(motion.q), _named(motion.v), t)


def torques_along(servo: ServoController, count: int) -> Torques:
    """Torques at count + 1 times of one period, and how well they do in the closed machine."""
    mechanism, dynamics = servo.mechanism, InterpretedDynamics(servo.mechanism)
    times = np.linspace(0.0, arms.PERIOD, count + 1)
    motors, closed_form, stacked, balance, missed = [], [], [], [], []
    for t in times:
        motion = arms.exact_motion(t)
        state = state_of(mechanism, motion, t)
        efforts = servo.command(state).requested
        inputs = mechanism.inputs(efforts=efforts)
        solution = dynamics.evaluate(state, inputs)
        M, F, A, _ = mechanism.terms(state, inputs)  # F has the motors in it already
        rest = M @ solution.qdd - F - A.T @ solution.multipliers
        wanted = mechanism.model.to_velocities(_named(motion.a))
        motors.append(efforts)
        closed_form.append(arms.consistent_torques(motion))
        stacked.append(arms.stacked_force(motion))
        balance.append(np.abs(rest).max())
        missed.append(np.abs(solution.qdd - wanted).max())
    return Torques(times, *map(np.array, (motors, closed_form, stacked, balance, missed)))


def _named(values: Array) -> dict[str, float]:
    return dict(zip(JOINTS, values.tolist(), strict=True))
