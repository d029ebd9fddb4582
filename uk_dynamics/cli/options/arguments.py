# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the arguments that commands share stand for: mechanism, tasks and start."""

import argparse
import importlib.util
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.files import MechanismSpec
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.mechanism_class import Mechanism


def load_mechanism(arguments: argparse.Namespace) -> Mechanism:
    """The mechanism of ``FILE``, with ``--tolerance``."""
    spec = MechanismSpec.from_file(arguments.file)
    if arguments.tolerance is not None:
        spec = replace(spec, solver=spec.solver.closing_within(arguments.tolerance))
    return Mechanism.from_spec(spec)


def load_tasks(arguments: argparse.Namespace, mechanism: Mechanism) -> Tasks | None:
    """The tasks of ``--tasks``; None without it."""
    return Tasks.from_file(arguments.tasks, mechanism) if arguments.tasks else None


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
    return mechanism.start(dict(arguments.set), velocities, tasks=tracked)


def need_ros(what: str) -> None:
    """Refuse a command where ROS 2 is not installed."""
    if importlib.util.find_spec("rclpy") is None:
        raise InputError(
            f'{what} needs ROS 2: install it in this environment (pip install ".[ros]" in the'
            " sources) or source the setup file of a ROS installation"
        )


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
