# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics view``: a mechanism in the browser."""

import argparse

from uk_dynamics import Trajectory
from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.output.served_view import serve
from uk_dynamics.exceptions import InputError
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.viewing import LiveSimulation, Playback, Source


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
    factor = arguments.real_time_factor
    if arguments.recording:
        if arguments.control or arguments.set or arguments.start_on_tasks:
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
