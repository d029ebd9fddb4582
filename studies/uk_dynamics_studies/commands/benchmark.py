# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics benchmark``: speed and accuracy compared with other engines."""

from __future__ import annotations

import argparse
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from uk_dynamics.cli.options import Commands, add_command, check_writable
from uk_dynamics.cli.output import json_text, progress_bar
from uk_dynamics.exceptions import InputError
from uk_dynamics.whole_file import whole_file

if TYPE_CHECKING:
    from uk_dynamics.mechanism_class import Mechanism
    from uk_dynamics_studies.benchmarks import Report

# This start avoids the flat configuration, where the other engines fail.
_SWINGING = {"crank": -0.5}  # rad
PARTS = ("control", "law", "single", "batch", "derivatives", "simulation", "growth")
_WALKER = Path("examples/plantigrade/plantigrade.yaml")  # in a clone
_ON_REQUEST = ("device", "contact", "standing")
MECHANISMS = ("four_bar", "five_bar", "rrr3", "stewart_platform", "dual_panda")
CONTROLLED = (
    *("five_bar", "rrr3", "coordinated_robots", "excavator", "dual_panda"),
    "stewart_platform",
)

_HELP = """\
compare speed and accuracy with other engines

Compare simulations under servo control at 1 kHz with MuJoCo and Pinocchio, and the servo law with
PlaCo's dynamics solver, which a Python of its own computes that UK_DYNAMICS_PLACO_PYTHON names
(python -m venv placo; placo/bin/pip install placo; for the biped likewise UK_DYNAMICS_TSID_PYTHON,
with tsid). Then compare single
accelerations with Pinocchio (constraintDynamics, lcaba), MuJoCo (mj_forward, mj_step, rollout;
default and stiff constraints), Drake (SAP) and Exudyn: the same mechanisms and states in the same
run, time and accuracy. Before timing, mass matrix and bias forces of every other engine are
compared with ours. Contact is measured beside MuJoCo, Drake and Newton (pip install newton:
SolverKamino on the processor, whose first run compiles for some minutes); Siconos and the contact
solvers of Pinocchio by programs in studies/measurements. Engines that are not installed, or do not
support a constraint, are skipped with a note.

examples:
  uk_dynamics benchmark                                     everything, takes some minutes
  uk_dynamics benchmark five_bar --parts single --quick
  uk_dynamics benchmark --parts contact                     a leg that lands, a walking machine
  uk_dynamics benchmark --parts standing                    the law of the biped, PlaCo's, TSID's
  uk_dynamics benchmark --plot docs/images/benchmarks.png --page docs/benchmarks.md
"""

_INTRODUCTION = """\
# Benchmarks

Written by `uk_dynamics benchmark --plot docs/images/benchmarks.png --page docs/benchmarks.md`.

The first table, and the picture, are what a user waits for: simulated time per processor time, with
servo control at 1 kHz, motor limits, steps of 1 ms. `uk_dynamics simulate` computes the law in C,
takes four evaluations a step and projects each onto the loops; samples every 10 ms are included.
"The same law" is our compiled servo law, asked from Python in every period, since the other engines
have none; `mj_step` is one evaluation with MuJoCo's default, soft constraints, and with constant
effort the machine soon does something else. Ratios are medians of rounds in which all engines take
turns.

The table of the servo law has the time from a measured state to efforts, references and limits
included: a control period in C, as `servo_controller` asks for it, and `ServoController.command`,
which also says what the tasks get. PlaCo runs in a process of its own, by turns with ours, and is
asked for the accelerations that our efforts cause, of joints that determine all others; references
and limits of rate are left out. Where motors are redundant, efforts are not compared.

Medians of the processor time of interleaved calls, so that all engines run under the same load. The
error is the largest difference from the interpreted acceleration over five states, relative to the
largest acceleration: an engine that is 3 % off is not a faster engine. Before timing, mass matrix
and bias forces of every other engine are compared with ours. "Compiled" also computes forces,
multipliers and status, "acceleration alone" does not; "C alone" is "compiled" called from C.

Derivatives of the acceleration are ours with the acceleration, in C, from Python, and 512 states
in one call on one thread; Pinocchio's follow its `constraintDynamics`, which is not counted. Those
by forces are compared; the table says how far those by positions and velocities differ along what
the loops allow, the first joint held, whose derivatives Pinocchio has wrong for loops of points.

Exudyn computes accelerations only when its implicit solver starts, which is what is timed and
compared; its explicit solvers do not support loops. Users pay for the implicit step listed below.

Simulations in other engines are neither projected nor stabilised beyond what the engine does by
itself. Ladders are evaluated with forces, multipliers and status, which the other engines do not
compute there; up to 60 velocities users get straight-line code instead. If other programs use the
computer, compare only within one table.

Contact is measured on request, by `uk_dynamics benchmark --parts contact`, beside MuJoCo, Drake and
Newton; Siconos and the contact solvers of Pinocchio are measured by programs in
`studies/measurements`. [Contact](contact.md#how-fast-how-sure) has the numbers of both.
"""


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = add_command(commands, "benchmark", _HELP, run)
    parser.add_argument(
        "files", metavar="FILE", nargs="*", help=f"mechanisms (default: {', '.join(MECHANISMS)})"
    )
    parser.add_argument(
        "--parts",
        metavar="PART",
        nargs="+",
        choices=(*PARTS, *_ON_REQUEST),
        default=list(PARTS),
        help=f"which parts, of {', '.join(PARTS)} (default: these), device (a GPU), contact, "
        "standing",
    )
    parser.add_argument("--quick", action="store_true", help="fewer rounds, shorter ladders")
    parser.add_argument("--plot", metavar="FILE", help="plot the times (.png, .pdf or .svg)")
    parser.add_argument("--page", metavar="FILE", help="write the tables as a page (.md)")
    parser.add_argument("--json", action="store_true", help="print the numbers as JSON")


