"""``uk_dynamics benchmark``: speed and accuracy beside other engines."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from uk_dynamics.cli.arguments import check_writable
from uk_dynamics.cli.json_text import json_text
from uk_dynamics.cli.progress import progress_bar
from uk_dynamics.exceptions import InputError
from uk_dynamics.whole_file import whole_file

if TYPE_CHECKING:
    from uk_dynamics.benchmarks.report import Report
    from uk_dynamics.cli.extensions import Commands
    from uk_dynamics.mechanism.mechanism import Mechanism

# From here it swings without passing its flat configuration, where the other engines fail.
_SWINGING = {"crank": -0.5}  # rad
PARTS = ("single", "batch", "simulation", "growth")
MECHANISMS = ("four_bar", "five_bar", "rrr3", "stewart_platform", "dual_panda")

_DESCRIPTION = """\
Measure this package beside Pinocchio (constraintDynamics, lcaba), MuJoCo (mj_forward, mj_step,
rollout; default and stiff constraints), Drake (SAP) and Exudyn: the same mechanisms, the same
states, the same run, with accuracy beside the time. Before timing, mass matrix and bias forces of
every other engine are compared with ours. Engines that are not installed, or do not know a
constraint, are left out and said so.
"""

_EXAMPLES = """\
examples:
  uk_dynamics benchmark                                     all of it, some minutes
  uk_dynamics benchmark five_bar --parts single --quick
  uk_dynamics benchmark --plot docs/images/benchmarks.png --page docs/benchmarks.md
"""

_INTRODUCTION = """\
# Benchmarks

Written by `uk_dynamics benchmark --plot docs/images/benchmarks.png --page docs/benchmarks.md`.
Times are medians of the processor time of calls that alternate between the engines, so that all of
them meet the same conditions. The error is the largest difference from the interpreted acceleration
over five states, relative to the largest acceleration: an engine that is 3 % off is not a faster
engine. Before timing, mass matrix and bias forces of every other engine are compared with ours.
"Compiled" includes forces, multipliers and status, "acceleration alone" does not; "C alone" is
"compiled" as a C program calls it. "Interpreted" is the reference implementation in Python.

Exudyn provides accelerations only at the start of its implicit solver, and that is what is timed
and compared; its explicit solvers do not accept loops. What users pay is the implicit step below.

Simulations in other engines are neither projected nor stabilised beyond what the engine does by
itself. On ladders the interpreted evaluators are measured; Pinocchio's `lcaba`, articulated bodies
in C++, is faster on all ladders that fit into its memory. If other programs use the computer,
compare only within one table.
"""


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "benchmark",
        help="speed and accuracy beside other engines",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files",
        metavar="FILE",
        nargs="*",
        help=f"mechanisms; when left out {', '.join(MECHANISMS)}",
    )
    parser.add_argument(
        "--parts",
        metavar="PART",
        nargs="+",
        choices=PARTS,
        default=list(PARTS),
        help=f"of {', '.join(PARTS)}; when left out, all",
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds, shorter ladders")
    parser.add_argument("--plot", metavar="FILE", help="draw the times (.png, .pdf or .svg)")
    parser.add_argument("--page", metavar="FILE", help="write the tables as a page (.md)")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, draw."""
    from uk_dynamics.benchmarks.report import as_page, as_text, machine

    check_writable(arguments.plot, (".png", ".pdf", ".svg"))
    check_writable(arguments.page, (".md",))
    with _warnings_unsaid():
        report = _measure(arguments)
    print(json_text({"machine": machine(), **vars(report)}) if arguments.json else as_text(report))
    say = sys.stderr if arguments.json else sys.stdout
    if arguments.plot:
        from uk_dynamics.benchmarks.plot import plot

        plot(report, arguments.plot)
        print(f"\nwritten: {arguments.plot}", file=say)
    if arguments.page:
        page = Path(arguments.page)
        picture = None
        if arguments.plot:
            picture = os.path.relpath(arguments.plot, page.parent)
        with whole_file(page) as temporary:
            temporary.write_text(as_page(report, _INTRODUCTION, picture), encoding="utf-8")
        print(f"written: {page}", file=say)
    return 0


@contextmanager
def _warnings_unsaid() -> Iterator[None]:
    """Without what the package warns of in mechanisms: it would stand between the tables."""
    log = logging.getLogger("uk_dynamics")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def _measure(arguments: argparse.Namespace) -> Report:
    from uk_dynamics.benchmarks import growth, simulations, speed
    from uk_dynamics.benchmarks.report import Report

    seconds = 0.5 if arguments.quick else 2.0
    report = Report()
    mechanisms = list(compared(arguments.files))
    with progress_bar(len(mechanisms) + ("growth" in arguments.parts), "machine") as bar:
        for mechanism in mechanisms:
            bar.set_description_str(mechanism.name)
            if "single" in arguments.parts:
                report.single += speed.single(mechanism, seconds)
            if "batch" in arguments.parts:
                report.batch += speed.batch(mechanism, seconds)
            if "simulation" in arguments.parts and mechanism.name == "five_bar":
                duration, drift = (2.0, 1e-6) if arguments.quick else (20.0, 1e-8)
                title = (
                    f"{duration:g} s of {mechanism.name}, energy kept to {drift:g} of the kinetic"
                )
                start = mechanism.start(_SWINGING)
                runs = simulations.simulations(mechanism, start, duration, drift)
                report.simulated.append((title, runs))
            bar.update()
        if "growth" in arguments.parts:
            bar.set_description_str("loop_ladder")
            cells = (1, 5, 20) if arguments.quick else growth.CELLS
            report.growth = growth.growth(cells, seconds)
    return report


def compared(files: list[str]) -> Iterator[Mechanism]:
    """The mechanisms of these files, or those compared by default whose robots are installed.

    Raises:
        InputError: A file of the list cannot be read.
    """
    from uk_dynamics.mechanism.mechanism import Mechanism

    for file in files or MECHANISMS:
        try:
            mechanism = Mechanism.from_file(file)
        except InputError as error:
            if files:
                raise
            print(f"left out: {error}", file=sys.stderr)  # its robot is not installed
            continue
        yield mechanism
