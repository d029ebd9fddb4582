# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics init``: draft a mechanism file."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.output.printing import show, table

if TYPE_CHECKING:
    from uk_dynamics.conversion.drafting import Draft

_HELP = """\
draft a mechanism file for a URDF of your own

Draft a mechanism file for a robot of your own: its joints with their limits, probable loop closures
(frames that coincide, and links PIN_a and PIN_b, which mark the two sides of a pin wherever they
are), and the motors named by <ros2_control> or <transmission> tags, or else inferred from effort
limits. Every guess is marked as one; the file loads as it is.

examples:
  uk_dynamics init my_robot.urdf                       writes my_robot.yaml
  uk_dynamics init my_robot.urdf.xacro --xacro arms=2 --out config/my_robot.yaml
  uk_dynamics init my_robot.urdf --at crank=0.6 --at rocker=-0.3
"""


_NO_LOOP = (
    "none: no frames coincide; mark the two sides of a pin by links PIN_a and PIN_b, or see --at"
)


def register(commands: common.Commands) -> None:
    """Add the command to the command line."""
    parser = common.add_command(commands, "init", _HELP, run)
    parser.add_argument(
        "file", metavar="URDF", help="robot description: a .urdf or .xacro file, or package://"
    )
    common.add_options(
        parser,
        "--out FILE  mechanism file to write (default: name of the URDF, .yaml, in this directory)",
        FILE=Path,
    )
    common.add_joint_values(
        parser, "--at", "positions", "search loops with this joint at VALUE (rad or m; default 0)"
    )
    parser.add_argument(
        "--xacro",
        metavar="NAME=VALUE",
        type=_argument,
        action="append",
        default=[],
        help="argument of the .xacro file; repeatable",
    )
    common.add_force(parser)
    common.add_json(parser, "what was found")


def run(arguments: argparse.Namespace) -> int:
    """Write the file and list the guesses."""
    from uk_dynamics.conversion import write_files
    from uk_dynamics.conversion.drafting import draft

    name = arguments.file.rstrip("/").rpartition("/")[2].partition(".")[0]
    path: Path = arguments.out or Path(f"{name}.yaml")
    found = draft(
        arguments.file,
        path.absolute().parent,
        positions=dict(arguments.positions),
        xacro=dict(arguments.xacro),
    )
    write_files({path: found.text}, force=arguments.force)
    show(arguments, _facts(path, found), f"{path}\n{table(_rows(path, found))}")
    return 0


def _rows(path: Path, found: Draft) -> list[tuple[str, str]]:
    closed = [f"{cut.name} ({cut.data['type']})" for cut in found.cuts]
    rows = [
        ("joints", ", ".join(found.report.joints) or "none"),
        ("loops, guessed", ", ".join(closed) or _NO_LOOP),
        ("motors, guessed", ", ".join(found.motors) or "none: no tags and no effort limits"),
        ("mobility", f"{found.report.mobility}, {found.report.actuation}"),
    ]
    if found.branch:
        rows.append(("branch", found.branch))
    if found.suggestions:
        names = ", ".join(
            f"{cut.name} ({1e3 * cut.coincidence.distance:.3g} mm apart)"
            for cut in found.suggestions
        )
        rows.append(("in comments", f"{names}: decide whether they are loops; why is said there"))
    rows.append(("next", f"uk_dynamics check {path}"))
    return rows


def _facts(path: Path, found: Draft) -> dict[str, object]:
    return {
        "file": path,
        "constraints": {cut.name: cut.data for cut in found.cuts},
        "suggestions": {cut.name: cut.data for cut in found.suggestions},
        "motors": list(found.motors),
        "mobility": found.report.mobility,
        "actuation": found.report.actuation,
        "branch": found.branch,
    }


def _argument(text: str) -> tuple[str, str]:
    """Read ``name=value``, or xacro's own ``name:=value``."""
    name, equals, value = text.partition("=")
    name = name.removesuffix(":")
    if not (name and equals):
        raise argparse.ArgumentTypeError(f'"{text}" is not NAME=VALUE, such as arms=2')
    return name, value
