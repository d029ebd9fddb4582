# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Compiled code of many compilers against the interpreted evaluators: ``make test-compilers``.

Every compiler that the distribution offers, at every level, for every processor: what this machine
can run answers questions, the rest is only compiled. What is exported is compiled for aarch64, too,
and run in an emulator; sanitizers watch once over everything that runs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
sys.path.insert(0, str(Path(__file__).parents[1]))
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["UK_DYNAMICS_BACKEND"] = "interpreted"  # what is not asked for by name

from compilers import cells, exports, page
from compilers.questions import questions
from compilers.verdict import Call, Verdict, reference, verdicts

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "out" / "compilers.json"
SANITIZED = "gcc -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined"


def main() -> int:
    """The number of calls that are not right, at most 1."""
    parser = argparse.ArgumentParser(prog="make test-compilers ARGS=", description=__doc__)
    parser.add_argument("--reduced", action="store_true", help="two compilers, three widths")
    parser.add_argument("--cc", help="one compiler and its options, as CC names them")
    parser.add_argument("--docs", action="store_true", help="write the table of docs/compiled.md")
    given = parser.parse_args()
    if given.cc:
        return int(_judge([Call(given.cc, run=True)], keep=False)[1])
    begin = time.monotonic()
    calls, missing = _calls(reduced=given.reduced)
    for name in missing:
        print(f"missing: {name}; apt install it, or run this as root", flush=True)
    found, failed = _judge(calls)
    others: dict[str, str] = {}
    if not given.reduced:
        others["sanitizers"] = _sanitized()
    others["aarch64"] = exports.aarch64()
    for name, problem in others.items():
        print(f"{name}: {problem or 'right'}", flush=True)
        failed |= bool(problem)
    print(f"{len(found)} calls in {time.monotonic() - begin:.0f} s", flush=True)
    if given.docs:
        page.write(found, others)
    return int(failed)


def _calls(*, reduced: bool) -> tuple[list[Call], list[str]]:
    """Compilers and options, and what packages are missing."""
    wanted = list(cells.REDUCED_COMPILERS) if reduced else cells.offered()
    packages = [*wanted, *exports.PACKAGES]
    missing = [name for name in packages if not exports.present(name)]
    cells.install(missing)
    found = cells.installed(wanted)
    calls = [
        # another tuning is another choice of vectors
        Call(cell.cc, cells.can_run(cell.processor), cell.generic and not reduced)
        for cell in cells.cells(found, reduced=reduced)
    ]
    return calls, [name for name in packages if not exports.present(name)]


def _judge(calls: list[Call], *, keep: bool = True) -> tuple[list[Verdict], bool]:
    """Verdicts, said as they come and kept in a file, and whether some are not right."""
    asked = questions()
    found = []
    for one in verdicts(calls, asked, reference(asked)):
        what = f"largest difference {one.worst:.1e}" if one.ran else "compiles"
        print(f"{one.cc}: {'WRONG' if one.wrong else what}", flush=True)
        for name, problem in one.wrong.items():
            print(f"    {name}: {problem}", flush=True)
        found.append(one)
        if keep:
            RESULTS.parent.mkdir(exist_ok=True)
            RESULTS.write_text(json.dumps([asdict(x) for x in found], indent=1), encoding="utf-8")
    return found, any(one.wrong for one in found)


def _sanitized() -> str:
    """What sanitizers of addresses and of undefined behaviour say; empty: nothing."""
    # Python is compiled without them; exceptions of C++ are those that the second library throws
    ask = [["gcc", f"-print-file-name={name}"] for name in ("libasan.so", "libstdc++.so.6")]
    found = [subprocess.run(x, capture_output=True, text=True, check=True).stdout for x in ask]
    preload = " ".join(path.strip() for path in found)
    # Python itself leaves memory to the end of the process
    env = {**os.environ, "LD_PRELOAD": preload, "ASAN_OPTIONS": "detect_leaks=0"}
    command = [sys.executable, str(Path(__file__).parent), "--cc", SANITIZED]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    return (done.stdout + done.stderr) if done.returncode else ""


if __name__ == "__main__":
    sys.exit(main())
