# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Arguments that several commands share, and checks of their values."""

from __future__ import annotations

import argparse
import importlib.util
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from uk_dynamics.exceptions import InputError

if TYPE_CHECKING:
    from uk_dynamics.mechanism import Tasks
    from uk_dynamics.mechanism.resolution import State
    from uk_dynamics.mechanism_class import Mechanism
    from uk_dynamics.simulation import Controller

Commands: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"

FILE = "mechanism file (YAML), or the name of a shipped mechanism, such as five_bar"
VIEW_PORT = 8080  # as uk_dynamics.viewing has it, whose import would delay --help
RECORDING = "recording: a bag (.mcap, .db3 or its directory), .npz, .csv or .parquet"
TASKS = "tasks file (YAML), or the name of a shipped one"

MODES = ("gravity", "hold")  # without tasks

_MOST = 10**7  # of anything: more fill memories and days
_LARGEST = 1e50  # of any unit: products of more overflow
_DIGITS = 100  # Python reads no more than some thousands


def add_command(
    commands: Commands, name: str, text: str, run: Callable[[argparse.Namespace], int]
) -> argparse.ArgumentParser:
    """Add a command; its text is a summary, a description, and examples after the options."""
    summary, _, text = text.partition("\n\n")
    description, separator, examples = text.partition("examples:")
    raw = argparse.RawDescriptionHelpFormatter
    parser = commands.add_parser(
        name,
        help=summary,
        description=description.rstrip(),
        epilog=separator + examples,
        formatter_class=raw,
    )
    parser.set_defaults(run=run, parser=parser)
    return parser


def need_ros(what: str) -> None:
    """Refuse a command where ROS 2 is not installed."""
    if importlib.util.find_spec("rclpy") is None:
        raise InputError(
            f'{what} needs ROS 2: install it in this environment (pip install ".[ros]" in the'
            " sources) or source the setup file of a ROS installation"
        )


def add_file(parser: argparse.ArgumentParser) -> None:
    """Add ``FILE``."""
    parser.add_argument("file", metavar="FILE", help=FILE)


def add_options(
    parser: argparse._ActionsContainer, text: str, **types: Callable[[str], object]
) -> None:
    """Add the options of a text that is written as the help shows it.

    An entry is ``--option VALUE  what it is``, its further lines are indented. What VALUE is called
    says how it is read (``types``, or those of all commands), ``A|B`` is a choice; ``VALUE=10`` has
    a default, which the help names; ``VALUE...`` may be repeated, and of ``VALUE+`` there are
    several; without VALUE it is a switch.
    """
    readers = {**_READERS, **types}
    for entry in re.findall(r"^--.*(?:\n .*)*", text, re.MULTILINE):
        head, _, words = entry.partition("  ")
        option, _, value = head.partition(" ")
        said = " ".join(words.split()).replace("%", "%%")
        name, given, default = value.rstrip("+").removesuffix("...").partition("=")
        if not value:
            parser.add_argument(option, action="store_true", help=said)
            continue
        how: dict[str, Any] = {"type": readers.get(name, str)}
        how |= {"choices": name.split("|")} if "|" in name else {"metavar": name}
        if given:
            how["default"] = how["type"](default)
            said += f" (default: {default})" * bool(default)
        if value.endswith("..."):
            how |= {"action": "append", "default": []}
        elif value.endswith("+"):
            how |= {"nargs": "+", "default": []}
        parser.add_argument(option, help=said, **how)


def add_measured(parser: argparse.ArgumentParser) -> None:
    """Add ``--measured``."""
    text = "joint with an encoder; repeatable (default: as the mechanism file says)"
    add_options(parser, f"--measured JOINT...  {text}")


