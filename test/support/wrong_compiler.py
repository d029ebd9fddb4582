# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A C compiler whose sine is off by a millionth."""

from __future__ import annotations

from pathlib import Path

SINE = "#include <math.h>\n#define sin(x) (1.000001 * __builtin_sin(x))\n"


def wrong_compiler(directory: Path, options: str = "") -> Path:
    """Write the compiler, for the environment variable CC; options that it always gets."""
    (directory / "sine.h").write_text(SINE)
    compiler = directory / "wrong-cc"
    compiler.write_text(f'#!/bin/sh\nexec cc -include {directory}/sine.h {options} "$@"\n')
    compiler.chmod(0o755)
    return compiler
