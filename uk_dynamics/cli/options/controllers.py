"""The controller that the command line asks for."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING

from uk_dynamics.exceptions import InputError

if TYPE_CHECKING:
    from uk_dynamics.mechanism import Mechanism, Tasks
    from uk_dynamics.simulation import Controller

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
    """Factory of the controller, None for zero efforts; period in s, None: continuous control."""
    from uk_dynamics import GravityCompensation, Hold, ServoController

    if mode and tasks is not None:
        raise InputError("--control gravity and --control hold exclude --tasks")
    if mode:
        kind = Hold if mode == "hold" else GravityCompensation
        return lambda: kind(mechanism, control_period=period)
    if tasks is not None:
        return lambda: ServoController(mechanism, tasks, control_period=period)
    return lambda: None
