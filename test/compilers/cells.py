# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The table of the matrix: compilers, levels of optimisation, processors and tunings."""

from __future__ import annotations

import itertools
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LEVELS = ("-O1", "-O2", "-O3")
# Instruction sets, and the flags of /proc/cpuinfo of a processor that has what is new in each.
PROCESSORS: dict[str, dict[str, str]] = {
    "x86_64": {
        "x86-64": "sse2",
        "x86-64-v2": "ssse3 sse4_1 sse4_2 popcnt",
        "haswell": "avx2 fma bmi1 bmi2 movbe",
        "skylake-avx512": "avx512f avx512dq avx512cd avx512bw avx512vl",
        "icelake-server": "avx512vbmi avx512_vbmi2 avx512_vnni avx512_bitalg avx512_vpopcntdq",
        "sapphirerapids": "avx512_fp16 avx512_bf16 avx_vnni amx_tile amx_int8",
        "native": "",
    },
    "aarch64": {"armv8-a": "asimd", "native": ""},
}
# What is tuned for any processor anyway.
UNTUNED = ("x86-64", "x86-64-v2", "armv8-a")
REDUCED_COMPILERS = ("gcc", "clang")
REDUCED_PROCESSORS = ("x86-64", "haswell", "skylake-avx512", "armv8-a")  # two, four, eight lanes


@dataclass(frozen=True)
class Cell:
    """A compiler and how it is called.

    Attributes:
        compiler: The program.
        level: How hard it tries.
        processor: What it compiles for.
        generic: Whether it tunes for no processor in particular, as it does where it does not know
            one by name.
    """

    compiler: str
    level: str
    processor: str
    generic: bool

    @property
    def cc(self) -> str:
        """What the environment variable CC says."""
        tuned = " -mtune=generic" if self.generic else ""
        return f"{self.compiler} {self.level} -march={self.processor}{tuned}"


def cells(compilers: Sequence[str], *, reduced: bool = False) -> Iterator[Cell]:
    """All cells of these compilers, or those of the reduced matrix."""
    for compiler, processor, level in itertools.product(compilers, processors(), LEVELS):
        if reduced:
            # the tuning that compilers take for a processor that they do not know by name
            if processor in REDUCED_PROCESSORS:
                yield Cell(compiler, level, processor, processor not in UNTUNED)
            continue
        yield Cell(compiler, level, processor, generic=False)
        if processor not in UNTUNED:
            yield Cell(compiler, level, processor, generic=True)


def processors() -> dict[str, str]:
    """Instruction sets that compilers for this machine know; none of an unknown machine."""
    return PROCESSORS.get(platform.machine(), {"native": ""})


@cache
def can_run(processor: str) -> bool:
    """Whether this machine has the instructions of a processor and of those before it."""
    known = processors()
    if processor == "native":
        return True
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    found = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)
    has = set(found.group(1).split()) if found else set()
    before = list(known)[: list(known).index(processor) + 1]
    return has.issuperset(" ".join(known[name] for name in before).split())


def processor_name() -> str:
    """What this machine calls its processor."""
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    found = re.search(r"^model name\s*:(.*)$", text, re.MULTILINE)
    numbers = re.findall(r"^(?:cpu family|model|stepping)\s*:\s*(\d+)$", text, re.MULTILINE)[:3]
    name = found.group(1).strip() if found else platform.machine()
    return f"{name} (family {', model '.join(numbers[:2])})" if numbers else name


def offered() -> list[str]:
    """Every GCC and Clang that this distribution offers, newest first; none without apt."""
    if shutil.which("apt-cache") is None:
        return []
    command = ["apt-cache", "search", "--names-only", "^(gcc|clang)-[0-9]+$"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    names = [line.split()[0] for line in said.splitlines() if line.strip()]
    kinds = sorted(names, key=lambda name: -int(name.rpartition("-")[2]))
    return sorted(kinds, key=lambda name: not name.startswith("gcc"))


def installed(names: Sequence[str]) -> list[str]:
    """Those of these programs that can be called."""
    return [name for name in names if shutil.which(name)]


def install(packages: Sequence[str]) -> None:
    """Install packages of the distribution, where that is allowed; say nothing where it is not."""
    as_root = [] if os.getuid() == 0 else ["sudo", "--non-interactive"]
    if not packages or shutil.which("apt-get") is None or (as_root and not shutil.which("sudo")):
        return
    quiet = ["--quiet=2", "--yes", "--no-install-recommends"]
    for command in (["update", "--quiet=2"], ["install", *quiet, *packages]):
        words = [*as_root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", *command]
        subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)


@cache
def version(compiler: str) -> str:
    """The number that a compiler gives itself."""
    said = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    found = re.search(r"\d+\.\d+\.\d+", said.stdout)
    return found.group(0) if found else "unknown"
