# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics workspace``: where a frame gets to, and with what force."""

from __future__ import annotations

import argparse
from statistics import median
from typing import TYPE_CHECKING

from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.output.printing import progress_bar, show, table
from uk_dynamics.exceptions import InputError

if TYPE_CHECKING:
    from uk_dynamics.workspace import ReachableSet

_PICTURES = (".png", ".pdf", ".svg")

_HELP = """\
reachable poses of a frame, singular configurations, and forces it can hold

Explore where a link gets to, with closed loops and within joint limits, from where the mechanism
stands; find singular configurations of the loops, of the motors (parallel) and of the task
(serial); and compute what forces and torques the motors can hold there within their limits. Other
assembly modes are not reached by moving: start in them with --set.

examples:
  uk_dynamics workspace rrr3 --frame platform --plot reach.png
  uk_dynamics workspace five_bar --frame right_leg --point 1 0 0
  uk_dynamics workspace stewart_platform --frame platform --samples 3000 --out reach.parquet
  uk_dynamics workspace rrr3 --frame platform --json | jq .extent
"""

_OPTIONS = """\
--samples N=1000  number of configurations
--rows vx|vy|vz|wx|wy|wz+  what the task is: it is singular where the frame cannot move in one of
    them (default: all)
--no-forces  leave out what forces can be held
--plot FILE  picture (.png, .pdf, .svg)
--out FILE  table of all configurations (.parquet)
"""


def register(commands: common.Commands) -> None:
    """Add the command to the command line."""
    parser = common.add_command(commands, "workspace", _HELP, run)
    common.add_mechanism(parser)
    parser.add_argument("--frame", metavar="LINK", required=True, help="link that is looked at")
    parser.add_argument(
        "--point",
        metavar=("X", "Y", "Z"),
        nargs=3,
        type=common.finite,
        default=(0.0, 0.0, 0.0),
        help="a point in it, in m (default: its origin)",
    )
    common.add_options(parser, _OPTIONS)
    common.add_json(parser, "the summary")


def run(arguments: argparse.Namespace) -> int:
    """Explore, write the files and print the summary."""
    from uk_dynamics.mechanism.kinematics import TWIST
    from uk_dynamics.workspace import explore, write_parquet, write_picture

    common.check_writable(arguments.plot, _PICTURES)
    common.check_writable(arguments.out, (".parquet",))
    if not arguments.samples:
        raise InputError("expected at least 1 configuration, found 0", place="--samples")
    mechanism = common.load_mechanism(arguments)
    positions = dict(arguments.positions)
    start = mechanism.assemble(positions, hold=positions)
    x, y, z = arguments.point
    with progress_bar(arguments.samples, "configuration") as bar:
        found = explore(
            mechanism,
            (arguments.frame, (x, y, z)),
            start,
            samples=arguments.samples,
            rows=arguments.rows or TWIST,
            forces=not arguments.no_forces,
            progress=bar.update,
        )
    if arguments.plot:
        write_picture(found, mechanism, arguments.plot)
    if arguments.out:
        write_parquet(found, arguments.out)
    text = f"{found.mechanism}: {found.frame}\n{table(_rows(found))}"
    show(arguments, _facts(found), text)
    return 0


def _facts(found: ReachableSet) -> dict[str, object]:
    low, high = found.extent
    facts: dict[str, object] = {
        "frame": found.frame,
        "configurations": len(found.q),
        "extent": {n: [low[k], high[k]] for k, n in enumerate("xyz")},
        "singular": {locus.kind: len(locus.q) for locus in found.loci},
        "least_measure": {kind: float(x.min()) for kind, x in found.measures.items()},
        "notes": list(found.notes),
    }
    for what, envelopes in (("force", found.forces), ("torque", found.torques)):
        if envelopes is not None:
            held = [each.guaranteed for each in envelopes]
            facts[f"{what}_guaranteed"] = {
                "rows": envelopes[0].rows,
                "least": min(held),
                "median": median(held),
            }
    return facts


def _rows(found: ReachableSet) -> list[tuple[str, str]]:
    low, high = found.extent
    rows = [
        ("configurations", str(len(found.q))),
        *((axis, f"{low[k]:.4g} to {high[k]:.4g} m") for k, axis in enumerate("xyz")),
    ]
    for locus in found.loci:
        count, least = len(locus.q), found.measures[locus.kind].min()
        none = f"none found; the measure is at least {least:.2g}"
        some = f"{count} configuration{'s' * (count > 1)} found"
        rows.append((f"{locus.kind} singular", some if count else none))
    for what, unit, envelopes in (("force", "N", found.forces), ("torque", "N m", found.torques)):
        if envelopes is not None:
            held = [each.guaranteed for each in envelopes]
            span = f"at least {min(held):.4g}, median {median(held):.4g} {unit}"
            among = ", ".join(envelopes[0].rows)
            rows.append((f"{what} held", f"{span}, in any direction of {among}"))
    return [*rows, *(("note", note) for note in found.notes)]
