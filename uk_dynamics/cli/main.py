# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Entry point of the command line, and commands that other distributions add."""

import argparse
import errno
import io
import os
import sys
from collections.abc import Container, Sequence
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import NoReturn

from uk_dynamics import __version__
from uk_dynamics.cli.commands.completion import complete
from uk_dynamics.cli.options import Commands, add_command, text_beside
from uk_dynamics.did_you_mean import closest
from uk_dynamics.exceptions import InputError, UkDynamicsError, UnknownNameError
from uk_dynamics.resources import PACKAGE, source_tree

GROUP = f"{PACKAGE}.commands"
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


USER_ERROR = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
BROKEN_PIPE = 141  # 128 + SIGPIPE
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)

# Where each command is, in the order of the help: its text, and a module with ``run``, which is
# loaded when it is asked for.
_COMMANDS = {
    "init": "uk_dynamics.cli.commands.init",
    "import": "uk_dynamics.cli.conversions.import_robot",
    "export": "uk_dynamics.cli.conversions.export_mechanism",
    "check": "uk_dynamics.cli.commands.check",
    "describe": "uk_dynamics.cli.commands.describe",
    "modes": "uk_dynamics.cli.analysis.modes",
    "workspace": "uk_dynamics.cli.analysis.workspace",
    "simulate": "uk_dynamics.cli.commands.simulate",
    "inverse-dynamics": "uk_dynamics.cli.analysis.inverse_dynamics",
    "robustness": "uk_dynamics.cli.analysis.robustness",
    "identify": "uk_dynamics.cli.identification.identify",
    "calibrate": "uk_dynamics.cli.identification.calibrate",
    "compile": "uk_dynamics.cli.commands.compile",
    "sweep": "uk_dynamics.cli.commands.sweep",
    "ros2-control": "uk_dynamics.cli.commands.ros2_control",
    "schema": "uk_dynamics.cli.commands.schema",
    "view": "uk_dynamics.cli.commands.view",
    "plot": "uk_dynamics.cli.commands.plot",
    "layouts": "uk_dynamics.cli.commands.layouts",
    "completion": "uk_dynamics.cli.commands.completion",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; its exit status: 0, 2 (user error), 130 (interrupt), 141 (closed pipe)."""
    given = list(sys.argv[1:] if argv is None else argv)
    _write_any_character()
    try:
        parser = build_parser(given)
        complete(parser)
        if not given:
            parser.print_help()
            return USER_ERROR
        arguments, unknown = parser.parse_known_args(given)
        if unknown:
            arguments.parser.error(_unknown(unknown, arguments.parser))
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except UkDynamicsError as error:
        print(f"uk_dynamics: error: {error}", file=sys.stderr)
        return USER_ERROR
    except KeyboardInterrupt as interrupt:
        left = f"; {interrupt}" if str(interrupt) else ""
        print(f"uk_dynamics: interrupted{left}", file=sys.stderr)
        return INTERRUPTED
    except MemoryError as error:
        print(f"uk_dynamics: error: not enough memory: {error}", file=sys.stderr)
        return USER_ERROR
    except BrokenPipeError:
        _drop_output()
        return BROKEN_PIPE
    except OSError as error:  # other code names the file
        if error.errno not in _NO_ROOM or error.filename is not None:
            raise
        _drop_output()
        print(f"uk_dynamics: error: output cannot be written: {error.strerror}", file=sys.stderr)
        return USER_ERROR
    return status


def _unknown(given: Sequence[str], parser: argparse.ArgumentParser) -> str:
    """What to say of arguments that no option of a command takes."""
    problem = f"unrecognized arguments: {' '.join(given)}"
    options = [name for action in parser._actions for name in action.option_strings]
    for argument in given:
        word = argument.partition("=")[0]
        if word.startswith("-") and (close := closest(word, options)):
            problem += f"; did you mean {close}?"
    return problem


def _write_any_character() -> None:
    """Escape characters that the terminal's encoding lacks, such as "m²", instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """Redirect stdout to nowhere, because the interpreter flushes it again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


class _Parser(argparse.ArgumentParser):
    """Tells wrong usage in one line, as all errors are told."""

    def error(self, message: str) -> NoReturn:
        self.exit(USER_ERROR, f"{self.prog}: error: {message}; see {self.prog} --help\n")


def _run(module: str, arguments: argparse.Namespace) -> int:
    status: int = import_module(module).run(arguments)
    return status


def build_parser(argv: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Build the parser of all commands."""
    description, examples = text_beside(Path(__file__).with_name("options") / "uk_dynamics").split(
        "\n\nexamples:"
    )
    parser: argparse.ArgumentParser = _Parser(
        prog="uk_dynamics",
        description=description,
        epilog=f"examples:{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for command, module in _COMMANDS.items():
        text = text_beside(Path(__file__).parents[2].joinpath(*module.split(".")))
        add_command(commands, command, text, partial(_run, module))
    built_in = tuple(commands.choices)
    if not (argv and argv[0] in built_in):
        register_extensions(commands, reserved=built_in)
        if argv and not argv[0].startswith("-") and argv[0] not in commands.choices:
            parser.error(str(UnknownNameError("command", argv[0], commands.choices)))
    return parser
