"""What drives the motors, as the command line asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from uk_dynamics.exceptions import InputError

if TYPE_CHECKING:
    from uk_dynamics.mechanism.mechanism import Mechanism
    from uk_dynamics.mechanism.tasks import Tasks
    from uk_dynamics.simulation.controller import Controller

MODES = ("gravity", "hold")  # without tasks


def controller_factory(
    mechanism: Mechanism, tasks: Tasks | None, mode: str | None, period: float | None
) -> Callable[[], Controller | None]:
    """What makes the controller of a motion; None is made where the motors rest.

    Args:
        mechanism: What moves.
        tasks: What its motors shall do.
        mode: Without tasks ``gravity`` or ``hold``.
        period: Control period, in s; None: continuous.

    Raises:
        InputError: Tasks and a mode.
    """
    from uk_dynamics import GravityCompensation, Hold, ServoController

    if mode and tasks is not None:
        raise InputError("--control gravity and --control hold do without --tasks")
    if mode:
        kind = Hold if mode == "hold" else GravityCompensation
        return lambda: kind(mechanism, control_period=period)
    if tasks is not None:
        return lambda: ServoController(mechanism, tasks, control_period=period)
    return lambda: None
