# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Commands that other packages, ``uk_dynamics.ros`` or the studies add to the command line."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Container
from importlib.metadata import EntryPoint, entry_points

from uk_dynamics.cli.options.arguments import Commands
from uk_dynamics.exceptions import InputError
from uk_dynamics.resources import source_tree

GROUP = "uk_dynamics.commands"
# The studies are a distribution of their own, in studies/ of the sources.
_STUDIES = "uk_dynamics_studies"
_OF_STUDIES = ("benchmark", "reproduce")


def register_extensions(commands: Commands, reserved: Container[str] = ()) -> None:
    """Add the commands of the entry-point group ``uk_dynamics.commands``.

    An entry is a function ``register(subparsers)``. If its module cannot be imported, a command of
    the same name reports what is missing. In a source tree the studies need not be installed.
    """
    find_studies()
    studies = {name: f"{_STUDIES}.commands.{name}:register" for name in _OF_STUDIES}
    found = {name: EntryPoint(name, value, GROUP) for name, value in studies.items()}
    found |= {entry.name: entry for entry in entry_points(group=GROUP)}
    for name, entry in sorted(found.items()):
        if name in reserved:
            continue
        try:
            register = entry.load()
        except ImportError as error:
            _register_stub(commands, entry, error)
        else:
            register(commands)


def find_studies() -> None:
    """Put the studies of a source tree on Python's path, after those that are installed."""
    if (tree := source_tree()) is not None and str(tree / "studies") not in sys.path:
        sys.path.append(str(tree / "studies"))


def _register_stub(commands: Commands, entry: EntryPoint, error: ImportError) -> None:
    missing = (error.name or "").partition(".")[0]
    if missing == "rclpy" or missing.endswith(("_msgs", "_srvs")):
        reason = (
            f"{entry.name} needs ROS 2: {error}; install it in this environment "
            '(pip install ".[ros]" in its sources) or source the setup file of a ROS installation'
        )
        summary = "(needs ROS 2, which is not installed here)"
    elif missing == _STUDIES:
        reason = (
            f"{entry.name} is one of the studies, which come with the sources: "
            'pip install ".[studies]" in a clone, or run it there'
        )
        summary = "(one of the studies, which are not installed here)"
    else:
        reason = f"{entry.name} cannot be loaded from {entry.value}: {error}; reinstall it"
        summary = "(cannot be loaded here)"

    def refuse(arguments: argparse.Namespace) -> int:
        raise InputError(reason)

    # No prefix character: options are accepted like all other arguments, and ignored.
    parser = commands.add_parser(entry.name, help=summary, add_help=False, prefix_chars="\0")
    parser.add_argument("ignored", nargs="*")
    parser.set_defaults(run=refuse, parser=parser)
