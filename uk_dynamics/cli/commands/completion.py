# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics completion``: shell completion of commands, options and names.

The program itself answers the shell, through argcomplete: with the names of available mechanisms,
tasks and papers, and of the mechanism's joints and motors.
"""

import argparse
import os
from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, Literal

from uk_dynamics.exceptions import UkDynamicsError
from uk_dynamics.resources import optional_library, shipped_files

# Commands whose FILE is not a mechanism.
_OTHER_FILES = ("plot", "replay", "init", "import")
# Robot descriptions may stand in the place of a mechanism file.
_ROBOTS = ("urdf", "xacro")


def run(arguments: argparse.Namespace) -> int:
    """Print the script."""
    remedy = "install it (pip install argcomplete, apt install python3-argcomplete)"
    missing = f"completion needs argcomplete; {remedy}"
    shell_integration = optional_library("argcomplete.shell_integration", missing)
    print(shell_integration.shellcode(["uk_dynamics"], shell=arguments.shell))
    return 0


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a completion request of the shell and exit; return if there is none."""
    if "_ARGCOMPLETE" not in os.environ:
        return
    try:
        import argcomplete
    except ImportError:
        return
    chosen = (x.choices for x in parser._actions if isinstance(x, argparse._SubParsersAction))
    for command, part in (item for choices in chosen for item in choices.items()):
        for action in part._actions:
            completer = _completer(command, action)
            if completer is not None:
                setattr(action, "completer", completer)  # noqa: B010 - as argcomplete has it
    argcomplete.autocomplete(parser)


def _completer(command: str, action: argparse.Action) -> Callable[..., Iterable[str]] | None:
    """Completer of an argument; None: the default of argcomplete."""
    if action.dest in ("file", "files") and command not in _OTHER_FILES:
        return _yaml_files if command == "sweep" else _shipped_or_files("mechanism", _ROBOTS)
    if action.dest == "tasks" and action.metavar == "FILE":
        return _shipped_or_files("tasks")
    if action.metavar == "JOINT=VALUE":
        return _assigned("model.position_names")
    return _assigned("actuators.names") if action.metavar == "MOTOR=VALUE" else None


def _yaml_files(prefix: str, *, endings: Sequence[str] = (), **_: Any) -> Iterable[str]:
    """Names of local files that are YAML or have another ending."""
    from argcomplete.completers import FilesCompleter

    return FilesCompleter(allowednames=("yaml", "yml", *endings))(prefix)


def _shipped_or_files(
    kind: Literal["mechanism", "tasks"], endings: Sequence[str] = ()
) -> Callable[..., Iterable[str]]:
    """Names of shipped files, and of local ones."""

    def offered(prefix: str, **_: Any) -> Iterable[str]:
        return [*shipped_files(kind), *_yaml_files(prefix, endings=endings)]

    return offered


def _assigned(names: str) -> Callable[..., Iterable[str]]:
    """Names in the mechanism, or robot, of the file given before, each with an equals sign."""

    def offered(parsed_args: argparse.Namespace, **_: Any) -> Iterable[str]:
        from uk_dynamics.mechanism_class import Mechanism

        try:
            mechanism = Mechanism.from_file(parsed_args.file)
            return [f"{name}=" for name in attrgetter(names)(mechanism)]
        except UkDynamicsError:  # an incomplete name of the file
            return []

    return offered
