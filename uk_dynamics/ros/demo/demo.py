# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics demo``: a mechanism under servo control, its nodes on ROS 2."""

from __future__ import annotations

import argparse
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from uk_dynamics.cli.options import (
    VIEW_PORT,
    add_command,
    add_options,
    add_start_on_tasks,
    count,
    need_ros,
)
from uk_dynamics.exceptions import InputError

if TYPE_CHECKING:
    from uk_dynamics.cli.options import Commands

DEFAULT = "stewart_platform"
_HELP = """\
see it live: nodes on ROS 2, a mechanism under servo control

Show a closed-loop mechanism under servo control: simulator, forward_dynamics and servo_controller
run as separate processes that communicate over ROS 2 on this computer. The motion is recorded and
evaluated from the topics. A mechanism that ships without tasks moves without control.

examples:
  uk_dynamics demo
  uk_dynamics demo five_bar --duration 5
  uk_dynamics demo --view --duration 60
  uk_dynamics demo five_bar --tasks five_bar_lift --rate 200 --out lift
"""

_OPTIONS = """\
--duration S=10  simulated time in s
--rate HZ=500  steps and commands per s
--real-time-factor F=1  simulated time per real time; smaller is slow motion
--tolerance TOL=0.02  largest tracking error (without tasks: constraint violation) in m or rad
    that counts as success
--out DIR=uk_dynamics_demo  directory for plot and numbers
--record  record the topics too, as DIR/NAME.mcap
"""


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = add_command(commands, "demo", _HELP, run)
    parser.add_argument(
        "file",
        metavar="NAME",
        nargs="?",
        default=DEFAULT,
        help=f"shipped mechanism or mechanism file ({DEFAULT})",
    )
    tasks = "--tasks FILE  tasks file (the first shipped one for the mechanism, if any)"
    add_options(parser, tasks)
    add_start_on_tasks(parser)
    add_options(parser, _OPTIONS)
    parser.add_argument(
        "--view",
        metavar="PORT",
        type=count,
        nargs="?",
        const=VIEW_PORT,
        help=f'show it in the browser too, at http://127.0.0.1:PORT ({VIEW_PORT}; extra "view");'
        " choose a longer --duration to look around",
    )


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
