"""``uk_dynamics compile``: a mechanism in C, for this package or for other programs."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uk_dynamics.cli.extensions import Commands

_DESCRIPTION = """\
Compile a mechanism, so that mechanism.dynamics("compiled") finds it in the cache and starts at
once; or write it as C files without dependencies for a controller of your own.
"""

_EXAMPLES = """\
examples:
  uk_dynamics compile five_bar
  uk_dynamics compile five_bar --tasks five_bar_sweep       its servo law as well
  uk_dynamics compile my_robot.yaml --export-c generated    source, header and an example
"""


def register(commands: Commands) -> None:
    """Add the command to the command line."""
    parser = commands.add_parser(
        "compile",
        help="compile a mechanism, or write it as C",
        description=_DESCRIPTION,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        help="mechanism file (YAML), or the name of a shipped one, such as five_bar",
    )
    parser.add_argument(
        "--tasks",
        metavar="FILE",
        help="tasks file (YAML), or the name of a shipped one, whose servo law is compiled as well",
    )
    parser.add_argument(
        "--export-c",
        metavar="DIR",
        type=Path,
        help="write C source, header and example there, made if need be, instead of compiling",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Compile or export."""
    from uk_dynamics import Mechanism, Tasks

    mechanism = Mechanism.from_file(arguments.file)
    if arguments.export_c is not None:
        from uk_dynamics.compilation.export import export

        for file in export(mechanism, arguments.export_c):
            print(f"written: {file}")
        return 0
    from uk_dynamics.compilation.library import batch_library_of, library_of, servo_library_of

    libraries: dict[str, Callable[[], Path]] = {
        "one state at a time": lambda: library_of(mechanism),
        "many states at a time": lambda: batch_library_of(mechanism),
    }
    if arguments.tasks is not None:
        tasks = Tasks.from_file(arguments.tasks, mechanism)
        libraries["servo law"] = lambda: servo_library_of(tasks)

    def timed(compiled: Callable[[], Path]) -> tuple[Path, float]:
        begin = time.monotonic()
        return compiled(), time.monotonic() - begin

    with ThreadPoolExecutor(2) as pool:  # the compilers are processes beside each other
        made = pool.map(timed, libraries.values())
        for part, (library, seconds) in zip(libraries, made, strict=True):
            print(f"{mechanism.name}, {part}: compiled in {seconds:.1f} s: {library}")
    return 0
