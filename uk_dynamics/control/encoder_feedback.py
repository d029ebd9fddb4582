# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A controller that knows its machine by encoders alone, as on hardware."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from uk_dynamics.control.command import MotorCommand
from uk_dynamics.control.delay_compensation import AroundController, ModelController
from uk_dynamics.control.estimation.state_completion import StateCompletion
from uk_dynamics.exceptions import SimulationError
from uk_dynamics.mechanism import EncoderSpec, Tasks
from uk_dynamics.mechanism.resolution import Array, State


class ServoLike(ModelController, Protocol):
    """What is asked of the controller."""

    tasks: Tasks


@dataclass
class EncoderFeedback(AroundController[ServoLike]):
    """Gives a controller what encoders of the measured joints make of a state.

    Positions are rounded to the resolution, with noise before; velocities are their filtered
    differences, the first ones true; the loops give all other joints. The tracking error is that of
    the true state.
    """

    controller: ServoLike
    encoders: EncoderSpec

    def __post_init__(self) -> None:
        self._completion = StateCompletion(self.controller.mechanism)
        self._random = np.random.default_rng(self.encoders.seed)
        self._last: tuple[float, Array, Array] | None = None  # time, positions, velocities

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
        measured, spec = self._completion.encoders, self.encoders
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
        return self.controller.command(State(state.t, found.q, found.v))
