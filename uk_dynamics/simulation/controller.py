"""The interface that a simulation requires of a controller."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from uk_dynamics.mechanism.dynamics import Law
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, State


class ControlOutput(Protocol):
    """Output of a controller at one state."""

    @property
    def efforts(self) -> Array:
        """Motor efforts, (motors,), in N or N·m."""

    @property
    def unreachable(self) -> tuple[str, ...]:
        """Names of the task rows that the motors cannot accelerate as desired."""

    @property
    def limited_by(self) -> Mapping[str, str]:
        """The limit, ``effort``, ``power`` or ``rate``, of each motor that is at one."""


class Controller(Protocol):
    """Computes motor efforts from a state."""

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the task rows, (mt,)."""

    def command(self, state: State) -> ControlOutput:
        """Efforts for a state; called once per control period, or at every evaluation."""

    def tracking_error(self, state: State) -> Array:
        """Error of each task row, (mt,), in m or rad; called for every sample."""


class ControlInC(Protocol):
    """A law of control that C evaluates, many periods in a call."""

    @property
    def law(self) -> Law:
        """What C calls."""

    def load(self) -> None:
        """Hand over to C what the controller is set to and remembers."""

    def store(self) -> None:
        """Take over what C remembers."""

    def tracking_errors(self, t: Array, q: Array, v: Array) -> Array | None:
        """Error of each task row at K states, (K, mt), in m or rad; None: C has none."""


@runtime_checkable
class CompiledController(Protocol):
    """A controller that may be in C."""

    def compiled(self) -> ControlInC | str:
        """Itself in C; otherwise what keeps it in Python, empty where it is not to be compiled."""


@runtime_checkable
class TracksActiveConstraints(Protocol):
    """A controller that needs to know which switchable constraints are on."""

    active: ActiveConstraints | None
