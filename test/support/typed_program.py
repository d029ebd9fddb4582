# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A small program of a user, as a type checker in the user's environment sees it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

PROGRAM = """\
import uk_dynamics as ukd

mechanism = ukd.Mechanism.from_file("five_bar")
reveal_type(mechanism)
reveal_type(mechanism.assemble(crank=0.6))
mechanism.asemble(crank=0.6)
"""
EXPECTED = (
    (4, 'note: Revealed type is "uk_dynamics.mechanism_class.Mechanism"'),
    (5, 'note: Revealed type is "numpy.ndarray'),
    (6, 'error: "Mechanism" has no attribute "asemble"'),
)


def check(interpreter: str | Path, directory: Path, cache: Path) -> None:
    """Have mypy read the program with nothing but what it finds in an environment.

    Args:
        interpreter: Python of the environment.
        directory: Where the program is written.
        cache: Where mypy keeps what it knows of the libraries.

    Raises:
        AssertionError: It does not find the package, or does not know its types.
    """
    (directory / "program.py").write_text(PROGRAM)
    options = ["--python-executable", str(interpreter), "--cache-dir", str(cache)]
    # --config-file=: that of the project is none of the user's
    result = subprocess.run(
        [sys.executable, "-m", "mypy", "--config-file=", *options, "program.py"],
        cwd=directory,
        env={key: os.environ[key] for key in os.environ if key not in ("PYTHONPATH", "MYPYPATH")},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        check=False,
    )
    said = result.stdout.splitlines()
    assert len(said) == len(EXPECTED) + 1, result.stdout + result.stderr  # the last one counts
    for line, (number, text) in zip(said, EXPECTED, strict=False):
        assert line.startswith(f"program.py:{number}: {text}"), result.stdout
