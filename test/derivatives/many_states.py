# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""By hand: derivatives by the state against differences of 50-digit solutions, at many states.

``python test/derivatives/many_states.py STATES SECONDS NAME …``: so many states of each mechanism,
or as many as so many seconds allow.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from derivatives.test_motion_derivatives import along, error
from support.many_digits import ManyDigits, at_random, independent_rows
from support.mechanism_builder import shipped

from uk_dynamics import Inputs
from uk_dynamics.derivatives.motion_derivatives import MotionDerivatives


def main(states: int, seconds: float, names: list[str]) -> None:
    """Print the largest error of the acceleration, relative to the largest entry."""
    for name in names:
        mechanism = shipped(name)
        derivatives = MotionDerivatives(mechanism, "interpreted")
        oracle, nv, end = ManyDigits(mechanism), mechanism.model.nv, time.monotonic() + seconds
        errors: list[float] = []
        absent = 0
        for seed in range(states):
            if time.monotonic() > end:
                break
            state, tau, rng = at_random(mechanism, seed)
            found = derivatives.at(state, Inputs(tau))
            if not found.exist:
                absent += 1
                continue
            rows = independent_rows(mechanism, state)
            direction = rng.normal(size=3 * nv + 1)
            if len(rows) < len(mechanism.constraints):
                direction[: 2 * nv] = found.motions @ rng.normal(size=found.motions.shape[1])
            if mechanism.follows_references:
                direction[2 * nv] = 0.0
            qdd, _ = oracle.slope(state, tau, direction, rows)
            errors.append(error(along(found.acceleration, direction), qdd))
        worst = np.max(errors, initial=0.0)  # not a number where any is none
        line = f"{name:22s} {len(errors):5d} states, {absent} without derivatives; {worst:.1e}"
        sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3:])
