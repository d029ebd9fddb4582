# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Control periods of tasks in C, one call each, for loops that live in Python.

A simulation leaves many periods to one call (:meth:`ServoModes.compiled`); a node has a state at a
time. What C remembers from one period to the next stays there until something is set in Python.
"""

from __future__ import annotations

import numpy as np

from uk_dynamics.compilation.runtime import CompiledForesight, CompiledMotion, CompiledTransfer
from uk_dynamics.control.command import MotorCommand
from uk_dynamics.control.effect_prediction import EffectPrediction
from uk_dynamics.control.servo.compiled_period import LAW
from uk_dynamics.control.servo.servo_modes import TASKS, ServoModes
from uk_dynamics.mechanism.resolution import Array, Inputs, State


class PeriodsInC:
    """Prediction, law and transfer of :class:`ServoModes` in mode ``tasks``, in C.

    Attributes:
        loaded: Whether C has what is set and remembered. Before anything of the controller or the
            prediction is read or set, :meth:`leave` takes it back.
    """

    def __init__(self, modes: ServoModes, prediction: EffectPrediction) -> None:
        """Prepare; nothing is in C before the first period."""
        self.loaded = False
        self._modes, self._prediction = modes, prediction
        self._law: tuple[CompiledTransfer, CompiledForesight] | None = None
        mechanism = modes.mechanism
        self._q, self._v = np.zeros(mechanism.model.nq), np.zeros(mechanism.model.nv)
        self._efforts = np.zeros(len(mechanism.actuators))
        self._flags = np.zeros(0)

    def efforts(self, state: State) -> Array | None:
        """Efforts for a measured state, fresh, (motors,); None: Python has to decide.

        Args:
            state: Measured; its structure and tasks follow what their files say.
        """
        if self.loaded and not self._period.loaded:
            self.leave()  # what the law remembers was read
        if not self.loaded and not self._load():
            return None
        assert self._law is not None
        foresight = self._law[1]
        foresight.set_delay(self._prediction.predicted, self._prediction.longest)
        self._q[:], self._v[:] = state.q, state.v
        if self._call(self._controller, state.t, *self._places):
            self.leave()
            return None
        return self._efforts.copy()

    def command(self) -> MotorCommand:
        """The last efforts, with what led to them."""
        assert self._modes.servo is not None
        return self._modes.servo.command_of(self._period, self._efforts.copy(), self._flags)

    def leave(self) -> None:
        """Take back what C remembers."""
        if self.loaded and self._law is not None:
            self._modes.store(self._law[0])
            self._law[1].store()
            self._period.store()
            self.loaded = False

    def _load(self) -> bool:
        """Hand over to C; whether it can decide."""
        modes = self._modes
        if modes.mode != TASKS or modes.servo is None or modes.structure:
            return False
        if self._law is None and not self._prepare():
            return False
        assert self._law is not None
        transfer, foresight = self._law
        modes.load(transfer)
        self._period.load()
        foresight.load(Inputs(stabilize=False), 0.0, 0.0)
        self.loaded = True
        return True

    def _prepare(self) -> bool:
        """Find what is compiled; it may be later."""
        modes = self._modes
        if modes.servo is None or modes.mechanism.hierarchy.switchable:
            return False
        period, motion = modes.servo.compiled(), self._prediction.dynamics.motion()
        if isinstance(period, str) or not isinstance(motion, CompiledMotion):
            return False
        self._period = period
        transfer = CompiledTransfer(motion, period.law)
        foresight = CompiledForesight(motion, transfer.law, self._prediction.effects)
        self._law = transfer, foresight
        self._call, self._controller = LAW(foresight.law.function), foresight.law.controller
        self._flags = np.zeros(len(foresight.law.flags))
        arrays = (self._q, self._v, self._efforts, self._flags)
        self._places = tuple(array.ctypes.data for array in arrays)
        return True
