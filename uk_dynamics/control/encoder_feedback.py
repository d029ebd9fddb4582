# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A controller that knows its machine by encoders alone, as on hardware."""

from dataclasses import dataclass
from typing import Protocol

from uk_dynamics.control.command import MotorCommand
from uk_dynamics.control.delay_compensation import AroundController, ModelController
from uk_dynamics.control.estimation import EncoderReadings
from uk_dynamics.mechanism import EncoderSpec, Tasks
from uk_dynamics.mechanism.dynamics import Backend, CompiledLaw, law_of
from uk_dynamics.mechanism.resolution import State


class ServoLike(ModelController, Protocol):
    """What is asked of the controller."""

    tasks: Tasks


@dataclass
class EncoderFeedback(AroundController[ServoLike]):
    """Gives a controller what encoders of the measured joints make of a state.

    :class:`EncoderReadings` says what that is. The tracking error is that of the true state.
    """

    controller: ServoLike
    encoders: EncoderSpec
    backend: Backend = "auto"  # of the readings, where the controller is in C

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

    def reset(self) -> None:
        """Forget what was read: before another motion."""
        self._readings.reset()

    def compiled(self) -> CompiledLaw | str:
        """Itself in C; otherwise what keeps it in Python.

        Raises:
            CompilationError: With backend ``compiled``, as :meth:`EncoderReadings.before`.
        """
        inner = law_of(self.controller)
        return inner if isinstance(inner, str) else self._readings.before(inner, self.backend)
