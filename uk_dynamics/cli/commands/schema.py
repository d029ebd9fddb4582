# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics schema``: the JSON Schema of a file, for editors."""

import argparse

from uk_dynamics.cli.options.arguments import Commands, add_command

_HELP = """\
JSON Schema of the files, for editors

Print the JSON Schema (draft 7) of mechanism, tasks or sweep files, so that an editor completes and
checks them while you write. It has every type of constraint that is installed.

examples:
  uk_dynamics schema mechanism > mechanism.schema.json

Editors with yaml-language-server read it where a file begins with this comment:
# yaml-language-server: $schema=mechanism.schema.json
"""


_KINDS = {
    "mechanism": "loops, motors, springs and numbers of a machine on a URDF",
    "tasks": "what a servo law follows",
    "sweep": "parameters to vary, and what to compute",
    "reality": "in which way a machine differs from its model",
}


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = add_command(commands, "schema", _HELP, run)
    parser.add_argument(
        "kind", choices=_KINDS, nargs="?", help="of which file (without it, the kinds are listed)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the schema."""
    from uk_dynamics.cli.output.printing import json_text, table

    if arguments.kind is None:
        print(table(list(_KINDS.items())))
        return 0
    from uk_dynamics.mechanism.files import load_schema

    print(json_text(load_schema(arguments.kind)))
    return 0
