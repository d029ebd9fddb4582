# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Encoders, and a controller that knows its machine by them alone, as on hardware."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from uk_dynamics.control.command import MotorCommand
from uk_dynamics.control.delay_compensation import AroundController, ModelController
from uk_dynamics.control.estimation.state_completion import StateCompletion
from uk_dynamics.exceptions import SimulationError
from uk_dynamics.mechanism import EncoderSpec, Tasks
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism


class ServoLike(ModelController, Protocol):
    """What is asked of the controller."""

    tasks: Tasks


class EncoderReadings:
    """What encoders of the measured joints make of a machine's states, which are read in turn.

    Positions are rounded to the resolution, with noise before; velocities are their filtered
    differences, the first ones true; the loops give all other joints.
    """

    def __init__(self, mechanism: Mechanism, encoders: EncoderSpec) -> None:
        """``mechanism`` is the machine as it is known, which closes the loops."""
        self._completion = StateCompletion(mechanism)
        self._encoders = encoders
        self._random = np.random.default_rng(encoders.seed)
        self._last: tuple[float, Array, Array] | None = None  # time, positions, velocities

    def read(self, state: State) -> State:
        """What is known of a true state; one that is not later than the last begins again.

        Raises:
            SimulationError: The loops do not close with what is measured.
        """
        measured, spec = self._completion.encoders, self._encoders
        noise = spec.noise * self._random.standard_normal(len(measured.names))
        position = state.q[measured.places] + noise
        if spec.resolution:
            position = spec.resolution * np.round(position / spec.resolution)
        velocity = state.v[measured.columns]
        if self._last is not None and state.t > self._last[0]:
            elapsed = state.t - self._last[0]
            part = 1.0 - np.exp(-elapsed / spec.filter) if spec.filter else 1.0
            rate = (position - self._last[1]) / elapsed
            velocity = self._last[2] + part * (rate - self._last[2])
        self._last = state.t, position, velocity
        found = self._completion.complete(position, velocity, state.t, bases=state)
        if not found.usable:
            raise SimulationError("the loops do not close with the measured joints", state.t)
        return State(state.t, found.q, found.v)


@dataclass
class EncoderFeedback(AroundController[ServoLike]):
    """Gives a controller what encoders of the measured joints make of a state.

    :class:`EncoderReadings` says what that is. The tracking error is that of the true state.
    """

    controller: ServoLike
    encoders: EncoderSpec

    def __post_init__(self) -> None:
        self._readings = EncoderReadings(self.controller.mechanism, self.encoders)

    @property
    def tasks(self) -> Tasks:
        """What the controller follows."""
        return self.controller.tasks

    def command(self, state: State) -> MotorCommand:
        """Efforts for what is measured of a state.

        Raises:
            SimulationError: The loops do not close with what is measured.
            UkDynamicsError: As the controller does.
        """
        return self.controller.command(self._readings.read(state))
