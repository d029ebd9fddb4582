# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics plot``: a report of a recording."""

import argparse
from pathlib import Path

from uk_dynamics.cli.options import arguments as common
from uk_dynamics.exceptions import InputError

_HELP = """\
write a report of a recording, as a page and as a picture

Write a report of a recording as a page (HTML) and as a picture (PNG): driven joints and tasks with
their references, other joints, velocities, motor efforts and power, limits, errors, energy. What is
constant or only rounding is a line of text. A recording is the output of simulate --out (.npz,
.mcap, .csv), the topics of running nodes (.mcap), even if it is truncated, or a table of another
program (.csv, .npz, .parquet) with the columns t, q.JOINT, v.JOINT, effort.MOTOR.

examples:
  uk_dynamics simulate five_bar --tasks five_bar_sweep --out run.mcap && uk_dynamics plot run.mcap
  uk_dynamics plot run.npz --out reports/monday
"""


def register(commands: common.Commands) -> None:
    """Add the command to the command line."""
    parser = common.add_command(commands, "plot", _HELP, run)
    parser.add_argument("file", metavar="FILE", help=common.RECORDING)
    common.add_options(
        parser,
        "--out NAME  write NAME.html and NAME.png (default: the recording's name, next to it)",
        NAME=Path,
    )
    common.add_json(parser, "the summary")


def run(arguments: argparse.Namespace) -> int:
    """Write both files and print their paths or the summary."""
    from uk_dynamics import Trajectory
    from uk_dynamics.cli.output.printing import show
    from uk_dynamics.cli.output.report_page import write_report
    from uk_dynamics.cli.output.simulation_summary import summarize

    source = Path(arguments.file)
    base: Path = arguments.out or source.with_suffix("")
    if not base.absolute().parent.is_dir():
        raise InputError("its directory does not exist; create it first", file=str(base))
    trajectory = Trajectory.load(source)
    files = write_report(trajectory, base, source.name)
    summary = summarize(trajectory, conservative=False)
    show(arguments, summary, "\n".join(map(str, files)))
    return 0
