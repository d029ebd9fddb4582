# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism posed by hand while paused and simulated while it runs; what drives its motors."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from uk_dynamics import GravityCompensation, Hold, ServoController
from uk_dynamics.compilation import Selection, select_backend
from uk_dynamics.control import MotorCommand
from uk_dynamics.core.integration import Tolerances
from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.contact import ContactStepping
from uk_dynamics.mechanism.dynamics import Instants
from uk_dynamics.mechanism.resolution import Array, Inputs, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation import Advance, Controller, Plant
from uk_dynamics.viewing.poser import Pose, Poser
from uk_dynamics.viewing.source import Snapshot, Source

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
    """Controllers of a machine by the name of the choice."""

    def __init__(self, mechanism: Mechanism, tasks: Tasks | None, step: float) -> None:
        """Prepare for control periods of whole steps, in s."""
        self._mechanism, self._tasks, self._step = mechanism, tasks, step
        self._compiling: list[object] = []
        self.names: tuple[str, ...] = ()  # of the choices, the default first; none without motors
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
            if self._mechanism.one_sided:  # what touches carries, too
                dynamics = self._mechanism.dynamics("interpreted")
                _, active = ContactStepping(self._mechanism).begin(state, dynamics, Inputs())
                weight.active = self._mechanism.for_control(active)
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


_TOLERANCES = Tolerances(1e-6, 1e-8)  # fixed steps do not use them
_AT_ONCE = 10  # control periods of which C takes care in a call


class LiveSimulation(Source):
    """Simulates in real time, or slower where the computer is too slow."""

    can_pose = True  # it can

    def __init__(
        self,
        mechanism: Mechanism,
        start: State,
        *,
        tasks: Tasks | None = None,
        motors: str | None = None,  # None: the tasks, else hold
        step: float = 0.002,  # integration and control step, in s
        real_time_factor: float = 1.0,
        playing: bool = False,
        most_work: float = 0.1,  # s of computing per picture: the view must not freeze
        compiling: bool = False,  # in the background what is not compiled; the next start has it
    ) -> None:
        """Stand at the start."""
        self._mechanism = mechanism
        self._poser = Poser(mechanism)
        self._choices = MotorChoices(mechanism, tasks, step)
        if compiling:
            self._choices.compile()
        # what may drive the motors, the default first; see :class:`MotorChoices`
        self.motors = self._choices.names
        self.driving = (self.motors or (OFF,))[0] if motors is None else motors  # what does
        self._step, self._factor, self._most_work = step, real_time_factor, most_work
        self._start, self._playing = start, playing
        self._due, self._speed = 0.0, 1.0
        self._begun = False  # whether it has left the pose
        self._begin(start)

    def control(self, action: str) -> None:
        """Play, pause, take one step, or go back to the first start."""
        if action == "reset":
            self._begin(self._start)
        elif action == "play":
            if not self._begun:
                self._equip()  # what has been compiled since
            self._playing = True
            self._due = 0.0
        elif action == "pause":
            self._playing = False
        elif action == "step":
            self._playing = False
            self._advance(1)

    def drive(self, choice: str) -> None:
        """Let something else drive the motors, from where the machine is."""
        self.driving = choice
        self._equip()

    def lead_joint(self, name: str, target: float) -> None:
        """Pause and pose; the motion restarts from there."""
        self._posed(self._poser.lead_joint(self._state.q, name, target))

    def lead_frame(self, link: str, target: Array) -> None:
        """Pause and pose; the motion restarts from there."""
        self._posed(self._poser.lead_frame(self._state.q, link, target))

    def frame(self, elapsed: float) -> Snapshot:
        """Go on by real time, as far as the computer manages."""
        if self._playing:
            self._due += elapsed * self._factor
            began, before = time.perf_counter(), self._state.t
            while self._due >= self._step:
                if time.perf_counter() - began > self._most_work:
                    self._due = 0.0
                    break
                count = min(int(self._due / self._step), _AT_ONCE)
                self._due -= count * self._step
                self._advance(count)
            if elapsed > 0.0:
                now = (self._state.t - before) / elapsed
                self._speed += 0.1 * (now - self._speed)
        if self._begun:
            inputs, efforts = self._plant.inputs, self._plant.efforts
        else:
            efforts = self._at_rest.efforts
            tau = self._mechanism.actuators.matrix @ efforts
            inputs = Inputs(tau=tau, stabilize=False, active=self._plant.active)
        message = self._message or ("" if self._begun else self._at_rest.problem)
        unreached = self._plant.problems if self._begun else None
        return Snapshot(self._state, inputs, efforts, message, self._mode(), unreached)

    def _mode(self) -> str:
        """What goes on, in a few words."""
        off = "motors off" if self.motors and self.driving == OFF else ""
        if self._playing:
            running = f"running at {self._speed:.2f} of real time"
            return f"{off}: {running}" if off else running
        if self._begun:
            return f"paused, {off}" if off else "paused"
        if self._state.v.any():
            return "about to move"
        if off or not self.motors:
            return f"{off or 'no motors'}: it falls when played"
        promise = {TASKS: "; Play starts the tasks", GRAVITY: " by gravity compensation"}
        return f"held at rest{promise.get(self.driving, '')}"

    def _posed(self, pose: Pose) -> None:
        self._playing = False
        self._begin(State(0.0, pose.q, np.zeros(self._mechanism.model.nv)))
        self._message = pose.message

    def _begin(self, state: State) -> None:
        self._state = state
        self._begun = False
        self._equip()

    def _equip(self) -> None:
        """Let the choice drive the motors from the present state."""
        self._message = ""
        self._at_rest = AtRest(np.zeros(0))
        if not self._begun:
            self._at_rest = self._choices.at_rest(self.driving, self._state)
        controller = self._choices.controller(self.driving)
        self._plant = Plant(self._mechanism, None, controller, continuous=False)
        self._stepper = Advance(self._mechanism.model, self._plant, "rk4", self._step, _TOLERANCES)
        self._every, self._since = self._choices.every(self.driving), 0

    def _advance(self, count: int) -> None:
        """Take some steps, with control in C as far as it knows it."""
        self._begun = True
        try:
            while count > 0:
                if self._plant.in_charge:
                    count -= self._move(count)
                    if not count:
                        break
                if self._since == 0:
                    self._plant.control(self._state)
                steps = min(count, self._every - self._since)
                stops = self._state.t + self._step * np.arange(1.0, steps + 1.0)
                for state in self._stepper.run(self._state, stops):
                    self._state = state
                self._since = (self._since + steps) % self._every
                count -= steps
            self._message = "; ".join(self._plant.problems)
        except UkDynamicsError as error:
            self._message = f"{error}; reset starts again"
            self._playing = False
            self._due = 0.0

    def _move(self, count: int) -> int:
        """Take up to so many control periods in C; return how many were taken."""
        instants = Instants.alone(self._state.t + self._step * np.arange(count + 1.0))
        instants.breaks[:] = 1.0
        instants.control[:-1] = 1.0  # at the last one it belongs to the next period
        found = self._stepper.move(self._state, instants)
        self._state = found.state
        return found.reached
