# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""``uk_dynamics compile``: a mechanism in C, for this package or for other programs."""

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from uk_dynamics.cli.options import arguments as common
from uk_dynamics.cli.output.printing import progress_bar, show


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
        files = write_c_files(arguments.export_c, c_programs(mechanism, tasks, **chosen))
        written = "\n".join(f"written: {file}" for file in files)
        show(arguments, {"mechanism": mechanism.name, "files": files}, written)
        return 0
    from uk_dynamics.compilation import Library, library_of
    from uk_dynamics.compilation.build import holds_in_c, side_by_side

    libraries: dict[str, Callable[[], Path]] = {
        "one state at a time": lambda: library_of(mechanism),
        "many states at a time": lambda: library_of(mechanism, Library.BATCH),
    }
    if holds_in_c(mechanism):
        of_joints = Library.JOINT_SPACE
        libraries[of_joints.value] = lambda: library_of(mechanism, of_joints)
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
