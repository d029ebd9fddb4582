# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Files of C as one library of each kind has them, read by the compiler and by cppcheck."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import uk_dynamics as ukd
from uk_dynamics.compilation.build.compiler import FLAGS, find_compiler
from uk_dynamics.compilation.build.library import RECIPES, Library
from uk_dynamics.compilation.emit.c_text import assemble
from uk_dynamics.conversion.controller_package.parts import loop_tables

EXAMPLES = Path(__file__).parent.parent / "examples"
OF_TASKS = (Library.SERVO, Library.EFFORTS, Library.CLOSED_LOOPS)
# arrays of fixed sizes of which a part is filled and read are not uninitialised
OPTIONS = ("--enable=warning,portability", "--std=c11", "--quiet", "--error-exitcode=1")
# machines in contact: steps, and a law whose tasks say what stands
IN_CONTACT = (
    ("plantigrade/plantigrade", None, Library.MOTION),
    ("biped/biped", "biped/stand", Library.SERVO),
)
# what some compilers take for an error and others do not mention
STRICT = ("-fsyntax-only", "-Werror=incompatible-pointer-types", "-Werror=int-conversion")
# working memory is numbers of both kinds
SUPPRESSED = ("uninitvar", "ctuuninitvar", "invalidPointerCast")


def main() -> int:
    """What the compiler or cppcheck ends with; 0 where cppcheck is not installed."""
    mechanism = ukd.Mechanism.from_file("five_bar")
    tasks = ukd.Tasks.from_file("five_bar_sweep", mechanism)
    of: dict[Library, tuple[object, ...]] = dict.fromkeys(OF_TASKS, (tasks,))
    of[Library.ENCODERS] = mechanism, loop_tables(ukd.StateCompletion(mechanism))
    written = [(kind, of.get(kind, (mechanism,)), kind.name.lower()) for kind in RECIPES]
    for name, law, kind in IN_CONTACT:
        machine = ukd.Mechanism.from_file(EXAMPLES / f"{name}.yaml")
        subject = ukd.Tasks.from_file(EXAMPLES / f"{law}.yaml", machine) if law else machine
        written.append((kind, (subject,), Path(name).name))
    with tempfile.TemporaryDirectory() as folder:
        for kind, subjects, name in written:
            module, _, function = RECIPES[kind][0].source.partition(".")
            write = getattr(import_module(f"uk_dynamics.compilation.emit.{module}"), function)
            Path(folder, f"{name}.c").write_text(assemble(write(*subjects)))
        compiler = find_compiler()
        assert compiler is not None
        for file in Path(folder).glob("*.c"):
            done = subprocess.run([*compiler.command, *FLAGS, *STRICT, file], check=False)
            if done.returncode:
                return done.returncode
        if shutil.which("cppcheck") is None:
            sys.stdout.write("cppcheck is not installed: C is only compiled\n")
            return 0
        command = ["cppcheck", *OPTIONS, *(f"--suppress={x}" for x in SUPPRESSED)]
        widths = ["-DUK_WIDTH=1", "-UUK_PYTHON"]
        return subprocess.run([*command, *widths, "-j2", folder], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
