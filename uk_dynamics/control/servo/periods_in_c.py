# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Control periods of tasks in C, one call each, for loops that live in Python.

A simulation leaves many periods to one call (:meth:`ServoModes.compiled`); a node has a state at a
time.
"""

from __future__ import annotations

from uk_dynamics.compilation.runtime import CompiledForesight, CompiledMotion
from uk_dynamics.control.command import MotorCommand
from uk_dynamics.control.effect_prediction import EffectPrediction
from uk_dynamics.control.servo.compiled_period import CompiledPeriod, PeriodCall
from uk_dynamics.control.servo.servo_modes import TASKS, ServoModes
from uk_dynamics.mechanism.dynamics import ControlInC
from uk_dynamics.mechanism.resolution import Array, Inputs, State


class PeriodsInC:
    """Prediction, law and transfer of :class:`ServoModes` in mode ``tasks``, in C."""

    def __init__(self, modes: ServoModes, prediction: EffectPrediction) -> None:
        """Prepare; nothing is in C before the first period."""
        self._modes, self._prediction = modes, prediction
        self._law: ControlInC | None = None
        self._efforts: Array | None = None

    def efforts(self, state: State) -> Array | None:
        """Efforts for a measured state, fresh, (motors,); None: Python has to decide.

        Args:
            state: Measured; its structure and tasks follow what their files say.
        """
        modes = self._modes
        if modes.mode != TASKS or modes.servo is None or modes.structure:
            return None
        if self._law is None and not self._prepare():
            return None
        assert self._law is not None
        self._law.set()
        self._foresight.set(_ALONE, self._prediction.predicted, self._prediction.longest)
        self._efforts = self._call(state)
        return self._efforts

    def command(self) -> MotorCommand:
        """The last efforts, with what led to them."""
        assert self._modes.servo is not None
        assert self._efforts is not None
        return self._modes.servo.command_of(self._period, self._efforts.copy(), self._call.flags)

    def _prepare(self) -> bool:
        """Find what is compiled; it may be later."""
        modes = self._modes
        if modes.servo is None or modes.mechanism.hierarchy.switchable:
            return False
        period, law = modes.servo.compiled(), modes.compiled()
        motion = self._prediction.dynamics.motion()
        if isinstance(law, str) or not isinstance(period, CompiledPeriod):
            return False
        if not isinstance(motion, CompiledMotion):
            return False
        self._period, self._law = period, law
        self._foresight = CompiledForesight(motion, law.law, self._prediction.effects)
        self._call = PeriodCall(self._foresight.law, modes.mechanism)
        return True


_ALONE = Inputs(stabilize=False)
