"""Time of one constrained acceleration from Python, beside Pinocchio's solver in the same run.

Run it alone on the machine: ``python benchmarks/forward_dynamics.py [mechanism ...]``. Medians over
interleaved rounds. ``in C`` is the call of the compiled function alone, as a C program has it; the
differences are the largest ones from Pinocchio's acceleration.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import timeit
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "test"))

from pinocchio_oracle import PinocchioOracle

from uk_dynamics.compilation.compiled import CompiledDynamics
from uk_dynamics.mechanism.mechanism import Mechanism
from uk_dynamics.mechanism.state import Inputs

MECHANISMS = ("four_bar", "five_bar", "five_bar_maximal", "stewart_platform", "dual_panda")
ROUNDS = 60
CALLS = 50


def medians(functions: list[Callable[[], object]]) -> list[float]:
    """Median time of each function in µs, measured in turns so that all see the same machine."""
    times: list[list[float]] = [[] for _ in functions]
    for _ in range(ROUNDS):
        for row, function in zip(times, functions, strict=True):
            row.append(timeit.timeit(function, number=CALLS) / CALLS * 1e6)
    return [float(np.median(row)) for row in times]


def measure(name: str) -> tuple[float, ...]:
    """Compiled, in C, interpreted, projection, Pinocchio in µs, and two differences."""
    mechanism = Mechanism.from_file(name)
    dynamics, compiled = mechanism.dynamics("interpreted"), CompiledDynamics(mechanism)
    rng = np.random.default_rng(0)
    state = dynamics.project(
        mechanism.state(mechanism.assemble(), rng.standard_normal(mechanism.model.nv))
    )
    tau = rng.standard_normal(mechanism.model.nv)
    inputs = Inputs(tau=tau)
    peer = PinocchioOracle(mechanism)
    expected = peer.acceleration(state, tau)
    differences = [
        float(np.abs(evaluator.evaluate(state, inputs).qdd - expected).max())
        for evaluator in (compiled, dynamics)
    ]
    times = medians(
        [
            lambda: compiled.evaluate(state, inputs),
            compiled.call,
            lambda: dynamics.evaluate(state, inputs),
            lambda: dynamics.project(state),
            lambda: peer.acceleration(state, tau),
        ]
    )
    return (*times, *differences)


def main() -> None:
    """Print one line per mechanism."""
    print(
        f"{'mechanism':<20}{'compiled':>12}{'in C':>12}{'interpreted':>13}{'project':>12}"
        f"{'Pinocchio':>12}{'ratio':>8}{'compiled |Δq̈|':>16}{'interpreted |Δq̈|':>18}"
    )
    for name in sys.argv[1:] or MECHANISMS:
        ours, alone, interpreted, projection, peer, ours_off, interpreted_off = measure(name)
        print(
            f"{name:<20}{ours:>9.2f} µs{alone:>9.2f} µs{interpreted:>10.1f} µs{projection:>9.1f} µs"
            f"{peer:>9.2f} µs{ours / peer:>8.2f}{ours_off:>16.1e}{interpreted_off:>18.1e}"
        )


if __name__ == "__main__":
    main()
