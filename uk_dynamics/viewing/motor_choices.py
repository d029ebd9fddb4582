# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What may drive the motors of a simulated machine: tasks, hold, gravity compensation, nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from uk_dynamics import GravityCompensation, Hold, ServoController
from uk_dynamics.compilation import Selection, select_backend
from uk_dynamics.control import MotorCommand
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import Controller

TASKS, HOLD, GRAVITY, OFF = "tasks", "hold", "gravity", "off"
LABELS = MappingProxyType(
    {
        TASKS: "follow the tasks",
        HOLD: "hold the pose",
        GRAVITY: "compensate gravity",
        OFF: "motors off",
    }
)
_PERIOD = 0.01  # s, of hold and gravity compensation: fast against their 5 Hz, and no effort


@dataclass(frozen=True)
class AtRest:
    """What the motors do while the machine is posed."""

    efforts: Array  # (motors,), in N or N·m
    problem: str = ""  # why it would not stay; empty when it would


class MotorChoices:
    """Controllers of a machine by the name of the choice.

    Attributes:
        names: Those there are; the first one is the default. Without motors: none.
    """

    def __init__(self, mechanism: Mechanism, tasks: Tasks | None, step: float) -> None:
        """Prepare for control periods of whole steps, in s."""
        self._mechanism, self._tasks, self._step = mechanism, tasks, step
        self._compiling: list[object] = []
        self.names: tuple[str, ...] = ()
        if len(mechanism.actuators):
            self.names = ((TASKS,) if tasks else ()) + (HOLD, GRAVITY, OFF)

    def compile(self) -> None:
        """Begin to compile machine and tasks in the background; what is made later finds them."""
        now = Selection("auto", after=0)
        self._compiling = [select_backend(self._mechanism, now)]
        if self._tasks is not None:
            self._compiling.append(ServoController(self._mechanism, self._tasks, backend=now))

    def every(self, choice: str) -> int:
        """Steps from one command to the next."""
        return max(1, round(_PERIOD / self._step)) if choice in (HOLD, GRAVITY) else 1

    def controller(self, choice: str) -> Controller | None:
        """A new controller; None: zero efforts."""
        period = self.every(choice) * self._step
        makers: dict[str, Callable[[], Controller]] = {
            HOLD: lambda: Hold(self._mechanism, control_period=period),
            GRAVITY: lambda: GravityCompensation(self._mechanism, control_period=period),
        }
        if self._tasks is not None:
            tasks = self._tasks
            makers[TASKS] = lambda: ServoController(self._mechanism, tasks, control_period=period)
        return makers[choice]() if choice in makers else None

    def at_rest(self, choice: str, state: State) -> AtRest:
        """Efforts before the motion begins: of the held machine, or of the first command."""
        nothing = np.zeros(len(self._mechanism.actuators))
        controller = self.controller(choice)
        if controller is None:
            return AtRest(nothing)
        try:
            if state.v.any():
                return AtRest(np.array(controller.command(state).efforts))
            weight = GravityCompensation(self._mechanism, control_period=self._step)
            held = weight.command(state)
        except UkDynamicsError as error:
            return AtRest(nothing, str(error))
        return AtRest(held.efforts, _why_not(held))


def _why_not(command: MotorCommand) -> str:
    """What keeps the motors from holding a machine; empty where nothing does."""
    if command.limited_by:
        motors = ", ".join(command.limited_by)
        return f"the motors cannot hold this pose: {motors} at the effort limit"
    if command.unreachable:
        first, *others = command.unreachable
        more = f" and {len(others)} more" if others else ""
        return f"the motors cannot hold this pose: {first}{more} will move"
    return ""
