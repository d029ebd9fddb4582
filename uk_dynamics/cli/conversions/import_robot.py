# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics import``: mechanisms from SDF, MJCF, USD, and YAML files of closed loops."""

import argparse
from pathlib import Path

from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.output.printing import remark_data, remark_rows, show, table

_HELP = """\
convert a mechanism from SDF, MJCF, USD, or a YAML file of closed loops

Convert a mechanism with closed loops from another format to a URDF and a mechanism file: from SDF
(joints that close a loop, gearboxes), from MJCF (equality constraints; needs MuJoCo), from USD
(joints that close a loop; needs usd-core), or from a YAML file next to a URDF: Gepetto's
closed_loop, or the closures that CAD exporters write. What cannot be converted is listed by name,
on the screen and at the top of the mechanism file. A URDF that closes its loops itself needs no
conversion: name it in the place of a mechanism file.

examples:
  uk_dynamics import gripper.sdf --out gripper
  uk_dynamics import cassie.xml --out cassie
  uk_dynamics import robots/digit_like/robot.yaml --out digit

files in --out: NAME.urdf and NAME.yaml
"""

_OPTIONS = """\
--model NAME  model of an SDF file that has several
--urdf FILE  URDF of a YAML file (the one next to it)
--contacts  of MJCF: contacts, hard stops at limits and stiction, rigid where MuJoCo's are soft
--fixed  a root that nothing holds stands in the world, instead of floating
"""


def register(commands: common.Commands) -> None:
    """Add the command to the command line."""
    parser = common.add_command(commands, "import", _HELP, run)
    parser.add_argument(
        "file", metavar="FILE", type=Path, help="SDF, MJCF, USD, or closed-loop YAML"
    )
    common.add_out_directory(parser)
    common.add_options(parser, _OPTIONS, FILE=Path)
    common.add_json(parser, "what was done")


def run(arguments: argparse.Namespace) -> int:
    """Write both files, and list what was lost or changed."""
    from uk_dynamics.conversion import import_file, write_files

    found = import_file(
        arguments.file,
        model=arguments.model,
        urdf=arguments.urdf,
        fixed=arguments.fixed,
        contacts=arguments.contacts,
    )
    facts = found.load()
    paths = [arguments.out / f"{found.name}{suffix}" for suffix in (".urdf", ".yaml")]
    texts = dict(zip(paths, (found.urdf, found.mechanism), strict=True))
    write_files(texts, force=arguments.force)
    rows = [
        ("links", str(len(facts.model.link_names))),
        ("joints", ", ".join(facts.joint_names) or "none"),
        ("constraints", ", ".join(c.name for c in facts.constraints.constraints) or "none"),
        ("motors", ", ".join(facts.actuators.names) or "none"),
    ]
    rows += remark_rows(found.remarks)
    rows.append(("next", f"uk_dynamics check {paths[1]}"))
    text = "\n".join([*map(str, paths), table(rows)])
    show(arguments, {"files": paths, **remark_data(found.remarks)}, text)
    return 0
