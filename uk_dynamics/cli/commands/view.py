# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics view``: a mechanism in the browser."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.output.served_view import add_server, serve
from uk_dynamics.exceptions import InputError

if TYPE_CHECKING:
    from uk_dynamics.mechanism import Tasks
    from uk_dynamics.mechanism_class import Mechanism
    from uk_dynamics.viewing import Source

_HELP = """\
view a mechanism in the browser: pose it, simulate it, or play a recording

Show a mechanism in the browser, without ROS. Drag the sliders of its motors, or a link, and the
passive joints follow. The motors hold the pose; "Play" simulates it from there, held, along its
tasks or with the motors off. Efforts, loop forces and more are displayed.

examples:
  uk_dynamics view five_bar
  uk_dynamics view stewart_platform --tasks stewart_platform_heave_roll --play
  uk_dynamics view four_bar --control off --port 9000
  uk_dynamics view five_bar --recording run.npz
"""

_OPTIONS = """\
--recording FILE  play a recording of the mechanism (.mcap, .db3, .npz, .csv)
--control hold|gravity|off  without tasks: hold the pose (default), compensate gravity, or motors
    off; can be changed in the view
--play  start the simulation at once
--rate HZ=500  steps per second
--real-time-factor F=1  ratio of simulated to real time; a smaller one is slow motion
"""


def register(commands: common.Commands) -> None:
    """Add the command to the command line."""
    parser = common.add_command(commands, "view", _HELP, run)
    common.add_mechanism(parser)
    common.add_start_on_tasks(parser)
    common.add_options(parser, _OPTIONS)
    add_server(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serve the view until interrupted."""
    if arguments.file.endswith((".npz", ".mcap", ".db3", ".csv", ".parquet")):
        raise InputError(
            f"{arguments.file} is a recording, not a mechanism; name its mechanism, too:"
            f" uk_dynamics view MECHANISM --recording {arguments.file}"
        )
    mechanism = common.load_mechanism(arguments)
    tasks = common.load_tasks(arguments, mechanism)
    serve(arguments, mechanism, _source(arguments, mechanism, tasks), tasks)
    return 0


def _source(arguments: argparse.Namespace, mechanism: Mechanism, tasks: Tasks | None) -> Source:
    from uk_dynamics import Trajectory
    from uk_dynamics.viewing import LiveSimulation, Playback

    factor = arguments.real_time_factor
    if arguments.recording:
        if arguments.control or arguments.positions or arguments.start_on_tasks:
            raise InputError(
                "--recording determines the motion: omit --control, --set and --start-on-tasks"
            )
        return Playback(mechanism, Trajectory.load(arguments.recording), real_time_factor=factor)
    if arguments.control and tasks is not None:
        raise InputError("--control hold, gravity and off exclude --tasks")
    return LiveSimulation(
        mechanism,
        common.start_state(arguments, mechanism, tasks),
        tasks=tasks,
        motors=arguments.control,
        step=1.0 / arguments.rate,
        real_time_factor=factor,
        playing=arguments.play,
        compiling=True,
    )
