# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Whole control periods of a servo controller in C.

The steps are those of :class:`ServoController`; ``compilation/c/control_period.c`` has them too,
and works on the same memory.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.compilation.build import counted
from uk_dynamics.compilation.runtime import (
    LAW,
    CompiledControl,
    CompiledServo,
    CompiledStanding,
    ControlMemory,
    ForeignReferenceError,
)
from uk_dynamics.compilation.verification import Comparison, Trial, compare, each, trials
from uk_dynamics.constraints.references import References, ReferenceSample
from uk_dynamics.control.command import Command
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import InterpretedDynamics, Law
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, ResolvedMechanism, State


class Settings(NamedTuple):
    """What evaluations in Python overwrite; attributes of :class:`ServoController`."""

    preload: Array | None
    active: ActiveConstraints | None
    structure: Mapping[str, ReferenceSample]
    robust: bool


class PeriodCall:
    """One period of a law in C."""

    def __init__(self, law: Law, mechanism: ResolvedMechanism) -> None:
        model = mechanism.model
        self._law, self._function, self._controller = law, LAW(law.function), law.controller
        self._q, self._v = np.zeros(model.nq), np.zeros(model.nv)
        # of the last period: (motors,), and motors at their power limits, at their rate limits ...
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
        self, state: State, references: References | None = None, preload: Array | None = None
    ) -> Array | None:
        """Efforts of one period, fresh, (motors,); None: C has none. Errors are of references."""
        try:
            self.set(references, preload)
        except ForeignReferenceError:
            return None
        return self.call.run(state)

    def set(self, references: References | None = None, preload: Array | None = None) -> None:
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


_PERIOD = 1e-3  # s


def period_answers(another: Callable[..., Any], servo: CompiledServo) -> Iterator[Comparison]:
    """Compare efforts of control periods in C with those of the same steps in Python.

    ``another`` makes a controller of the same tasks, as for :class:`CompiledPeriod`.
    """
    python = another(control_period=_PERIOD, backend="interpreted")
    mechanism, tasks = python.mechanism, python.tasks
    if servo.call.periods is None or (python.internal and mechanism.local is not None):
        return
    memory = ControlMemory(tasks)
    memory.numbers[:] = python.memory.numbers
    options: dict[str, Any] = {"memory": memory.numbers, "verified": True}
    if (rows := counted(tasks)) is tasks:
        own = CompiledServo(tasks, python._evaluator, **options)
    else:
        own = CompiledStanding(tasks, rows, python._evaluator, **options).law
    period = CompiledPeriod(own, tasks, memory, python.settings)
    try:
        period.set()
    except ForeignReferenceError:  # such periods are in Python
        return
    fresh = memory.numbers.copy()  # with which rows act, and the place of tables

    def measured(trial: Trial) -> Iterator[State]:
        t, q, v = trial.state.t, trial.state.q, trial.state.v
        for k in range(3):
            yield State(t + k * _PERIOD, mechanism.model.integrate(q, k * _PERIOD * v), v)

    def expected(trial: Trial) -> dict[str, Array]:
        python.reset()
        if python.corrections is not None:
            python.corrections.forget()
        efforts = [python.command(state).efforts for state in measured(trial)]
        return {"efforts of control periods": np.concatenate(efforts)}

    def compiled(trial: Trial) -> dict[str, Array] | None:
        memory.numbers[:] = fresh
        efforts = [x for state in measured(trial) if (x := period.efforts(state)) is not None]
        return (
            {"efforts of control periods": np.concatenate(efforts)} if len(efforts) == 3 else None
        )

    given = trials(mechanism, InterpretedDynamics(mechanism))[:2]
    yield from compare(mechanism, expected, each(compiled), given)
