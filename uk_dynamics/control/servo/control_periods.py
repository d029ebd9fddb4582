# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Control periods of tasks in C, one call each, for loops that live in Python.

A simulation leaves many periods to one call (:meth:`ServoModes.compiled`); a node has a state at a
time.
"""

from uk_dynamics.compilation.runtime import CompiledDelayCompensation, CompiledMotion
from uk_dynamics.control.command import MotorCommand
from uk_dynamics.control.delay_compensation import DelayPrediction
from uk_dynamics.control.servo.compiled_period import CompiledPeriod, PeriodCall
from uk_dynamics.control.servo.servo_modes import TASKS, ServoModes
from uk_dynamics.mechanism.dynamics import CompiledLaw
from uk_dynamics.mechanism.resolution import Array, Inputs, State


class ControlPeriods:
    """Prediction, law and transfer of :class:`ServoModes` in mode ``tasks``, in C."""

    def __init__(self, modes: ServoModes, prediction: DelayPrediction) -> None:
        """Prepare; nothing is in C before the first period."""
        self._modes, self._prediction = modes, prediction
        self._law: CompiledLaw | None = None

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
        self._compensation.set(_ALONE, prediction.predicted, prediction.longest)
        return self._call.run(state)

    def command(self) -> MotorCommand:
        """The last efforts, with what led to them."""
        assert self._modes.servo is not None
        call = self._call
        return self._modes.servo.command_of(self._period, call.efforts.copy(), call.flags)

    def _prepare(self) -> CompiledLaw | None:
        """Find what is compiled; it may be later."""
        modes = self._modes
        if modes.servo is None or modes.mechanism.hierarchy.switches:
            return None
        period = modes.servo.compiled()
        if not isinstance(period, CompiledPeriod):
            return None
        law, motion = modes.compiled(), self._prediction.dynamics.motion()
        if isinstance(law, str) or not isinstance(motion, CompiledMotion):
            return None
        self._period, self._law, self._memory = period, law, period.memory
        self._compensation = CompiledDelayCompensation(motion, law.law, self._prediction.effects)
        self._call = PeriodCall(self._compensation.law, modes.mechanism)
        return law


_ALONE = Inputs(stabilize=False)
