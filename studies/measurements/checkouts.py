# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Times of compiled code in two checkouts, in turns: how much slower or faster has one become?

``python studies/measurements/checkouts.py OLD NEW [--rounds 2] [--turns 60] [mechanism ...]``, with
an environment that has what both need. Each checkout has a cache of its own. Each round, a process
in one takes turns with a process in the other, some milliseconds each, so that both meet the same
load. Minima of processor times, in µs, their ratio, and the median of the ratios of neighbours; a
ratio of minima above 1.05 is marked. With ``--compilation``, the processor time of first
compilation instead, compilers and trial included, in s, with a fresh cache each round.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

TASKS = {
    "five_bar": "five_bar_sweep",
    "rrr3": "rrr3_track",
    "stewart_platform": "stewart_platform_heave_roll",
    "dual_panda": "dual_panda_load",
}
PERIOD, TURN, WARMING, ALLOWED = 2e-3, 5e-3, 3, 1.05


class Part(NamedTuple):
    """What is measured."""

    name: str
    call: Callable[[], object]
    per: int = 1  # things that a call does


def spent() -> float:
    """Processor time of this process and of its children that have ended, in s."""
    return sum(os.times()[:4])


def compiled(name: str) -> Iterator[tuple[str, float]]:
    """First compilation, in s."""
    import uk_dynamics as ukd

    machine = ukd.Mechanism.from_file(name)
    tasks = ukd.Tasks.from_file(TASKS[name], machine)
    parts: dict[str, Callable[[], object]] = {
        "states": lambda: machine.dynamics("compiled").load(),  # type: ignore[attr-defined]
        "law": lambda: ukd.ServoController(
            machine, tasks, control_period=PERIOD, backend="compiled"
        ).command(machine.start(tasks=tasks)),
        "derivatives": lambda: ukd.MotionDerivatives(machine, "compiled").at(machine.start()),
        "effort derivatives": lambda: ukd.ServoDerivatives(tasks, "compiled").at(
            machine.start(tasks=tasks)
        ),
    }
    for part, call in parts.items():
        begin = spent()
        call()
        yield f"compile {part}", spent() - begin


def parts_of(name: str) -> Iterator[Part]:
    """Everything that is compiled."""
    import numpy as np

    import uk_dynamics as ukd

    machine = ukd.Mechanism.from_file(name)
    tasks = ukd.Tasks.from_file(TASKS[name], machine)
    dynamics = machine.dynamics("compiled")
    dynamics.load()  # type: ignore[attr-defined]
    rng = np.random.default_rng(1)
    start = machine.start(tasks=tasks)
    v = dynamics.project(ukd.State(0.0, start.q, 0.3 * rng.standard_normal(len(start.v)))).v
    state, tau = ukd.State(0.0, start.q, v), rng.standard_normal(len(v))
    inputs = ukd.Inputs(tau)
    yield Part("evaluate", lambda: dynamics.evaluate(state, inputs))
    yield Part("acceleration", lambda: dynamics.acceleration(state.q, v, tau))
    for many in (256, 4096):
        states = [np.tile(x, (many, 1)) for x in (state.q, v, tau)]
        batch = partial(dynamics.evaluate_batch, *states, threads=1)
        yield Part(f"batch of {many}", batch)
    states = [np.tile(x, (64, 1)) for x in (state.q, 0.1 * v)]
    roll = partial(dynamics.rollout, *states, steps=20, dt=1e-3, threads=1)
    yield Part("rollout rk4, 64 x 20", roll)
    euler = partial(roll, method="semi_implicit_euler")
    yield Part("rollout semi_implicit_euler, 64 x 20", euler)

    law = ukd.ServoController(machine, tasks, backend="compiled")
    yield Part("law", lambda: law.command(state))
    period = ukd.ServoController(machine, tasks, control_period=PERIOD, backend="compiled")
    instants = [ukd.State(PERIOD * i, start.q, start.v) for i in range(200)]

    def periods() -> None:
        period.reset()
        for one in instants:
            period.command(one)

    yield Part("period", periods, len(instants))

    def run(duration: float) -> ukd.Trajectory:
        return ukd.simulate(
            machine, start, duration, controller=period, control_period=PERIOD, backend="compiled"
        )

    yield Part("simulate 0.5 s under control", lambda: run(0.5))
    motion = ukd.MotionDerivatives(machine, "compiled")
    yield Part("derivatives", lambda: motion.acceleration(state.q, v, tau))
    yield Part("derivatives with forces", lambda: motion.forces(state.q, v, tau))
    q, rates, efforts = (np.tile(x, (256, 1)) for x in (state.q, v, tau))
    yield Part("derivatives of 256", lambda: motion.batch(q, rates, efforts, threads=1))
    efforts_by = ukd.ServoDerivatives(tasks, "compiled")
    yield Part("effort derivatives", lambda: efforts_by.at(state))
    yield Part("effort derivatives of 256", lambda: efforts_by.batch(q, rates, threads=1))


