"""A mechanism prepared for being looked at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from uk_dynamics.core.solution import Solution
from uk_dynamics.exceptions import InputError, UndeterminedMotionError
from uk_dynamics.mechanism.assembly import Assembly
from uk_dynamics.mechanism.interpreted import InterpretedDynamics
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.report import MechanismReport
from uk_dynamics.mechanism.state import Array, State
from uk_dynamics.mechanism.tasks import Tasks
from uk_dynamics.model.coincident_frames import machine_size
from uk_dynamics.model.workspace import Workspace


@dataclass(frozen=True)
class Subject:
    """What the checks look at; what takes time is computed once, when it is asked for.

    Attributes:
        mechanism: The mechanism.
        positions: Joints that are held while the loops are closed, in rad or m.
        tasks: What it shall do, None for nothing.
    """

    mechanism: Mechanism
    positions: Mapping[str, float]
    tasks: Tasks | None = None

    @cached_property
    def assembly(self) -> Assembly:
        """How the loops close."""
        held = dict(self.positions)
        return self.mechanism.assembly(held, hold=tuple(held))

    @property
    def closed(self) -> bool:
        """Whether they do."""
        return self.assembly.closed

    @cached_property
    def size(self) -> float:
        """Of the machine, in m."""
        return machine_size(self.mechanism.model, self.assembly.q)

    @cached_property
    def workspace(self) -> Workspace:
        """Kinematics where the search for a closed configuration ended."""
        workspace = self.mechanism.model.workspace()
        workspace.update_positions(self.assembly.q)
        return workspace

    @cached_property
    def report(self) -> MechanismReport:
        """What ``describe`` says, without the tasks; of a closed mechanism."""
        return self.mechanism.report(self.assembly.q)

    @cached_property
    def velocity(self) -> Array:
        """The start velocity of the file, (nv,), made consistent if that is possible."""
        mechanism = self.mechanism
        try:
            return mechanism.start(self.positions).v
        except InputError:
            return mechanism.model.to_velocities({})

    @property
    def state(self) -> State:
        """Where a motion starts."""
        return State(0.0, self.assembly.q, self.velocity)

    @cached_property
    def solution(self) -> Solution | UndeterminedMotionError:
        """Accelerations without efforts at the start, or why there are none."""
        try:
            return InterpretedDynamics(self.mechanism).evaluate(self.state)
        except UndeterminedMotionError as error:
            return error
