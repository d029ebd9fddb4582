"""Time of one constrained acceleration from Python, beside Pinocchio's solver in the same run.

Run it alone on the machine: ``python benchmarks/forward_dynamics.py [mechanism ...]``. Medians over
interleaved rounds; the last column is the largest difference between the two accelerations.
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
    """Evaluate, project, Pinocchio in µs, and the difference of the accelerations."""
    mechanism = Mechanism.from_file(name)
    dynamics = mechanism.dynamics()
    rng = np.random.default_rng(0)
    state = dynamics.project(
        mechanism.state(mechanism.assemble(), rng.standard_normal(mechanism.model.nv))
    )
    tau = rng.standard_normal(mechanism.model.nv)
    inputs = Inputs(tau=tau)
    peer = PinocchioOracle(mechanism)
    difference = np.abs(dynamics.evaluate(state, inputs).qdd - peer.acceleration(state, tau)).max()
    times = medians(
        [
            lambda: dynamics.evaluate(state, inputs),
            lambda: dynamics.project(state),
            lambda: peer.acceleration(state, tau),
        ]
    )
    return (*times, float(difference))


def main() -> None:
    """Print one line per mechanism."""
    print(
        f"{'mechanism':<20}{'evaluate':>12}{'project':>12}{'Pinocchio':>12}{'ratio':>8}{'|Δq̈|':>10}"
    )
    for name in sys.argv[1:] or MECHANISMS:
        ours, projection, peer, difference = measure(name)
        print(
            f"{name:<20}{ours:>9.1f} µs{projection:>9.1f} µs{peer:>9.1f} µs"
            f"{ours / peer:>8.1f}{difference:>10.1e}"
        )


if __name__ == "__main__":
    main()
