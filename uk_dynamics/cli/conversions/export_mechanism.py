# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics export``: mechanisms as SDF, MJCF, URDF with loops, or Gepetto's YAML."""

import argparse

from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.output.printing import remark_data, remark_rows, show, table

_INCOMPLETE = 1
# as uk_dynamics.conversion has them, whose import would delay --help
FORMATS = ("sdf", "mjcf", "urdf-constraint", "urdf+", "gepetto")

_HELP = """\
convert a mechanism to SDF, MJCF, or a URDF with loops

Convert a mechanism, with its loops, motors, springs and shapes, to the format of another program:
sdf for Gazebo, mjcf for MuJoCo, gepetto (a YAML file next to a URDF) for tools around Pinocchio,
and the URDF with its loops in it, as <constraint> elements (urdf-constraint) or as URDF+ (urdf+).
What the format cannot express is listed by name, on the screen and at the top of each file. If that
is a constraint or a freedom, so that another machine would move there, nothing is written, unless
--partial says so.

examples:
  uk_dynamics export five_bar --format mjcf --out five_bar_mujoco
  uk_dynamics export my_robot.yaml --format sdf --out model
  uk_dynamics export my_robot.yaml --format urdf+ --out description --json

files in --out: NAME.sdf, NAME.xml or NAME.urdf, for gepetto also NAME.yaml
exit status: 0 written, 1 constraints or freedoms would be missing, 2 wrong usage
"""


def register(commands: common.Commands) -> None:
    """Add the command to the command line."""
    parser = common.add_command(commands, "export", _HELP, run)
    common.add_file(parser)
    parser.add_argument("--format", choices=FORMATS, required=True, help="what to write")
    common.add_out_directory(parser)
    common.add_options(parser, "--partial  write it also without some of its constraints")
    common.add_json(parser, "what was done")


def run(arguments: argparse.Namespace) -> int:
    """Write the files, and list what was lost or changed; status 1 where rows are missing."""
    from uk_dynamics.conversion import export_mechanism, write_files
    from uk_dynamics.mechanism_class import Mechanism

    found = export_mechanism(Mechanism.from_file(arguments.file), arguments.format)
    refused = bool(found.missing) and not arguments.partial
    texts = {arguments.out / name: text for name, text in found.texts.items()}
    if not refused:
        write_files(texts, force=arguments.force)
    paths = [] if refused else list(texts)
    missing = [remark.subject for remark in found.missing]
    facts = {"files": paths, "missing": missing, "zero": found.zero}
    rows = remark_rows(found.remarks)
    if refused:
        reason = f"without {', '.join(missing)} it is another machine; --partial"
        rows.append(("not written", reason))
    lines = [*map(str, paths), *([table(rows)] if rows else [])]
    show(arguments, {**facts, **remark_data(found.remarks)}, "\n".join(lines))
    return _INCOMPLETE if found.missing else 0
