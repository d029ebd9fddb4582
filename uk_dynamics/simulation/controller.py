# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The interface that a simulation requires of a controller."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from uk_dynamics.mechanism.dynamics import Told
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


@runtime_checkable
class TellsWhatItKnows(Protocol):
    """A controller that promises bounds or estimates parameters."""

    @property
    def estimated(self) -> tuple[str, ...]:
        """Names of the parameters that it estimates, (p,)."""

    def told(self, watched: Array | None) -> Told:
        """What it tells at K instants, of whose memory C kept (K, watched); None: now."""


@runtime_checkable
class TracksActiveConstraints(Protocol):
    """A controller that needs to know which switchable constraints are on."""

    active: ActiveConstraints | None
