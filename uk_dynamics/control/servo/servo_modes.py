# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Modes of a servo controller: tasks, gravity compensation, hold; efforts fade between them.

Control periods of tasks in C, for loops that live in Python, are here as well.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from uk_dynamics.compilation import Selection, select_backend
from uk_dynamics.compilation.runtime import (
    CompiledDelayCompensation,
    CompiledMotion,
    TransferMemory,
)
from uk_dynamics.constraints.references import References, ReferenceSample
from uk_dynamics.control.command import MotorCommand
from uk_dynamics.control.delay_compensation import DelayPrediction
from uk_dynamics.control.hold_and_gravity_compensation import GravityCompensation, Hold
from uk_dynamics.control.internal_efforts import checked_internal_efforts
from uk_dynamics.control.limits.motor_limits import MotorLimits
from uk_dynamics.control.servo.compiled_period import CompiledPeriod, PeriodCall
from uk_dynamics.control.servo.servo_controller import ServoController
from uk_dynamics.core.servo import faded
from uk_dynamics.exceptions import expect_names
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import Backend, CompiledLaw, LawInC
from uk_dynamics.mechanism.resolution import ActiveConstraints, Allocation, Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism

TASKS, GRAVITY_COMPENSATION, HOLD = "tasks", "gravity_compensation", "hold"
MODES = (TASKS, GRAVITY_COMPENSATION, HOLD)


class EffortTransfer:
    """Adds an offset to the efforts of the new law that fades to zero.

    The new law acts at once, with all its feedback. The offset starts as the difference between
    the last old and the first new efforts; see :func:`faded`. The sum stays within the limits,
    rate limits included. C works on the same memory.
    """

    def __init__(self, mechanism: Mechanism, period: float | None) -> None:
        """Begin without a transfer; the period is as of :class:`MotorLimits`."""
        self.memory = TransferMemory(len(mechanism.actuators))
        self._fields = fields = self.memory.fields
        self.limits = MotorLimits(mechanism, period, fields)
        self._begun, self._begin, self._duration = (
            fields[name] for name in ("begun", "begin", "duration")
        )

    @property
    def under_way(self) -> bool:
        """Whether the offset is still fading."""
        return bool(self._fields["under_way"][0])

    def start(self, last: Array | None, duration: float) -> None:
        """Start a transfer with the next efforts."""
        starts = last is not None and duration > 0.0
        self._fields["under_way"][0], self._begun[0], self._duration[0] = starts, 0.0, duration
        if starts:
            self._fields["origin"][:] = last

    def apply(self, efforts: Array, t: float, v: Array) -> Array:
        """Efforts to command, (motors,), in N or N·m."""
        fields = self._fields
        if not self.under_way:
            return efforts
        if not self._begun[0]:
            self._begun[0], self._begin[0] = 1.0, t
            fields["offset"][:] = fields["origin"] - efforts
            self.limits.reset(fields["origin"])
        s = (t - self._begin) / self._duration
        if s[0] >= 1.0:
            fields["under_way"][0] = 0.0
            return efforts
        bounds = self.limits.bounds(v)
        result = faded(efforts, fields["offset"], s, bounds.lower, bounds.upper)
        self.limits.remember(result)
        return result


