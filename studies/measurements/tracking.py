# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""How exactly six machines follow their tasks at 1 kHz, from a wrong start, and with weak motors.

Everything is computed in this process, or with ``--dds`` by the nodes in lockstep: the same
numbers, after several minutes. Errors are in parts of the motion: of the largest distance of the
references from where they start.
"""

from __future__ import annotations

import argparse
import contextlib
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from servo_machines import (
    MOTIONS,
    Files,
    Motion,
    displaced,
    excursion,
    hop,
    shipped_files,
    size_of,
    tightened,
)
from servo_runs import Run, computed, over_dds

PERIOD = 1e-3  # s
SETTLED = 0.6  # s; at 5 Hz the rounding in the files, 1e-4 m, has died away to 1e-11 m
WRONG = 0.05  # error at the start, in parts of the motion
WEAK = 0.7  # effort limits, in parts of the peak
RECOVERY = 1.0  # s
HOP = 1.5  # s
TOLERANCE = 1e-6  # of the motion: what counts as tracking

Runner = Callable[[Files, float], Run]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("machines", nargs="*", default=list(MOTIONS), help="default: all six")
    parser.add_argument("--dds", action="store_true", help="by the nodes, in lockstep")
    parser.add_argument("--only", choices=("tracking", "limits"))
    parser.add_argument("--shorten", type=float, default=1.0, help="part of the durations")
    arguments = parser.parse_args(argv)
    motions = [MOTIONS[name] for name in arguments.machines]
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        if arguments.dds:
            from uk_dynamics.ros.process.node_processes import own_domain

            stack.enter_context(own_domain())

        def run(files: Files, duration: float) -> Run:
            if arguments.dds:
                return over_dds(files, duration, PERIOD, directory)
            return computed(files, duration, PERIOD)

        if arguments.only != "limits":
            print(
                f"{'tracking at 1 kHz':20}{'duration':>9}{'size':>7}{'error':>9}{'loops':>9}"
                f"{'states':>8}   from 5 % beside: back after, largest effort of its limit"
            )
            for motion in motions:
                print(follow(motion, run, directory, arguments.shorten), flush=True)
        if arguments.only != "tracking":
            print(
                f"{'limits 0.7 of peak':20}{'effort':>9}"
                "   largest error, back after: held first   | all alike"
            )
            for motion in motions:
                print(strain(motion, run, directory), flush=True)


def follow(motion: Motion, run: Runner, directory: Path, part: float = 1.0) -> str:
    """One machine on its path, and back to it."""
    duration = max(part * motion.duration, 2.0 * SETTLED)
    size = size_of(shipped_files(motion).load()[1], motion.duration)
    right = run(shipped_files(motion), duration)
    wrong = run(displaced(motion, WRONG, directory), RECOVERY)
    return (
        f"{motion.machine:20}{duration:7.3g} s{size:7.3g}{right.worst(after=SETTLED) / size:9.1e}"
        f"{max(right.open, wrong.open):9.1e}{len(right.t):8d}"
        f"{wrong.back(TOLERANCE * size):9.3f} s{wrong.load:9.3f}"
    )


def strain(motion: Motion, run: Runner, directory: Path) -> str:
    """One machine in a hop that asks for more than its motors have."""
    free = computed(hop(motion.machine, directory), HOP, PERIOD)
    limits = tightened(free.efforts, WEAK)
    _, tasks = hop(motion.machine, directory).load()
    size, held = size_of(tasks, HOP), excursion(tasks, HOP) == 0.0
    texts, load = [], 0.0
    for equal in (False, True):
        weak = run(hop(motion.machine, directory, equal=equal, limits=limits), HOP)
        load = max(load, weak.load)
        texts.append(
            f"{weak.worst(held) / size:9.1e}{weak.worst(~held) / size:9.1e}"
            f"{weak.back(TOLERANCE * size):8.3f} s"
        )
    return f"{motion.machine:20}{load:9.6f}   {'   | '.join(texts)}"


if __name__ == "__main__":
    main()
