# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics layouts``: layouts for PlotJuggler and Foxglove."""

import argparse

from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.output.printing import show_files

_HELP = """\
write layouts for PlotJuggler and Foxglove

Write layouts for PlotJuggler (XML) and Foxglove (JSON) that show the topics of a mechanism's nodes,
or a recording of them (.mcap): motion, efforts with their limits, residuals, multipliers, energy,
rank and condition, with --tasks also references and tracking errors; in Foxglove also the machine
with its forces, and the buttons of the simulator.

examples:
  uk_dynamics layouts five_bar
  uk_dynamics layouts stewart_platform --tasks stewart_platform_heave_roll
  uk_dynamics layouts my_robot.yaml --namespace left --out layouts
  plotjuggler --layout layouts/my_robot_plotjuggler.xml

In Foxglove: Layouts, Import from file. Layouts of five_bar and stewart_platform are installed under
share/uk_dynamics/layouts.
"""

_OPTIONS = """\
--tasks FILE  also show servo_controller with this tasks file
--namespace NS=  namespace of the nodes
--out DIR=.  output directory
"""


def register(commands: common.Commands) -> None:
    """Add the command to the command line."""
    parser = common.add_command(commands, "layouts", _HELP, run)
    common.add_file(parser)
    common.add_options(parser, _OPTIONS)
    common.add_json(parser, "what was written")


def run(arguments: argparse.Namespace) -> int:
    """Write both files and print their paths."""
    from uk_dynamics import Mechanism
    from uk_dynamics.conversion import write_files
    from uk_dynamics.viewing import foxglove_layout, plotjuggler_layout

    mechanism = Mechanism.from_file(arguments.file)
    tasks = common.load_tasks(arguments, mechanism)
    shown = (mechanism, arguments.namespace, tasks)
    texts = {
        arguments.out / f"{mechanism.name}_plotjuggler.xml": plotjuggler_layout(*shown),
        arguments.out / f"{mechanism.name}_foxglove.json": foxglove_layout(*shown),
    }
    write_files(texts, force=True)
    show_files(arguments, mechanism.name, list(texts))
    return 0
