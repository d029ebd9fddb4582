# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Exported C of every kind, compiled for another processor and run in an emulator of it."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from support.repository import ROOT

from uk_dynamics.cli.main import main as command

CROSS, EMULATOR = "aarch64-linux-gnu-gcc", ("qemu-aarch64", "-L", "/usr/aarch64-linux-gnu")
PACKAGES = ("gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross", "qemu-user")
_PROGRAMS = {"gcc-aarch64-linux-gnu": CROSS, "qemu-user": EMULATOR[0]}
BIPED = ROOT / "examples" / "biped"
EXPORTED = {
    "five_bar": ("--tasks", "five_bar_sweep", "--derivatives"),
    "coordinated_robots": ("--tasks", "coordinated_robots_lift", "--derivatives"),
    str(ROOT / "examples" / "plantigrade" / "plantigrade.yaml"): (),  # with contacts
    str(BIPED / "biped.yaml"): ("--tasks", str(BIPED / "step.yaml")),  # on contacts that stand
}
LEVELS = ("-O1", "-O2", "-O3")
# Relative to the largest number: rounding times conditions of up to 1e4, once more for derivatives.
SAME = 1e-8


def present(package: str) -> bool:
    """Whether what is needed of a package is installed."""
    if package == "libc6-dev-arm64-cross":
        return Path(EMULATOR[2], "lib").is_dir()
    return shutil.which(_PROGRAMS.get(package, package)) is not None


def aarch64() -> str:
    """What is wrong with exported C on aarch64; empty: nothing."""
    if not all(present(package) for package in PACKAGES):
        return f"needs {', '.join(PACKAGES)}"
    problems = []
    with tempfile.TemporaryDirectory(prefix="uk_dynamics_exports_") as name:
        for machine, what in EXPORTED.items():
            folder = Path(name, Path(machine).stem)
            if command(["compile", machine, *what, "--export-c", str(folder), "--json"]):
                return f"{machine} cannot be exported"
            for check in sorted(folder.glob("*_check.c")):
                verified = {level: _verified(check, level) for level in LEVELS}
                problems += [f"{check.stem} {x}: {said}" for x, said in verified.items() if said]
            for example in sorted(folder.glob("*_example.c")):
                expected = _said(example, ["cc", "-O1"], ())
                for level in LEVELS:
                    found = _said(example, [CROSS, level], EMULATOR)
                    if found.shape != expected.shape or _off(found, expected) > SAME:
                        problems.append(f"{example.stem} {level}: {_off(found, expected):.1e}")
    return "; ".join(problems)


def _verified(check: Path, level: str) -> str:
    """What the exported check says that is wrong."""
    sources = [check.with_name(check.name.replace("_check", x)) for x in ("", "_batch")]
    program = check.with_suffix("")
    files = [*filter(Path.exists, sources), check, "-lm", "-o", program]
    subprocess.run([CROSS, level, *map(str, files)], check=True, capture_output=True)
    done = subprocess.run([*EMULATOR, program], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode else ""


def _off(found: np.ndarray, expected: np.ndarray) -> float:
    if found.shape != expected.shape:
        return float("inf")
    return float(np.abs(found - expected).max() / max(1.0, np.abs(expected).max()))


def _said(example: Path, compiler: list[str], emulator: tuple[str, ...]) -> np.ndarray:
    """The numbers that an example prints."""
    source = example.with_name(example.name.replace("_example", ""))
    program = example.with_suffix("")
    files = [str(source), str(example), "-lm", "-o", str(program)]
    subprocess.run([*compiler, *files], check=True, capture_output=True)
    done = subprocess.run([*emulator, program], capture_output=True, text=True, check=True)
    words = done.stdout.split()
    return np.array([float(word) for word in words if word[0] in "-.0123456789" or word == "nan"])