def add_out_directory(parser: argparse.ArgumentParser) -> None:
    """Add ``--out``, the directory that a conversion writes to, and ``--force``."""
    text = "output directory, created if necessary"
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help=text)
    add_force(parser)


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add ``--force``."""
    add_options(parser, "--force  overwrite existing files")


def add_json(parser: argparse._ActionsContainer, what: str) -> None:
    """Add ``--json``."""
    add_options(parser, f"--json  print {what} as JSON")


def add_joint_values(
    parser: argparse.ArgumentParser, option: str, dest: str, text: str, *, of: str = "JOINT"
) -> None:
    """Add a repeatable option ``JOINT=VALUE``."""
    parser.add_argument(
        option,
        metavar=f"{of}=VALUE",
        type=assignment,
        action="append",
        default=[],
        dest=dest,
        help=f"{text}; repeatable",
    )


def add_mechanism(parser: argparse.ArgumentParser) -> None:
    """Add ``FILE``, ``--tasks``, ``--set`` and ``--tolerance``."""
    add_file(parser)
    add_options(parser, f"--tasks FILE  {TASKS}")
    text = "initial position of this joint (rad or m); the loops are closed around it"
    add_joint_values(parser, "--set", "positions", text)
    add_options(
        parser,
        "--tolerance PART  largest loop-closure error, as a part of the machine's size (default:"
        " that of the file, or 1e-10)",
    )


def load_mechanism(arguments: argparse.Namespace) -> Mechanism:
    """The mechanism of ``FILE``, with ``--tolerance``."""
    from uk_dynamics import Mechanism
    from uk_dynamics.mechanism.files import MechanismSpec

    spec = MechanismSpec.from_file(arguments.file)
    if arguments.tolerance is not None:
        spec = replace(spec, solver=spec.solver.closing_within(arguments.tolerance))
    return Mechanism.from_spec(spec)


def load_tasks(arguments: argparse.Namespace, mechanism: Mechanism) -> Tasks | None:
    """The tasks of ``--tasks``; None without it."""
    from uk_dynamics import Tasks

    return Tasks.from_file(arguments.tasks, mechanism) if arguments.tasks else None


def add_start_on_tasks(parser: argparse.ArgumentParser) -> None:
    """Add ``--start-on-tasks``."""
    text = "start on the references of the tasks, in position and velocity, near the initial guess"
    add_options(parser, f"--start-on-tasks  {text}")


def start_state(
    arguments: argparse.Namespace,
    mechanism: Mechanism,
    tasks: Tasks | None,
    velocities: Mapping[str, float] | None = None,
) -> State:
    """The initial state that the command line asks for."""
    if arguments.start_on_tasks and tasks is None:
        raise InputError("--start-on-tasks needs --tasks: without them there is no reference")
    tracked = tasks if arguments.start_on_tasks else None
    return mechanism.start(dict(arguments.positions), velocities, tasks=tracked)


def assignment(text: str) -> tuple[str, float]:
    """Read ``joint=value``."""
    name, equals, value = text.partition("=")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f'"{text}" is not JOINT=VALUE, such as crank=0.6')
    return name, finite(value)


def switchings(given: Sequence[Sequence[str]]) -> list[tuple[float, dict[str, bool]]]:
    """Read pairs of a time in s and ``constraint=on`` or ``constraint=off``."""
    events = []
    for time, change in given:
        name, _, value = change.partition("=")
        if not name or value not in ("on", "off"):
            raise InputError(f'--switch: "{change}" is not NAME=on or NAME=off, such as grip=on')
        try:
            events.append((finite(time), {name: value == "on"}))
        except argparse.ArgumentTypeError as error:
            raise InputError(f"--switch: {error}") from None
    return events


def positive(text: str) -> float:
    """Read a number above zero, of a size that machines have."""
    number = finite(text)
    if number <= 0.0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    if number < 1.0 / _LARGEST:
        raise argparse.ArgumentTypeError(f"{text} is below {1.0 / _LARGEST:g}")
    return number


def part(text: str) -> float:
    """Read a number above zero and below one."""
    number = positive(text)
    if number >= 1.0:
        raise argparse.ArgumentTypeError(f"{text} is not below 1")
    return number


def count(text: str) -> int:
    """Read a whole number of at least zero that no memory is too small for."""
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f'"{text}" is not a whole number of at least 0')
    if len(text) > _DIGITS or int(text) > _MOST:
        raise argparse.ArgumentTypeError(f"{text} is more than {_MOST}")
    return int(text)


def finite(text: str) -> float:
    """Read a finite number of a size that machines have."""
    try:
        number = float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number') from None
    if not math.isfinite(number):
        raise argparse.ArgumentTypeError(f'"{text}" is not a finite number')
    if abs(number) > _LARGEST:
        raise argparse.ArgumentTypeError(f"{text} is beyond {_LARGEST:g}")
    return number


def check_writable(path: str | None, suffixes: Sequence[str]) -> None:
    """Refuse an output file before a long computation instead of after it."""
    if path is None:
        return
    if Path(path).suffix.lower() not in suffixes:
        raise InputError(f"the name of this file must end with {' or '.join(suffixes)}", file=path)
    if Path(path).is_dir():
        raise InputError("is a directory; give the name of a file", file=path)
    if not Path(path).absolute().parent.is_dir():
        raise InputError("its directory does not exist; create it first", file=path)


def add_control(parser: argparse.ArgumentParser) -> None:
    """Add ``--control``."""
    text = "without tasks: compensate gravity, or hold the initial position"
    add_options(parser, f"--control {'|'.join(MODES)}  {text}")


# by what the help calls a value; others are text
_READERS: Mapping[str, Callable[[str], object]] = {
    **dict.fromkeys(("S", "HZ", "M", "F", "FACTOR", "STEP", "TOL"), positive),
    "DIR": Path,
    "N": count,
    "PART": part,
}


def controller_factory(
    mechanism: Mechanism,
    tasks: Tasks | None,
    mode: str | None,
    period: float | None,
    delay: float | None = None,
    backend: str = "auto",
) -> Callable[[], Controller | None]:
    """Factory of the controller, None for zero efforts; period in s, None: continuous control.

    A controller knows of the ``delay`` of its loop, in s. The law of tasks has the ``backend`` of
    the mechanism, and is interpreted where it cannot be compiled.
    """
    from uk_dynamics import DelayCompensation, GravityCompensation, Hold, ServoController
    from uk_dynamics.compilation import Selection, announce
    from uk_dynamics.compilation.build import CompilationError

    if mode and tasks is not None:
        raise InputError("--control gravity and --control hold exclude --tasks")

    def controller() -> GravityCompensation | Hold | ServoController | None:
        if mode:
            kind = Hold if mode == "hold" else GravityCompensation
            return kind(mechanism, control_period=period)
        if tasks is None:
            return None
        known = Selection(backend, unready="wait")
        try:
            return ServoController(mechanism, tasks, control_period=period, backend=known)
        except CompilationError as error:
            announce(f"the law of tasks is interpreted: {error}")
        return ServoController(mechanism, tasks, control_period=period, backend="interpreted")

    def made() -> Controller | None:
        plain = controller()
        if plain is None or not delay or period is None:
            return plain
        return DelayCompensation(plain, delay, control_period=period, longest=delay)

    return made
