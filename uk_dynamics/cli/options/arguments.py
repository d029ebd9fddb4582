# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the arguments that commands share stand for: mechanism, tasks and start."""

import argparse
from collections.abc import Mapping
from dataclasses import replace

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
