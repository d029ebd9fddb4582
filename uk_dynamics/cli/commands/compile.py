# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics compile``: a mechanism in C, for this package or for other programs."""

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.output.printing import progress_bar, show

_HELP = """\
compile a mechanism, or export it as C

Compile a mechanism into the cache, so that mechanism.dynamics("compiled") starts at once; or export
it as C files without dependencies for a program of your own.

examples:
  uk_dynamics compile five_bar
  uk_dynamics compile five_bar --tasks five_bar_sweep       with its servo law
  uk_dynamics compile my_robot.yaml --export-c generated    sources, headers and examples
  uk_dynamics compile five_bar --tasks five_bar_sweep --export-c generated
  uk_dynamics compile five_bar --derivatives --export-c generated    for CasADi and acados too
  uk_dynamics compile five_bar --parameters gravity.z links.left_leg.mass    derivatives by them
  uk_dynamics compile --clean                               clear the cache
"""

_OPTIONS = f"""\
--tasks FILE  {common.TASKS}; compiles its servo law as well
--derivatives  derivatives of motion, constraint forces and projection by state, time and efforts
    as well; exported with --tasks, those of the servo law's efforts too
--parameters NAME+  derivatives by these parameters of the mechanism as well, such as
    links.crank.mass
--export-c DIR  export C sources, headers and examples to this directory instead of compiling
"""


def register(commands: common.Commands) -> None:
    """Add the command to the command line."""
    parser = common.add_command(commands, "compile", _HELP, run)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("file", metavar="FILE", nargs="?", help=common.FILE)
    common.add_options(what, "--clean  remove all compiled libraries from the cache instead")
    common.add_options(parser, _OPTIONS)
    common.add_json(parser, "the files")


def run(arguments: argparse.Namespace) -> int:
    """Compile, export or clean."""
    if arguments.clean:
        return _clean(arguments)
    from uk_dynamics import Mechanism
    from uk_dynamics.derivatives import by_parameters, differentiable

    mechanism = Mechanism.from_file(arguments.file)
    tasks = common.load_tasks(arguments, mechanism)
    if arguments.export_c is not None:
        from uk_dynamics.compilation.build import write_c_files
        from uk_dynamics.conversion import c_programs

        chosen = {"derivatives": arguments.derivatives, "parameters": arguments.parameters}
        texts = c_programs(mechanism, tasks, **chosen)
        files = write_c_files(arguments.export_c, texts)
        written = "\n".join(f"written: {file}" for file in files)
        show(arguments, {"mechanism": mechanism.name, "files": files}, written)
        return 0
    from uk_dynamics.compilation import Library, library_of
    from uk_dynamics.compilation.build import side_by_side

    libraries: dict[str, Callable[[], Path]] = {
        "one state at a time": lambda: library_of(mechanism),
        "many states at a time": lambda: library_of(mechanism, Library.BATCH),
    }
    if tasks is not None:
        libraries["servo law"] = lambda: library_of(tasks)
    if arguments.derivatives:
        fixed = differentiable(mechanism)
        libraries["derivatives"] = lambda: library_of(fixed, Library.DERIVATIVES)
        many = "derivatives of many states"
        libraries[many] = lambda: library_of(fixed, Library.DERIVATIVE_BATCH)
    if arguments.parameters:
        by = by_parameters(mechanism, arguments.parameters)
        libraries["derivatives by parameters"] = lambda: library_of(by, Library.DERIVATIVES)
        many = "derivatives by parameters, many states"
        libraries[many] = lambda: library_of(by, Library.DERIVATIVE_BATCH)

    def timed(compiled: Callable[[], Path]) -> tuple[Path, float]:
        begin = time.monotonic()
        return compiled(), time.monotonic() - begin

    found = []
    with progress_bar(len(libraries), "library") as bar:
        made = side_by_side(partial(timed, compiled) for compiled in libraries.values())
        for part, (library, seconds) in zip(libraries, made, strict=True):
            found.append({"for": part, "seconds": seconds, "library": library})
            bar.update()
    ready = "\n".join(
        f"{mechanism.name}, {x['for']}: ready after {x['seconds']:.1f} s: {x['library']}"
        for x in found
    )
    show(arguments, {"mechanism": mechanism.name, "libraries": found}, ready)
    return 0


def _clean(arguments: argparse.Namespace) -> int:
    from uk_dynamics.compilation.build import clear, directory

    folder = directory()
    count, size = clear(folder)
    removed = f"removed: {count} libraries, {size / 2**20:.1f} MiB: {folder}"
    show(arguments, {"directory": folder, "removed": count, "bytes": size}, removed)
    return 0