class ServoModes:
    """Three control laws for the same motors, one of which is selected.

    Changing the mode, or a setting of its law, starts a bumpless transfer.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        tasks: Tasks | None,
        control_period: float | None,
        *,
        backend: str | Selection = "auto",
    ) -> None:
        """Prepare the laws; ``tasks`` is selected, or ``hold`` without tasks.

        Without tasks weights follow from effort limits, and preload is zero. Efforts are held for a
        control period, in s. For the backend see :class:`ServoController` and :class:`Hold`.

        Raises:
            InputError: There are no motors, or rate limits and no control period.
            CompilationError: With ``compiled``: something cannot be compiled.
        """
        names = mechanism.actuators.names
        allocation = tasks.allocation if tasks else Allocation.given(mechanism.actuators)
        weights = dict(zip(names, allocation.weights.tolist(), strict=True))
        self.mechanism, self.tasks, self.control_period = mechanism, tasks, control_period
        self.servo: ServoController | None = None  # the law of ``tasks``
        # holds the position at which it is selected
        given: Any = {"weights": weights, "control_period": control_period, "backend": backend}
        self.hold = Hold(mechanism, **given)
        self._laws: dict[str, ServoController | GravityCompensation | Hold] = {
            GRAVITY_COMPENSATION: GravityCompensation(mechanism, **given),
            HOLD: self.hold,
        }
        if tasks is not None:
            self.servo = ServoController(
                mechanism, tasks, control_period=control_period, backend=backend
            )
            self._laws[TASKS] = self.servo
        self.transfer_time = 0.0  # s; 0: no transfer, as for drives that get setpoints
        self.active: ActiveConstraints | None = None  # as in the mechanism file
        self.structure: Mapping[str, ReferenceSample] = {}  # instead of structural references
        self.mode = HOLD if tasks is None else TASKS  # see :meth:`select`
        self._transfer = EffortTransfer(mechanism, control_period)
        self.set_preload(allocation.preload)
        self.set_internal_forces(allocation.internal_forces)

    @property
    def modes(self) -> tuple[str, ...]:
        """The available ones of :data:`MODES`."""
        return tuple(mode for mode in MODES if mode in self._laws)

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows of the tracking error."""
        return self._laws[self.mode].row_names

    @property
    def backend(self) -> Backend:
        """Evaluator of the selected law: ``interpreted`` or ``compiled``."""
        law = self._laws[self.mode]
        return law.backend if isinstance(law, ServoController) else "interpreted"

    @property
    def in_transfer(self) -> bool:
        """Whether a transfer is under way."""
        return self._transfer.under_way

    def select(self, mode: str) -> None:
        """Select a mode, with a bumpless transfer; UnknownNameError: there is none of that name."""
        expect_names("mode", [mode], self.modes)
        if mode != self.mode:
            self.mode = mode
            self._laws[mode].reset(self._transfer.memory.sent)
            self.start_transfer()

    def start_transfer(self) -> None:
        """Start a bumpless transfer after a setting has changed.

        Rate limits hold for what is sent, to which the transfer adds: a law whose own efforts they
        held back would take up the rest behind it.
        """
        if self.transfer_time > 0.0 and self._transfer.memory.sent is not None:
            self._laws[self.mode].limits.reset(None)
        self._transfer.start(self._transfer.memory.sent, self.transfer_time)

    def set_preload(self, preload: Array | None) -> None:
        """Change preferred efforts of redundant motors, (motors,), in N or N·m; None: zero."""
        for law in self._laws.values():
            law.preload = preload
        self.start_transfer()

    def set_internal_forces(self, forces: Mapping[str, float]) -> None:
        """Change internal forces by row, all or none; errors are of :func:`internal_efforts`."""
        internal = checked_internal_efforts(self.mechanism, forces)
        for law in self._laws.values():
            law.internal = internal
        self.start_transfer()

    def restrict(self, efforts: Array) -> None:
        """Change the largest efforts, (motors,), within the file's; InputError: none is changed."""
        for limits in (*(law.limits for law in self._laws.values()), self._transfer.limits):
            limits.restrict(efforts)

    def reset(self, efforts: Array | None = None) -> None:
        """Forget the past: before a start, after a pause or a jump of time or state.

        Present efforts are (motors,), in N or N·m; None: they are unknown.
        """
        self._transfer.memory.sent = None
        self._transfer.start(None, 0.0)
        for law in self._laws.values():
            law.reset(efforts)

    def command(self, state: State, references: References | None = None) -> MotorCommand:
        """Efforts of the selected law for a measured state, and what limits them.

        References replace those of the tasks file, by task name; errors are those of the law.
        """
        law = self.selected()
        command: MotorCommand
        if isinstance(law, ServoController):
            command = law.command(state, references)
        else:
            command = law.command(state)
        if self._transfer.under_way:
            efforts = self._transfer.apply(command.efforts, state.t, state.v)
            command = replace(command, efforts=efforts)
        self._transfer.memory.sent = command.efforts
        return command

    def compiled(self) -> CompiledLaw | str:
        """The selected law in C, with its transfer; otherwise what keeps it in Python."""
        inner = self.selected().compiled()
        motion = select_backend(self.mechanism, "cached").motion()
        if isinstance(inner, str) or not isinstance(motion, CompiledMotion):
            return inner if isinstance(inner, str) else ""
        memory = self._transfer.memory
        remembered = (*memory.remembered, *inner.remembered)

        def set_selected() -> None:
            self.selected()
            inner.set()

        law = memory.law(motion, inner.law)
        return LawInC(law, remembered, set_selected, inner.tracking_errors)

    def selected(self) -> ServoController | GravityCompensation | Hold:
        """The law of the mode, with the constraints that are on."""
        law = self._laws[self.mode]
        self._share(law)
        return law

    def loop_closure_error(self, state: State) -> float:
        """Largest residual of the loops, in m or rad."""
        law = self.servo or self.hold
        self._share(law)
        return law.loop_closure_error(state)

    def _share(self, law: ServoController | GravityCompensation | Hold) -> None:
        """Tell a law what is on and what it follows; what it knows already costs nothing."""
        if law.active is not self.active:
            law.active = self.active
        if law.structure is not self.structure:
            law.structure = self.structure

    def tracking_error(self, state: State, references: References | None = None) -> Array:
        """Tracking error of the selected law at a measured state, (rows,), in m or rad."""
        law = self._laws[self.mode]
        if isinstance(law, ServoController):
            return law.errors(state, references).residual
        return law.tracking_error(state)


class ControlPeriods:
    """Prediction, law and transfer of :class:`ServoModes` in mode ``tasks``, a call of C each.

    For loops that live in Python: a node has a state at a time. A simulation leaves many periods to
    one call (:meth:`ServoModes.compiled`).
    """

    def __init__(self, modes: ServoModes, prediction: DelayPrediction) -> None:
        """Prepare; nothing is in C before the first period."""
        self._modes, self._prediction = modes, prediction
        self._law: CompiledLaw | None = None

    def efforts(self, state: State) -> Array | None:
        """Efforts for a measured state, fresh, (motors,), by the files; None: Python decides."""
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
