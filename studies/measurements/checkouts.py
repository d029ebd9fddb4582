# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Times of compiled code in two checkouts, in turns: how much slower or faster has one become?

``python studies/measurements/checkouts.py OLD NEW [--rounds 4] [mechanism ...]``, with an
environment that has what both need. Each checkout has a cache of its own. Minima of the processor
time of all rounds, in µs, and their ratio; a ratio above 1.05 is marked. With ``--compilation``,
the processor time of first compilation instead, compilers and trial included, in s, with a fresh
cache each time.
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

TASKS = {
    "five_bar": "five_bar_sweep",
    "rrr3": "rrr3_track",
    "stewart_platform": "stewart_platform_heave_roll",
    "dual_panda": "dual_panda_load",
}
PERIOD, REPEATS, ALLOWED = 2e-3, 9, 1.05
Measured = Iterator[tuple[str, float]]


def least(call: Callable[[], object], calls: int, per: int = 1) -> float:
    """Least processor time, in µs for each of ``per`` things a call does."""
    call()
    times = []
    for _ in range(REPEATS):
        begin = time.process_time()
        for _ in range(calls):
            call()
        times.append((time.process_time() - begin) / calls)
    return min(times) * 1e6 / per


def spent() -> float:
    """Processor time of this process and of its children that have ended, in s."""
    return sum(os.times()[:4])


def compiled(name: str) -> Measured:
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


def measured(name: str) -> Measured:
    """Times of everything that is compiled, in µs."""
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
    yield "evaluate", least(lambda: dynamics.evaluate(state, inputs), 1000)
    yield "acceleration", least(lambda: dynamics.acceleration(state.q, v, tau), 1000)
    for many in (256, 4096):
        states = [np.tile(x, (many, 1)) for x in (state.q, v, tau)]
        batch = partial(dynamics.evaluate_batch, *states, threads=1)
        yield f"batch of {many}", least(batch, 8192 // many)
    states = [np.tile(x, (64, 1)) for x in (state.q, 0.1 * v)]
    roll = partial(dynamics.rollout, *states, steps=20, dt=1e-3, threads=1)
    yield "rollout rk4, 64 x 20", least(roll, 3)
    euler = partial(roll, method="semi_implicit_euler")
    yield "rollout semi_implicit_euler, 64 x 20", least(euler, 3)

    law = ukd.ServoController(machine, tasks, backend="compiled")
    yield "law", least(lambda: law.command(state), 500)
    period = ukd.ServoController(machine, tasks, control_period=PERIOD, backend="compiled")
    instants = [ukd.State(PERIOD * i, start.q, start.v) for i in range(200)]

    def periods() -> None:
        period.reset()
        for one in instants:
            period.command(one)

    yield "period", least(periods, 3, len(instants))

    def run(duration: float) -> ukd.Trajectory:
        return ukd.simulate(
            machine, start, duration, controller=period, control_period=PERIOD, backend="compiled"
        )

    yield "simulate 0.5 s under control", least(lambda: run(0.5), 2)
    motion = ukd.MotionDerivatives(machine, "compiled")
    yield "derivatives", least(lambda: motion.acceleration(state.q, v, tau), 300)
    yield "derivatives with forces", least(lambda: motion.forces(state.q, v, tau), 300)
    q, rates, efforts = (np.tile(x, (256, 1)) for x in (state.q, v, tau))
    yield "derivatives of 256", least(lambda: motion.batch(q, rates, efforts, threads=1), 8)
    efforts_by = ukd.ServoDerivatives(tasks, "compiled")
    yield "effort derivatives", least(lambda: efforts_by.at(state), 300)
    yield "effort derivatives of 256", least(lambda: efforts_by.batch(q, rates, threads=1), 4)


def child(checkout: Path, cache: str, arguments: list[str]) -> dict[str, float]:
    """What a process in a checkout measured."""
    environment = os.environ | {
        "PYTHONPATH": str(checkout),
        "XDG_CACHE_HOME": cache,
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, __file__, "--measure", *arguments]
    done = subprocess.run(command, env=environment, cwd=cache, stdout=subprocess.PIPE, check=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def main() -> None:
    """Measure both checkouts in turns and print minima, or measure this process's."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--compilation", action="store_true")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_intermixed_args()
    if given.measure:
        warnings.simplefilter("ignore")
        of = compiled if given.compilation else measured
        json.dump({f"{x} {part}": t for x in given.names for part, t in of(x)}, sys.stdout)
        return
    old, new, *names = given.names
    options = ["--compilation"] * given.compilation
    best: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as place:
        for number in range(given.rounds):
            for side, checkout in enumerate((old, new)):
                cache = Path(place, f"{side}-{number}" if given.compilation else str(side))
                cache.mkdir(exist_ok=True)
                arguments = [*options, *(names or TASKS)]
                for key, t in child(Path(checkout).resolve(), str(cache), arguments).items():
                    times = best.setdefault(key, [float("inf")] * 2)
                    times[side] = min(times[side], t)
    for key, (before, now) in best.items():
        mark = "  <-" if now > ALLOWED * before else ""
        print(f"{key:48s} {before:12.4g} {now:12.4g} {now / before:7.3f}{mark}")


if __name__ == "__main__":
    main()
