# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The interface that a simulation requires of a controller, and what keeps one in Python."""

import logging
from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from uk_dynamics.compilation import announce
from uk_dynamics.mechanism.dynamics import CompiledController, CompiledLaw, Told, law_of
from uk_dynamics.mechanism.resolution import ActiveConstraints, Array, State
from uk_dynamics.mechanism_class import Mechanism


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


def law_in_c(mechanism: Mechanism, controller: Controller | None) -> CompiledLaw | None:
    """The controller in C; what keeps it in Python is logged, once."""
    if controller is None:
        return None
    found = law_of(controller)
    if not isinstance(found, str):
        return found
    if found:
        announce(
            f"{mechanism.name}: control periods are computed in Python, which takes up to thirty"
            f" times as long as in C: {found}",
            # of a controller that has no C at all, its author knows
            logging.WARNING if isinstance(controller, CompiledController) else logging.INFO,
        )
    return None


def announce_steps_in_python(mechanism: Mechanism) -> None:
    """Say once what keeps the steps of a compiled mechanism in Python, and what that costs."""
    reason = "its library could not be compiled"
    if not mechanism.constraints.linear_in_rates:
        reason = "some rows are not affine in the velocities"
    announce(
        f"{mechanism.name}: steps are taken in Python, which takes ten to a hundred times as long"
        f" as in C: {reason}",
        logging.INFO,
    )
