# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Whole control periods of a servo controller in C.

The steps are those of :class:`ServoController`; ``compilation/c/control_period.c`` has them too,
and works on the same memory.
"""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.runtime import (
    CompiledControl,
    CompiledServo,
    ControlMemory,
    ForeignReferenceError,
)
from uk_dynamics.constraints.references import Followed, ReferenceSample
from uk_dynamics.control.command import Command
from uk_dynamics.control.internal_efforts import InternalEfforts
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import Law
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, ResolvedMechanism, State

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


class PeriodCall:
    """One period of a law in C.

    Attributes:
        flags: Of the last one: motors at their power limits, at their rate limits, ...
    """

    def __init__(self, law: Law, mechanism: ResolvedMechanism) -> None:
        model = mechanism.model
        self._law, self._function = law, LAW(law.function)
        self._q, self._v = np.zeros(model.nq), np.zeros(model.nv)
        self._efforts, self.flags = np.zeros(len(mechanism.actuators)), np.zeros(len(law.flags))
        arrays = (self._q, self._v, self._efforts, self.flags)
        self._places = [array.ctypes.data for array in arrays]

    def __call__(self, state: State) -> Array | None:
        """Efforts for a measured state, fresh, (motors,); None: C has none."""
        self._q[:], self._v[:] = state.q, state.v
        failed = self._function(self._law.controller, state.t, *self._places)
        return None if failed else self._efforts.copy()


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
    """Control periods of a servo controller in C, on the memory of that controller.

    Attributes:
        servo: Which evaluates the law.
        law: What C calls.
        tasks: Whose law it is.
        remembered: See :class:`ControlInC`.
        call: One period.
    """

    def __init__(
        self,
        servo: CompiledServo,
        tasks: Tasks,
        memory: ControlMemory,
        settings: Callable[[], Settings],
    ) -> None:
        self.servo, self.tasks = servo, tasks
        self.remembered: tuple[NDArray[Any], ...] = (memory.remembered,)
        self._fields, self._settings = memory.fields, settings
        self._control = CompiledControl(servo, tasks)
        self._scale = tasks.constraints.reference_scale
        self._weights, self._preload = memory.fields["weights"], memory.fields["preload"]
        self._known: tuple[object, ...] = (self,)  # settings that C has; at first none
        self.law = self._control.law
        self.call = PeriodCall(self.law, tasks.mechanism)

    def efforts(
        self, state: State, settings: Settings, references: Mapping[str, Followed] | None
    ) -> Array | None:
        """Efforts of one period, fresh, (motors,); None: C has none.

        Raises:
            UnknownNameError, StateError: As :meth:`Tasks.sample`.
        """
        try:
            self._set(settings, references)
        except ForeignReferenceError:
            return None
        return self.call(state)

    def set(self) -> None:
        """See :meth:`ControlInC.set`."""
        self._set(self._settings(), None)

    def _set(self, settings: Settings, references: Mapping[str, Followed] | None) -> None:
        fields, internal = self._fields, settings.internal
        self._control.follow(settings.structure, settings.active, references)
        self._weights[:] = settings.weights
        self._preload[:] = 0.0 if settings.preload is None else settings.preload
        if all(map(operator.is_, settings, self._known)):
            return
        self._known = settings
        fields["period"][0] = settings.control_period or 0.0
        fields["blend_time"][0] = settings.blend_time
        fields["friction"][0] = settings.friction == "model"
        fields["internal"][0] = internal is not None
        if internal is not None:
            fields["internal_row"][:], fields["internal_force"][:] = internal.named, internal.added
            fields["internal_unit"][:] = internal.unit

    def tracking_errors(self, t: Array, q: Array, v: Array) -> Array | None:
        """Errors of the task rows at K states, (K, mt), in m or rad; None: C has none."""
        errors = self._control.tracking_errors(t, q, v)
        return None if errors is None else errors / self._scale
