"""``uk_dynamics layouts``: what PlotJuggler and Foxglove show of a mechanism."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from uk_dynamics.cli.arguments import add_file
from uk_dynamics.cli.json_text import json_text
from uk_dynamics.exceptions import InputError
from uk_dynamics.whole_file import whole_file

if TYPE_CHECKING:
    from uk_dynamics.cli.extensions import Commands

_DESCRIPTION = """\
Write layouts for PlotJuggler (XML) and Foxglove (JSON) that show the topics of a mechanism's nodes,
or a recording of them (.mcap): motion, efforts with their limits, residuals, multipliers, energy,
rank and condition, with --tasks references and tracking errors; in Foxglove also the machine with
its forces, and buttons of the simulator.
"""

_EXAMPLES = """\
examples:
  uk_dynamics layouts five_bar
  uk_dynamics layouts stewart_platform --tasks stewart_platform_heave_roll
  uk_dynamics layouts my_robot.yaml --namespace left --out layouts
  plotjuggler --layout layouts/my_robot_plotjuggler.xml

In Foxglove: Layouts, Import from file. Layouts of five_bar and stewart_platform are installed under
share/uk_dynamics/layouts.
"""


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "layouts",
        help="layouts for PlotJuggler and Foxglove",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_file(parser)
    parser.add_argument(
        "--tasks", metavar="FILE", help="show what servo_controller does about this tasks file too"
    )
    parser.add_argument("--namespace", default="", metavar="NS", help="namespace of the nodes")
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=Path(), help="directory to write to (this one)"
    )
    parser.add_argument("--json", action="store_true", help="print what was written as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write both files and say where they are."""
    from uk_dynamics import Mechanism, Tasks
    from uk_dynamics.viewing.foxglove import foxglove_layout
    from uk_dynamics.viewing.plotjuggler import plotjuggler_layout

    mechanism = Mechanism.from_file(arguments.file)
    tasks = Tasks.from_file(arguments.tasks, mechanism) if arguments.tasks else None
    shown = (mechanism, arguments.namespace, tasks)
    texts = {
        f"{mechanism.name}_plotjuggler.xml": plotjuggler_layout(*shown),
        f"{mechanism.name}_foxglove.json": foxglove_layout(*shown),
    }
    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            with whole_file(arguments.out / name) as temporary:
                temporary.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(arguments.out)) from None
    files = [arguments.out / name for name in texts]
    if arguments.json:
        print(json_text({"mechanism": mechanism.name, "files": files}))
    else:
        print("\n".join(map(str, files)))
    return 0
