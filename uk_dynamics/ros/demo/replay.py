# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics replay``: a recording back onto its topics."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from uk_dynamics.cli.options import RECORDING, add_command, add_options, need_ros

if TYPE_CHECKING:
    from uk_dynamics.cli.options import Commands

_HELP = """\
publish a recording on its topics

Publish the messages of a recording (.mcap) on their topics, with their original timing; of another
one (.npz, .csv, .parquet) what the nodes would have published. Motor commands are left out unless
--commands is given. A recorded /clock is published as well.

examples:
  uk_dynamics replay run.mcap
  uk_dynamics replay run.mcap --speed 0.2 --loop
  uk_dynamics replay run.mcap --clock       (subscribing nodes need use_sim_time:=true)
"""

_OPTIONS = """\
--speed F=1  recorded time per real time
--loop  start again at the end
--clock  publish the recorded time on /clock, where no /clock was recorded
--commands  publish motor commands too; a robot that receives them will move
--wait S=5  start when there is a subscriber, or after this time in s
"""


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = add_command(commands, "replay", _HELP, run)
    parser.add_argument("file", metavar="FILE", help=RECORDING)
    add_options(parser, _OPTIONS)


def run(arguments: argparse.Namespace) -> int:
    """Publish until the end, or until interrupted."""
    need_ros("replay")
    from uk_dynamics.ros.demo.replayer import replay

    return replay(arguments)
