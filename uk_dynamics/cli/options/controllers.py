"""The controller that the command line asks for."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from uk_dynamics.exceptions import InputError

if TYPE_CHECKING:
    from uk_dynamics.mechanism.mechanism import Mechanism
    from uk_dynamics.mechanism.tasks import Tasks
    from uk_dynamics.simulation.controller import Controller

MODES = ("gravity", "hold")  # without tasks


def add_control(parser: argparse.ArgumentParser) -> None:
    """Add ``--control``."""
    parser.add_argument(
        "--control",
        choices=MODES,
        help="without tasks: compensate gravity, or hold the initial position",
    )


def controller_factory(
    mechanism: Mechanism, tasks: Tasks | None, mode: str | None, period: float | None
) -> Callable[[], Controller | None]:
    """Factory of the controller of a motion, which is None for zero motor efforts.

    Args:
        mechanism: What moves.
        tasks: What to track.
        mode: Without tasks, ``gravity`` or ``hold``.
        period: Control period, in s; None: continuous.

    Raises:
        InputError: Both tasks and a mode are given.
    """
    from uk_dynamics import GravityCompensation, Hold, ServoController

    if mode and tasks is not None:
        raise InputError("--control gravity and --control hold exclude --tasks")
    if mode:
        kind = Hold if mode == "hold" else GravityCompensation
        return lambda: kind(mechanism, control_period=period)
    if tasks is not None:
        return lambda: ServoController(mechanism, tasks, control_period=period)
    return lambda: None
