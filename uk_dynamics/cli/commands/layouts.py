# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics layouts``: layouts for PlotJuggler and Foxglove."""

import argparse

from uk_dynamics import Mechanism
from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.output.printing import show_files
from uk_dynamics.conversion import write_files
from uk_dynamics.viewing import foxglove_layout, plotjuggler_layout


def run(arguments: argparse.Namespace) -> int:
    """Write both files and print their paths."""
    mechanism = Mechanism.from_file(arguments.file)
    shown = (mechanism, arguments.namespace, common.load_tasks(arguments, mechanism))
    texts = {
        arguments.out / f"{mechanism.name}_plotjuggler.xml": plotjuggler_layout(*shown),
        arguments.out / f"{mechanism.name}_foxglove.json": foxglove_layout(*shown),
    }
    write_files(texts, force=True)
    show_files(arguments, mechanism.name, list(texts))
    return 0
