"""Arguments that several commands share, and the checks of their values."""

from __future__ import annotations

import argparse
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from uk_dynamics.exceptions import InputError

if TYPE_CHECKING:
    from uk_dynamics.mechanism.mechanism import Mechanism
    from uk_dynamics.mechanism.state import State
    from uk_dynamics.mechanism.tasks import Tasks


def add_file(parser: argparse.ArgumentParser) -> None:
    """Add ``FILE``."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="mechanism file (YAML), or the name of a shipped one, such as five_bar",
    )


def add_mechanism(parser: argparse.ArgumentParser) -> None:
    """Add ``FILE``, ``--tasks`` and ``--set``."""
    add_file(parser)
    parser.add_argument(
        "--tasks", metavar="FILE", help="tasks file (YAML), or the name of a shipped one"
    )
    parser.add_argument(
        "--set",
        metavar="JOINT=VALUE",
        type=assignment,
        action="append",
        default=[],
        dest="positions",
        help="start with this joint at VALUE (rad or m), the loops closed around it; repeatable",
    )


def add_start_on_tasks(parser: argparse.ArgumentParser) -> None:
    """Add ``--start-on-tasks``."""
    parser.add_argument(
        "--start-on-tasks",
        action="store_true",
        help="start where the references of the tasks begin, in position and velocity, near the"
        " initial guess",
    )


def start_state(
    arguments: argparse.Namespace,
    mechanism: Mechanism,
    tasks: Tasks | None,
    velocities: Mapping[str, float] | None = None,
) -> State:
    """Where the motion begins, as the command line says.

    Raises:
        InputError: ``--start-on-tasks`` without tasks.
        AssemblyError: The loops do not close, or the references are out of reach.
    """
    if arguments.start_on_tasks and tasks is None:
        raise InputError("--start-on-tasks needs --tasks: without them there is no reference")
    wanted = tasks if arguments.start_on_tasks else None
    return mechanism.start(dict(arguments.positions), velocities, tasks=wanted)


def assignment(text: str) -> tuple[str, float]:
    """Read ``joint=value``."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f'"{text}" is not JOINT=VALUE, such as crank=0.6')
    return name, _number(value)


def switchings(given: Sequence[Sequence[str]]) -> list[tuple[float, dict[str, bool]]]:
    """Read pairs of a time in s and ``constraint=on`` or ``constraint=off``.

    Raises:
        InputError: A pair that is nothing of the kind.
    """
    events = []
    for time, change in given:
        name, _, value = change.partition("=")
        if not name or value not in ("on", "off"):
            raise InputError(f'--switch: "{change}" is not NAME=on or NAME=off, such as grip=on')
        try:
            events.append((_number(time), {name: value == "on"}))
        except argparse.ArgumentTypeError as error:
            raise InputError(f"--switch: {error}") from None
    return events


def positive(text: str) -> float:
    """Read a finite number above zero."""
    number = _number(text)
    if number <= 0.0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def count(text: str) -> int:
    """Read a whole number of at least zero."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f'"{text}" is no whole number of at least 0')
    return int(text)


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number') from None
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f'"{text}" is not a finite number')
    return number


def check_writable(path: str | None, suffixes: Sequence[str]) -> None:
    """Refuse an output file now rather than after a long computation.

    Raises:
        InputError: Its suffix is not known, or its directory does not exist.
    """
    if path is None:
        return
    if Path(path).suffix.lower() not in suffixes:
        raise InputError(f"the name of this file must end with {' or '.join(suffixes)}", file=path)
    if Path(path).is_dir():
        raise InputError("is a directory; give the name of a file", file=path)
    if not Path(path).absolute().parent.is_dir():
        raise InputError("its directory does not exist; create it first", file=path)
