# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A controller whose commands take effect late, given the states in which they do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from uk_dynamics.compilation import Selection
from uk_dynamics.compilation.runtime import (
    CompiledForesight,
    CompiledMotion,
    ForeignReferenceError,
)
from uk_dynamics.constraints.references import ReferenceSample
from uk_dynamics.control.command import MotorCommand
from uk_dynamics.control.effect_prediction import EffectPrediction
from uk_dynamics.mechanism.dynamics import CompiledController, ControlInC, require_finite
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism


class CompensatedController(Protocol):
    """What a controller must have: all of this package do."""

    mechanism: Mechanism
    active: ActiveConstraints | None
    structure: Mapping[str, ReferenceSample]

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows of the tracking error."""

    def command(self, state: State) -> MotorCommand:
        """Efforts for a state."""

    def tracking_error(self, state: State) -> Array:
        """Tracking error, (rows,), in m or rad."""


class DelayCompensation:
    """A controller in a loop with a delay; :class:`EffectPrediction` states the rule.

    Attributes:
        controller: Computes the commands.
        prediction: Predicts the states it gets; its ``delay`` can be changed at any time.
    """

    def __init__(
        self,
        controller: CompensatedController,
        delay: float,
        *,
        control_period: float,
        longest: float = 0.1,
        backend: str | Selection = "auto",
    ) -> None:
        """Prepare the prediction.

        Args:
            controller: Its own memory of past commands, if any, is of those it gives here.
            delay: From the instant of a state until the efforts computed from it act, in s.
            control_period: Time for which efforts are held, in s.
            longest: Longest delay that is predicted, in s.
            backend: Evaluator of the mechanism; see :func:`select_backend`.

        Raises:
            InputError: A time is negative or not finite.
        """
        self.controller = controller
        self.prediction = EffectPrediction(
            controller.mechanism, control_period, delay, longest=longest, backend=backend
        )

    @property
    def active(self) -> ActiveConstraints | None:
        """Switchable constraints that are on; None: as in the mechanism file."""
        return self.controller.active

    @active.setter
    def active(self, active: ActiveConstraints | None) -> None:
        self.controller.active = active

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows of the tracking error."""
        return self.controller.row_names

    def command(self, state: State) -> MotorCommand:
        """The command for a measured state.

        Raises:
            DelayError: The delay is above the longest.
            UkDynamicsError: As for :meth:`EffectPrediction.at_effect` and the controller.
        """
        controller = self.controller
        require_finite(controller.mechanism.model, state)
        inputs = Inputs(active=controller.active, references=controller.structure)
        effective = self.prediction.at_effect(state, inputs)
        command = controller.command(effective)
        self.prediction.sent(effective.t, command.efforts)
        return command

    def tracking_error(self, state: State) -> Array:
        """Tracking error of a measured state, (rows,), in m or rad."""
        return self.controller.tracking_error(state)

    def compiled(self) -> ControlInC | str:
        """Itself in C; otherwise what keeps it in Python."""
        if not isinstance(self.controller, CompiledController):
            return f"{type(self.controller).__name__}, an object of Python"
        inner = self.controller.compiled()
        if isinstance(inner, str):
            return inner
        motion = self.prediction.dynamics.motion()
        if not isinstance(motion, CompiledMotion):
            return "joints with several coordinates, or a mechanism that is interpreted"
        compiled = _InC(self, inner, motion)
        try:
            compiled.set()
        except ForeignReferenceError as error:
            return str(error)
        return compiled


class _InC:
    """A :class:`ControlInC`."""

    def __init__(self, owner: DelayCompensation, inner: ControlInC, motion: CompiledMotion) -> None:
        self._owner, self._inner = owner, inner
        effects = owner.prediction.effects
        self._foresight = CompiledForesight(motion, inner.law, effects)
        self.law = self._foresight.law
        self.remembered = (effects.rows, effects.count, *inner.remembered)

    def set(self) -> None:
        """See :meth:`ControlInC.set`."""
        self._inner.set()
        controller, prediction = self._owner.controller, self._owner.prediction
        inputs = Inputs(active=controller.active, references=controller.structure, stabilize=False)
        prediction.effects.leave_room()
        self._foresight.set(inputs, prediction.predicted, prediction.longest)

    def tracking_errors(self, t: Array, q: Array, v: Array) -> Array | None:
        """See :meth:`ControlInC.tracking_errors`."""
        return self._inner.tracking_errors(t, q, v)
