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

    def efforts(self, state: State) -> Array | None:
        """Efforts for a measured state, fresh, (motors,); None: Python has to decide.

        Args:
            state: Measured; its structure and tasks follow what their files say.
        """
        modes = self._modes
        if modes.structure or modes.mode != TASKS:
            return None
        law, prediction = self._law or self._prepare(), self._prediction
        if law is None:
            return None
        if not self._memory.current:
            law.set()
        self._foresight.set(_ALONE, prediction.predicted, prediction.longest)
        return self._call.run(state)

    def command(self) -> MotorCommand:
        """The last efforts, with what led to them."""
        assert self._modes.servo is not None
        call = self._call
        return self._modes.servo.command_of(self._period, call.efforts.copy(), call.flags)

    def _prepare(self) -> ControlInC | None:
        """Find what is compiled; it may be later."""
        modes = self._modes
        if modes.servo is None or modes.mechanism.hierarchy.switches:
            return None
        period, law = modes.servo.compiled(), modes.compiled()
        motion = self._prediction.dynamics.motion()
        if isinstance(law, str) or not isinstance(period, CompiledPeriod):
            return None
        if not isinstance(motion, CompiledMotion):
            return None
        self._period, self._law, self._memory = period, law, period.memory
        self._foresight = CompiledForesight(motion, law.law, self._prediction.effects)
        self._call = PeriodCall(self._foresight.law, modes.mechanism)
        return law


_ALONE = Inputs(stabilize=False)
