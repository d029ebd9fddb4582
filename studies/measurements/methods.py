# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Time of one constrained acceleration for every form of the equation and every pseudoinverse.

Run it alone on the machine: ``python studies/measurements/methods.py [mechanism ...]``. Medians
over interleaved rounds, in µs; the last column is the largest difference from the default's q̈.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import timeit
from dataclasses import replace
from functools import partial

import numpy as np

from uk_dynamics.core.equation.published.pseudoinverse import ALGORITHMS
from uk_dynamics.core.equation.solution import FOR_SINGULAR_MASS, WHITENING, WITH_PSEUDOINVERSE
from uk_dynamics.mechanism_class import Mechanism

MECHANISMS = ("five_bar", "five_bar_maximal", "stewart_platform")
ROUNDS, CALLS = 30, 30


def forms() -> list[tuple[str, str]]:
    """Methods, each with the algorithms it knows."""
    methods = sorted((WHITENING | set(FOR_SINGULAR_MASS)) - {"auto"})
    return [
        (method, algorithm)
        for method in methods
        for algorithm in (ALGORITHMS if method in WITH_PSEUDOINVERSE else ("svd",))
    ]


def main() -> None:
    """Print one table per mechanism."""
    for name in sys.argv[1:] or MECHANISMS:
        default = Mechanism.from_file(name)
        rng = np.random.default_rng(0)
        state = default.dynamics().project(
            default.state(default.assemble(), rng.standard_normal(default.model.nv))
        )
        expected = default.dynamics().evaluate(state).qdd
        runs = {}
        for method, algorithm in forms():
            solver = replace(default.spec.solver, method=method, pseudoinverse=algorithm)
            machine = Mechanism(replace(default.spec, solver=solver), default.model.description)
            dynamics = machine.dynamics()
            difference = np.abs(dynamics.evaluate(state).qdd - expected).max()
            runs[method, algorithm] = partial(dynamics.evaluate, state), float(difference)
        times: dict[tuple[str, str], list[float]] = {form: [] for form in runs}
        for _ in range(ROUNDS):
            for form, (evaluate, _) in runs.items():
                times[form].append(timeit.timeit(evaluate, number=CALLS) / CALLS * 1e6)
        print(f"{name}\n  {'method':<30}{'pseudoinverse':<15}{'evaluate':>12}{'|Δq̈|':>10}")
        for (method, algorithm), (_, difference) in runs.items():
            shown = algorithm if method in WITH_PSEUDOINVERSE else ""
            median = float(np.median(times[method, algorithm]))
            print(f"  {method:<30}{shown:<15}{median:>9.1f} µs{difference:>10.1e}")


if __name__ == "__main__":
    main()
