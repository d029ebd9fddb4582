# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics plot``: a report of a recording."""

import argparse
from pathlib import Path

from uk_dynamics import Trajectory
from uk_dynamics.cli.output.printing import show
from uk_dynamics.cli.output.report_page import write_report
from uk_dynamics.cli.output.simulation_summary import summarize
from uk_dynamics.exceptions import InputError


def run(arguments: argparse.Namespace) -> int:
    """Write both files and print their paths or the summary."""
    source = Path(arguments.file)
    base: Path = arguments.out or source.with_suffix("")
    if not base.absolute().parent.is_dir():
        raise InputError("its directory does not exist; create it first", file=str(base))
    trajectory = Trajectory.load(source)
    files = write_report(trajectory, base, source.name)
    show(arguments, summarize(trajectory, conservative=False), "\n".join(map(str, files)))
    return 0
