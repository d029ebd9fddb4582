"""What a servo controller does: follow tasks, carry weight, or hold; changed without a bump."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeAlias

from uk_dynamics.compilation.select_backend import Selection
from uk_dynamics.constraints.references import Followed, ReferenceSample
from uk_dynamics.control.command import Command
from uk_dynamics.control.effort_transfer import EffortTransfer
from uk_dynamics.control.internal_efforts import pressing
from uk_dynamics.control.motor_limits import MotorLimits
from uk_dynamics.control.rest import GravityCompensation, Hold, RestCommand
from uk_dynamics.control.servo_controller import ServoController
from uk_dynamics.exceptions import UnknownNameError
from uk_dynamics.mechanism.allocation import Allocation
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import ActiveConstraints, Array, State
from uk_dynamics.mechanism.tasks import Tasks

TASKS, GRAVITY_COMPENSATION, HOLD = "tasks", "gravity_compensation", "hold"
MODES = (TASKS, GRAVITY_COMPENSATION, HOLD)

Decision: TypeAlias = Command | RestCommand


class ServoModes:
    """Three laws for the same motors, of which one is in force.

    Changing the mode, or a setting of its law, starts a bumpless transfer: efforts change from one
    command to the next no faster than before, and within the limits.

    Attributes:
        tasks: What ``tasks`` follows; None: there is no such mode.
        following: The law of ``tasks``; None without any.
        holding: The law of ``hold``; it holds the position where it comes into force.
        transfer_time: Duration of a transfer, in s; 0: none, as for drives that get motions.
        active: Switchable constraints that are on; None: those that the mechanism file says.
        structure: What replaces the references of structural constraints, by name.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        tasks: Tasks | None,
        control_period: float | None,
        *,
        backend: str | Selection = "cached",
    ) -> None:
        """Prepare the laws; ``tasks`` is in force, or ``hold`` where there are none.

        Args:
            mechanism: What is controlled.
            tasks: What it shall do; None: weights are those of effort limits, preload is zero.
            control_period: Time for which efforts are held, in s; None: unknown.
            backend: What evaluates the law of ``tasks``, as of :class:`ServoController`.

        Raises:
            InputError: There are no motors, or rate limits and no control period.
            CompilationError: With ``compiled``: something cannot be compiled.
        """
        names = mechanism.actuators.names
        allocation = tasks.allocation if tasks else Allocation.given(mechanism.actuators)
        share = dict(zip(names, allocation.weights.tolist(), strict=True))
        self.mechanism = mechanism
        self.tasks = tasks
        self.control_period = control_period
        self.following: ServoController | None = None
        self.holding = Hold(mechanism, weights=share, control_period=control_period)
        weightless = GravityCompensation(mechanism, weights=share, control_period=control_period)
        self._laws: dict[str, ServoController | GravityCompensation | Hold] = {
            GRAVITY_COMPENSATION: weightless,
            HOLD: self.holding,
        }
        if tasks is not None:
            self.following = ServoController(
                mechanism, tasks, control_period=control_period, backend=backend
            )
            self._laws[TASKS] = self.following
        self.transfer_time = 0.0
        self.active: ActiveConstraints | None = None
        self.structure: Mapping[str, ReferenceSample] = {}
        self._mode = HOLD if tasks is None else TASKS
        self._last: Array | None = None
        self._transfer = EffortTransfer(MotorLimits(mechanism, control_period))
        self.set_preload(allocation.preload)
        self.press(allocation.internal_forces)

    @property
    def mode(self) -> str:
        """One of :attr:`modes`."""
        return self._mode

    @property
    def modes(self) -> tuple[str, ...]:
        """Those of :data:`MODES` that there are."""
        return tuple(mode for mode in MODES if mode in self._laws)

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows of the tracking error."""
        return self._laws[self._mode].row_names

    @property
    def in_transfer(self) -> bool:
        """Whether a transfer is under way."""
        return self._transfer.under_way

    def choose(self, mode: str) -> None:
        """Go over to another mode.

        Raises:
            UnknownNameError: There is no such mode.
        """
        if mode not in self._laws:
            raise UnknownNameError("mode", mode, self.modes)
        if mode != self._mode:
            self._mode = mode
            self._laws[mode].reset(self._last)
            self.soften()

    def soften(self) -> None:
        """A setting has changed: go over to what it leads to."""
        self._transfer.start(self._last, self.transfer_time)

    def set_preload(self, preload: Array | None) -> None:
        """Change the efforts to come close to where no motion is changed.

        Args:
            preload: (motors,), in N or N·m; None: zero.
        """
        for law in self._laws.values():
            law.preload = preload
        self.soften()

    def press(self, forces: Mapping[str, float]) -> None:
        """Change what rows of loops bear in addition; see :func:`internal_efforts`.

        Args:
            forces: In N or N·m, by constraint row.

        Raises:
            UnknownNameError: There is no such row.
            InputError: The motors cannot where motions start; nothing is changed.
        """
        found = pressing(self.mechanism, forces)
        for law in self._laws.values():
            law.internal = found
        self.soften()

    def restrict(self, efforts: Array) -> None:
        """Change the largest efforts, at once.

        Args:
            efforts: (motors,), in N or N·m; what the mechanism file says is never exceeded.

        Raises:
            InputError: A limit is negative or no number; nothing is changed.
        """
        for limits in (*(law.limits for law in self._laws.values()), self._transfer.limits):
            limits.restrict(efforts)

    def reset(self, efforts: Array | None = None) -> None:
        """Forget the past: before a start, after a pause or a jump of time or state.

        Args:
            efforts: What the motors give now, (motors,), in N or N·m; None: unknown.
        """
        self._last = None
        self._transfer.start(None, 0.0)
        for law in self._laws.values():
            law.reset(efforts)

    def command(self, state: State, references: Mapping[str, Followed] | None = None) -> Decision:
        """Efforts and how they came about.

        Args:
            state: Where the mechanism is; t is the time of the references.
            references: Samples, or functions of time, that replace those of the tasks file, by
                task name.

        Raises:
            UkDynamicsError: As :meth:`ServoController.command`.
        """
        law = self._laws[self._mode]
        law.active = self.active
        law.structure = self.structure
        decision: Decision
        if isinstance(law, ServoController):
            decision = law.command(state, references)
        else:
            decision = law.command(state)
        if self._transfer.under_way:
            efforts = self._transfer.apply(decision.efforts, state.t, state.v)
            decision = replace(decision, efforts=efforts)
        self._last = decision.efforts
        return decision

    def gap(self, state: State) -> float:
        """How far the loops of a state are open, in m or rad."""
        law = self.following or self.holding
        law.active, law.structure = self.active, self.structure
        return law.gap(state)

    def tracking_error(
        self, state: State, references: Mapping[str, Followed] | None = None
    ) -> Array:
        """How far the machine is from where it shall be, (rows,), in m or rad.

        Args:
            state: Where it is; t is the time of the references.
            references: As of :meth:`command`.
        """
        law = self._laws[self._mode]
        if isinstance(law, ServoController):
            return law.errors(state, references).residual
        return law.tracking_error(state)
