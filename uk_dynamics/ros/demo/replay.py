# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics replay``: a recording back onto its topics."""

import argparse
from pathlib import Path

from uk_dynamics.cli.options import Commands, add_command, need_ros, text_beside


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    add_command(commands, "replay", text_beside(Path(__file__)), run)


def run(arguments: argparse.Namespace) -> int:
    """Publish until the end, or until interrupted."""
    need_ros("replay")
    from uk_dynamics.ros.demo.replayer import replay

    return replay(arguments)