def run(arguments: argparse.Namespace) -> int:
    """Measure, print, draw."""
    from uk_dynamics_studies.benchmarks import as_page, as_text, machine

    check_writable(arguments.plot, (".png", ".pdf", ".svg"))
    check_writable(arguments.page, (".md",))
    with _warnings_silenced():
        report = _measure(arguments)
    print(json_text({"machine": machine(), **vars(report)}) if arguments.json else as_text(report))
    say = sys.stderr if arguments.json else sys.stdout
    if arguments.plot:
        from uk_dynamics_studies.benchmarks import plot

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
def _warnings_silenced() -> Iterator[None]:
    """Silence warnings about mechanisms, which would interrupt the tables."""
    log = logging.getLogger("uk_dynamics")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)


def _measure(arguments: argparse.Namespace) -> Report:
    from uk_dynamics_studies.benchmarks import (
        Report,
        contact,
        controlled,
        device,
        growth,
        laws,
        simulations,
        slopes,
        speed,
    )
    from uk_dynamics_studies.benchmarks import standing as whole_body

    seconds = 0.5 if arguments.quick else 2.0
    report = Report()
    rounds = 3 if arguments.quick else 9
    if "contact" in arguments.parts:
        for mechanism in standing(arguments.files):
            report.contact += contact.in_contact(mechanism, seconds, rounds)
    if "standing" in arguments.parts:
        report.standing += whole_body.standing(rounds)
    others = bool(set(arguments.parts) - {"contact", "standing"})
    mechanisms = list(compared(arguments.files)) if others else []
    driven: list[Mechanism] = []
    if {"control", "law"} & set(arguments.parts):
        asked = [name for name in CONTROLLED if not arguments.files or name in arguments.files]
        driven = list(compared(asked))
    steps = len(mechanisms) + len(driven) + ("growth" in arguments.parts)
    with progress_bar(steps, "machine") as bar:
        for mechanism in driven:
            bar.set_description_str(f"{mechanism.name} under control")
            if "control" in arguments.parts:
                report.controlled += controlled.controlled(mechanism, rounds=rounds)
            if "law" in arguments.parts:
                report.laws += laws.laws(mechanism, rounds=rounds)
            bar.update()
        for mechanism in mechanisms:
            bar.set_description_str(mechanism.name)
            if "single" in arguments.parts:
                report.single += speed.single(mechanism, seconds)
            if "batch" in arguments.parts:
                report.batch += speed.batch(mechanism, seconds)
            if "derivatives" in arguments.parts:
                report.slopes += slopes.slopes(mechanism, seconds)
            if "device" in arguments.parts:
                measured = device.device(mechanism, 2**8 if arguments.quick else device.STATES)
                report.device += [] if measured is None else [measured]
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


def standing(files: list[str]) -> Iterator[Mechanism]:
    """Mechanisms of these files that have contacts, or the default ones."""
    from uk_dynamics.mechanism_class import Mechanism

    if not files:
        yield Mechanism.from_file("landing_leg_contact")
        files = [str(_WALKER)] if _WALKER.is_file() else []
    yield from (one for one in map(Mechanism.from_file, files) if one.spec.contacts)


def compared(files: list[str]) -> Iterator[Mechanism]:
    """The mechanisms of these files, or the default ones whose robots are installed."""
    from uk_dynamics.mechanism_class import Mechanism

    for file in files or MECHANISMS:
        try:
            mechanism = Mechanism.from_file(file)
        except InputError as error:
            if files:
                raise
            print(f"left out: {error}", file=sys.stderr)  # its robot is not installed
            continue
        yield mechanism
