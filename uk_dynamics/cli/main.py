"""Entry point of the command line."""

from __future__ import annotations

import argparse
import errno
import io
import os
import sys
from collections.abc import Sequence

from uk_dynamics import __version__
from uk_dynamics.cli import (
    benchmark,
    check,
    completion,
    describe,
    import_robot,
    init,
    inverse_dynamics,
    layouts,
    plot,
    reproduce,
    ros2_control,
    schema,
    simulate,
    sweep,
    view,
)
from uk_dynamics.cli import compile as compile_command
from uk_dynamics.cli.completion import complete
from uk_dynamics.cli.extensions import register_extensions
from uk_dynamics.exceptions import UkDynamicsError, UnknownNameError

USER_ERROR = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells report it
BROKEN_PIPE = 141  # 128 + SIGPIPE
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)

_BUILT_IN = {
    "init": init.register,
    "import": import_robot.register,
    "check": check.register,
    "describe": describe.register,
    "simulate": simulate.register,
    "inverse-dynamics": inverse_dynamics.register,
    "compile": compile_command.register,
    "benchmark": benchmark.register,
    "sweep": sweep.register,
    "reproduce": reproduce.register,
    "ros2-control": ros2_control.register,
    "schema": schema.register,
    "view": view.register,
    "plot": plot.register,
    "layouts": layouts.register,
    "completion": completion.register,
}

_DESCRIPTION = """\
Dynamics and servo control of closed-loop mechanisms by the Udwadia-Kalaba equation.

A mechanism is a URDF plus a short YAML file that says which loops are closed and which joints have
motors. Each command takes the YAML file, or the name of a mechanism that comes with the package.
"""

_EXAMPLES = """\
examples:
  uk_dynamics describe five_bar
  uk_dynamics simulate five_bar --duration 5 --plot motion.png
  uk_dynamics simulate my_robot.yaml --tasks my_tasks.yaml --out run.npz
  uk_dynamics init package://uk_dynamics/urdf/four_bar_gripper.urdf
  uk_dynamics check four_bar
  uk_dynamics reproduce --list

"uk_dynamics COMMAND --help" says more about a command.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: Arguments without the program's name; those of the process when left out.

    Returns:
        Exit status: 0, 2 for a mistake of the user, 130 when interrupted, 141 when the reader of
        the output went away.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    _write_any_character()
    parser = build_parser(given)
    complete(parser)
    arguments = parser.parse_args(given)
    try:
        status: int = arguments.run(arguments)
        sys.stdout.flush()
    except UkDynamicsError as error:
        line = str(error).replace("\n", " ")
        print(f"uk_dynamics: error: {line}", file=sys.stderr)
        return USER_ERROR
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return BROKEN_PIPE
    except OSError as error:  # files are written by functions that name them
        if error.errno not in _NO_ROOM or error.filename is not None:
            raise
        _drop_output()
        print(f"uk_dynamics: error: output cannot be written: {error.strerror}", file=sys.stderr)
        return USER_ERROR
    return status


def _write_any_character() -> None:
    """Write what the terminal's encoding lacks as an escape: "m²" shall stop no command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def _drop_output() -> None:
    """The interpreter flushes stdout once more when it ends: give it somewhere to go."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def build_parser(argv: Sequence[str] = ()) -> argparse.ArgumentParser:
    """Build the parser of all commands.

    Args:
        argv: What will be parsed. Commands of other packages are loaded only when one of the
            built-in commands is not what is asked for, since loading them may take long.
    """
    parser = argparse.ArgumentParser(
        prog="uk_dynamics",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for register in _BUILT_IN.values():
        register(commands)
    if not (argv and argv[0] in _BUILT_IN):
        register_extensions(commands, reserved=_BUILT_IN)
        if argv and not argv[0].startswith("-") and argv[0] not in commands.choices:
            parser.error(str(UnknownNameError("command", argv[0], commands.choices)))
    return parser
