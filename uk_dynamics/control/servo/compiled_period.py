# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Whole control periods of a servo controller in C.

The steps are those of :class:`ServoController`; ``compilation/c/control_period.c`` has them too,
and works on the same memory.
"""

import ctypes
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
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import Law
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, ResolvedMechanism, State

LAW = ctypes.PYFUNCTYPE(
    ctypes.c_int, ctypes.c_void_p, ctypes.c_double, *(ctypes.c_void_p,) * 4
)  # of motion.h; some microseconds, for which threads need not change


class Settings(NamedTuple):
    """What evaluations in Python overwrite; attributes of :class:`ServoController`."""

    preload: Array | None
    active: ActiveConstraints | None
    structure: Mapping[str, ReferenceSample]
    robust: bool


class PeriodCall:
    """One period of a law in C.

    Attributes:
        efforts: Of the last one, (motors,).
        flags: Of the last one: motors at their power limits, at their rate limits, ...
    """

    def __init__(self, law: Law, mechanism: ResolvedMechanism) -> None:
        model = mechanism.model
        self._law, self._function, self._controller = law, LAW(law.function), law.controller
        self._q, self._v = np.zeros(model.nq), np.zeros(model.nv)
        self.efforts, self.flags = np.zeros(len(mechanism.actuators)), np.zeros(len(law.flags))
        arrays = (self._q, self._v, self.efforts, self.flags)
        self._places = tuple(array.ctypes.data for array in arrays)

    def run(self, state: State) -> Array | None:
        """Efforts for a measured state, fresh, (motors,); None: C has none."""
        self._q[:] = state.q
        self._v[:] = state.v
        if self._function(self._controller, state.t, *self._places):
            return None
        return self.efforts.copy()


class PeriodCommand(Command):
    """The command of a period in C; what is not read is not computed.

    All follows from a copy of what C had in its memory: fields are the same whenever, and in
    whatever thread, they are read, and reading them leaves the controller as it is.
    """

    __slots__ = ("_found",)

    @classmethod
    def of(cls, efforts: Array, found: Callable[[str], dict[str, Any]]) -> "PeriodCommand":
        """The command of efforts, (motors,); fields that are read first are found with others."""
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
    """Control periods of a servo controller in C, on its memory: a :class:`CompiledLaw`.

    ``another`` makes another controller of the same tasks; arguments are those of
    :class:`ServoController`, by name.
    """

    def __init__(
        self,
        servo: CompiledServo,
        tasks: Tasks,
        memory: ControlMemory,
        settings: Callable[[], Settings],
        another: Callable[..., Any] | None = None,
    ) -> None:
        self.servo, self.tasks = servo, tasks
        self.remembered: tuple[NDArray[Any], ...] = (memory.remembered,)
        self.memory, self._settings, self.another = memory, settings, another
        self._preload = memory.fields["preload"]
        self._control = CompiledControl(servo, tasks)
        self._scale = tasks.constraints.reference_scale
        self.law = self._control.law
        self.call = PeriodCall(self.law, tasks.mechanism)
        memory.current = False

    def efforts(
        self,
        state: State,
        references: Mapping[str, Followed] | None = None,
        preload: Array | None = None,
    ) -> Array | None:
        """Efforts of one period, fresh, (motors,); None: C has none; see :class:`ServoController`.

        Raises:
            UnknownNameError, StateError: As :meth:`Tasks.sample`.
        """
        try:
            self.set(references, preload)
        except ForeignReferenceError:
            return None
        return self.call.run(state)

    def set(
        self, references: Mapping[str, Followed] | None = None, preload: Array | None = None
    ) -> None:
        """See :meth:`CompiledLaw.set`; arguments are those of :meth:`efforts`."""
        memory, once = self.memory, bool(references) or preload is not None
        if memory.current and not once:
            return
        memory.current = False
        settings = self._settings()
        self._control.follow(settings.structure, settings.active, references)
        if preload is None:
            preload = settings.preload
        self._preload[:] = 0.0 if preload is None else preload
        if "robust" in memory.fields:
            memory.fields["robust"][0] = settings.robust
        memory.current = not (once or settings.structure)

    def tracking_errors(self, t: Array, q: Array, v: Array) -> Array | None:
        """Errors of the task rows at K states, (K, mt), in m or rad; None: C has none."""
        errors = self._control.tracking_errors(t, q, v)
        return None if errors is None else self.tasks.lacking(errors) / self._scale
