"""``uk_dynamics plot``: a recording as a report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from uk_dynamics.exceptions import InputError

if TYPE_CHECKING:
    from uk_dynamics.cli.extensions import Commands

_DESCRIPTION = """\
Make one report of a recording, as a page (HTML) and as a picture (PNG): joint motion, efforts with
their limits, tracking errors, violations of the constraints and their rates, energy, rank and
condition. Recordings are what simulate --out wrote (.npz, .mcap), or the topics of running nodes
(.mcap), also when they were cut short.
"""

_EXAMPLES = """\
examples:
  uk_dynamics simulate five_bar --tasks five_bar_sweep --out run.mcap && uk_dynamics plot run.mcap
  uk_dynamics plot run.npz --out reports/monday
"""


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "plot",
        help="make a report of a recording, as a page and as a picture",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", help="recording: .npz or .mcap")
    parser.add_argument(
        "--out",
        metavar="NAME",
        type=Path,
        help="write NAME.html and NAME.png (the recording's name, beside it)",
    )
    parser.add_argument("--json", action="store_true", help="print the figures as JSON as well")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write both files and say where they are."""
    from uk_dynamics import Trajectory
    from uk_dynamics.cli.json_text import json_text
    from uk_dynamics.cli.report_page import write_report
    from uk_dynamics.cli.simulation_summary import summarize

    source = Path(arguments.file)
    base: Path = arguments.out or source.with_suffix("")
    if not base.absolute().parent.is_dir():
        raise InputError("its directory does not exist; create it first", file=str(base))
    trajectory = Trajectory.load(source)
    files = write_report(trajectory, base, source.name)
    if arguments.json:
        print(json_text(summarize(trajectory, conservative=False)))
    else:
        print("\n".join(map(str, files)))
    return 0
