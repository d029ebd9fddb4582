# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Whole control periods of a servo controller in C.

The steps are those of :class:`ServoController`; ``compilation/c/control_period.c`` has them too.
What they remember from one period to the next goes to C before it takes over, and comes back
afterwards.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np

from uk_dynamics.compilation.runtime import (
    CompiledControl,
    CompiledServo,
    ForeignReferenceError,
)
from uk_dynamics.constraints.references import Followed, ReferenceSample
from uk_dynamics.control.command import Command
from uk_dynamics.control.internal_efforts import InternalEfforts
from uk_dynamics.control.limits.motor_limits import MotorLimits
from uk_dynamics.control.servo.bumpless_start import BumplessStart
from uk_dynamics.control.servo.prediction import Prediction
from uk_dynamics.control.servo.task_gains import TaskGains
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, State

LAW = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_double, *(ctypes.c_void_p,) * 4
)  # of motion.h; some microseconds, for which threads need not change


class Settings(NamedTuple):
    """What a caller may set between two periods; attributes of :class:`ServoController`."""

    weights: Array
    preload: Array | None
    internal: InternalEfforts | None
    control_period: float | None
    blend_time: float
    friction: str
    active: ActiveConstraints | None
    structure: Mapping[str, ReferenceSample]


class Steps(NamedTuple):
    """The steps that remember something or can be tuned."""

    gains: TaskGains
    limits: MotorLimits
    prediction: Prediction | None
    start: BumplessStart


class PeriodCommand(Command):
    """The command of a period in C; what is not read is not computed.

    Reading a field for the first time may evaluate in the memory of the controller, so it belongs
    to the controller's thread, as :meth:`ServoController.command` does.
    """

    __slots__ = ("_found",)

    @classmethod
    def of(cls, efforts: Array, found: Callable[[str], dict[str, Any]]) -> PeriodCommand:
        """The command of some efforts, (motors,).

        Args:
            efforts: That are sent.
            found: Values of a field that is read for the first time, and of others with it.
        """
        command = cls.__new__(cls)
        object.__setattr__(command, "efforts", efforts)
        object.__setattr__(command, "_found", found)
        return command

    def __getattr__(self, name: str) -> Any:
        """A field that was not read yet."""
        if name not in _FIELDS:
            raise AttributeError(name)
        for field, value in self._found(name).items():
            object.__setattr__(self, field, value)
        return object.__getattribute__(self, name)


_FIELDS = frozenset(field.name for field in fields(Command))


class CompiledPeriod:
    """Control periods of a servo controller in C.

    Attributes:
        servo: Which evaluates the law.
        law: What C calls.
        tasks: Whose law it is.
        loaded: Whether C remembers the last periods; see :meth:`store`.
        flags: Of :meth:`efforts`: motors at their power limits, at their rate limits, ...
    """

    def __init__(
        self, servo: CompiledServo, tasks: Tasks, steps: Steps, settings: Callable[[], Settings]
    ) -> None:
        self.servo = servo
        self._control = CompiledControl(servo, tasks)
        self.tasks = tasks
        self._steps, self._settings = steps, settings
        self._scale = tasks.constraints.reference_scale
        self.law = self._control.law
        self.loaded = False
        mechanism = tasks.mechanism
        self._q, self._v = np.zeros(mechanism.model.nq), np.zeros(mechanism.model.nv)
        self._efforts = np.zeros(len(mechanism.actuators))
        self.flags = np.zeros(len(self.law.flags))
        arrays = (self._q, self._v, self._efforts, self.flags)
        self._call, self._places = LAW(self.law.function), [x.ctypes.data for x in arrays]

    def efforts(
        self, state: State, settings: Settings, references: Mapping[str, Followed] | None
    ) -> Array | None:
        """Efforts of one period, fresh, (motors,); None: C has none, and remembers nothing.

        Raises:
            UnknownNameError, StateError: As :meth:`Tasks.sample`.
        """
        try:
            self._set(settings, references)
        except ForeignReferenceError:
            self.store()
            return None
        if not self.loaded:
            self._remember()
        self._q[:], self._v[:] = state.q, state.v
        if self._call(self.law.controller, state.t, *self._places):
            self.store()
            return None
        return self._efforts.copy()

    def load(self) -> None:
        """Hand over settings and what the last periods left.

        Raises:
            ForeignReferenceError: Something follows an object of Python.
        """
        self.store()
        self._set(self._settings(), None)
        self._remember()

    def _set(self, settings: Settings, references: Mapping[str, Followed] | None) -> None:
        control, (gains, limits, _, _) = self._control, self._steps
        if not self.loaded:
            control.forget()
        control.follow(settings.structure, settings.active, references)
        control["weights"] = settings.weights
        control["preload"] = 0.0 if settings.preload is None else settings.preload
        control["internal"] = settings.internal is not None
        if settings.internal is not None:
            control["internal_row"] = settings.internal.named
            control["internal_force"] = settings.internal.added
            control["internal_unit"] = settings.internal.unit
        control["period"] = settings.control_period or 0.0
        control["blend_time"] = settings.blend_time
        control["friction"] = settings.friction == "model"
        control["task_damping"], control["task_stiffness"] = gains.damping, gains.stiffness
        control["effort_limit"], control["power_limit"] = limits.effort, limits.power
        control["rate_step"] = limits.step

    def _remember(self) -> None:
        control = self._control
        _, limits, prediction, start = self._steps
        control["commanded_known"] = limits.has_rate_limits and limits.last is not None
        control["commanded"] = 0.0 if limits.last is None else limits.last
        last = None if prediction is None else prediction.last
        qdd = None if prediction is None else prediction.qdd
        control["past_known"] = last is not None
        control["past_t"], control["past_v"] = last or (0.0, 0.0)
        control["acceleration_known"] = qdd is not None
        control["measured_qdd"] = 0.0 if qdd is None else qdd
        control["begun"] = start.begin is not None
        control["begin"], control["approach_time"] = start.begin or 0.0, start.duration
        if start.begin is not None:
            path = start.path.copy()
            of_rate = start.velocity_rows
            path[:4, of_rate], path[4:, of_rate] = start.rate_path[:, of_rate], 0.0
            control["approach"] = path.T.ravel()
        self.loaded = True

    def store(self) -> None:
        """Take over what the last periods in C left."""
        if not self.loaded:
            return
        self.loaded = False
        control = self._control
        _, limits, prediction, start = self._steps
        if limits.has_rate_limits:
            limits.last = control["commanded"] if control["commanded_known"] else None
        if prediction is not None:
            known = bool(control["past_known"])
            prediction.last = (float(control["past_t"][0]), control["past_v"]) if known else None
            prediction.qdd = control["measured_qdd"] if control["acceleration_known"] else None
        start.begin = float(control["begin"][0]) if control["begun"] else None
        start.duration = float(control["approach_time"][0])
        start.path = control["approach"].reshape(-1, 6).T
        start.rate_path = start.path[:4]

    def tracking_errors(self, t: Array, q: Array, v: Array) -> Array | None:
        """Errors of the task rows at K states, (K, mt), in m or rad; None: C has none."""
        errors = self._control.tracking_errors(t, q, v)
        return None if errors is None else errors / self._scale
