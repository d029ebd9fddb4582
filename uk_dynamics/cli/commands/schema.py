# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics schema``: the JSON Schema of a file, for editors."""

import argparse

from uk_dynamics.cli.output.printing import json_text, table
from uk_dynamics.mechanism.files import load_schema

_KINDS = {
    "mechanism": "loops, motors, springs and numbers of a machine on a URDF",
    "tasks": "what a servo law follows",
    "sweep": "parameters to vary, and what to compute",
    "reality": "in which way a machine differs from its model",
}


def run(arguments: argparse.Namespace) -> int:
    """Print the schema."""
    if arguments.kind is None:
        print(table(list(_KINDS.items())))
        return 0

    print(json_text(load_schema(arguments.kind)))
    return 0
