# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics demo``: a mechanism under servo control, its nodes on ROS 2."""

import argparse
import signal
from pathlib import Path

from uk_dynamics.cli.options import Commands, add_command, need_ros, text_beside
from uk_dynamics.exceptions import InputError


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    add_command(commands, "demo", text_beside(Path(__file__)), run)


def run(arguments: argparse.Namespace) -> int:
    """Run the demonstration; 0 when it succeeds, 1 when not."""
    need_ros("the demo")
    from uk_dynamics.ros.demo.demonstration import Demonstration

    tasks = arguments.tasks or _shipped_tasks(arguments.file)
    if arguments.start_on_tasks and tasks is None:
        problem = "no tasks are shipped for this mechanism, so there is no reference"
        raise InputError(f"--start-on-tasks needs --tasks: {problem}", file=arguments.file)
    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", file=str(arguments.out)) from None
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # the nodes end with this process
    return Demonstration(arguments, tasks).run()


def _shipped_tasks(mechanism: str) -> str | None:
    """The first shipped tasks file whose name starts with the mechanism's; None: there is none."""
    from uk_dynamics.resources import shipped_files

    stem = Path(mechanism).stem
    shipped = shipped_files("tasks")
    for longer in shipped_files("mechanism"):
        if longer.startswith(f"{stem}_"):  # five_bar_maximal_lift is not a task of five_bar
            shipped = {n: path for n, path in shipped.items() if not n.startswith(f"{longer}_")}
    return next((name for name in shipped if name.startswith(f"{stem}_")), None)