def answer(name: str) -> None:
    """Print the names of all parts, then the time of a turn of each that is asked for."""
    parts = {part.name: part for part in parts_of(name)}
    # both processes on one processor: what else runs may slow the others down
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    calls = dict.fromkeys(parts, 1)
    print(json.dumps(list(parts)), flush=True)
    for wanted in map(str.strip, sys.stdin):
        begin = time.process_time()
        for _ in range(calls[wanted]):
            parts[wanted].call()
        each = (time.process_time() - begin) / calls[wanted]
        calls[wanted] = max(1, round(TURN / each))
        print(1e6 * each / parts[wanted].per, flush=True)


def child(checkout: Path, cache: Path, arguments: list[str]) -> subprocess.Popen[str]:
    """A process that measures in a checkout."""
    cache.mkdir(exist_ok=True)
    environment = os.environ | {
        "PYTHONPATH": str(checkout),
        "XDG_CACHE_HOME": str(cache),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, __file__, "--measure", *arguments]
    pipe = subprocess.PIPE
    return subprocess.Popen(
        command, env=environment, cwd=cache, text=True, stdin=pipe, stdout=pipe, bufsize=1
    )


def in_turns(pair: list[subprocess.Popen[str]], turns: int) -> Iterator[tuple[str, list[float]]]:
    """Times of all parts in two processes, a turn of one after a turn of the other."""

    def line(process: subprocess.Popen[str], wanted: str = "") -> Any:
        assert process.stdin is not None
        assert process.stdout is not None
        if wanted:
            print(wanted, file=process.stdin, flush=True)
        return json.loads(process.stdout.readline())

    _, names = (line(process) for process in pair)
    for name in names:
        for turn in range(turns):
            times = [line(process, name) for process in pair]
            if turn >= WARMING:
                yield name, times


def main() -> None:
    """Measure both checkouts in turns and print minima, or measure this process's."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--turns", type=int, default=60)
    parser.add_argument("--compilation", action="store_true")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_intermixed_args()
    if given.measure:
        warnings.simplefilter("ignore")
        if given.compilation:
            json.dump(dict(compiled(*given.names)), sys.stdout)
        else:
            answer(*given.names)
        return
    old, new, *names = given.names
    options = ["--compilation"] * given.compilation
    with tempfile.TemporaryDirectory() as place:
        for name in names or TASKS:
            found: dict[str, list[list[float]]] = {}
            for number in range(given.rounds):
                caches = [
                    Path(place, f"{side}-{number * given.compilation}") for side in ("old", "new")
                ]
                both = [
                    partial(child, Path(checkout).resolve(), cache, [*options, name])
                    for checkout, cache in zip((old, new), caches, strict=True)
                ]
                if given.compilation:
                    before, now = (json.loads(start().communicate()[0]) for start in both)
                    for part, t in before.items():
                        found.setdefault(part, []).append([t, now[part]])
                    continue
                pair = [start() for start in both]
                for part, times in in_turns(pair, given.turns):
                    found.setdefault(part, []).append(times)
                for process in pair:
                    process.communicate()
            for part, pairs in found.items():
                least = [min(times) for times in zip(*pairs, strict=True)]
                ratio, middle = least[1] / least[0], median(b / a for a, b in pairs)
                text = f"{name + ' ' + part:48s} {least[0]:12.4g} {least[1]:12.4g} {ratio:7.3f}"
                print(f"{text} {middle:7.3f}" + "  <-" * (ratio > ALLOWED), flush=True)


if __name__ == "__main__":
    main()
