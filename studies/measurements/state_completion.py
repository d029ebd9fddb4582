# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Time of one state completion: positions and velocities of all joints from those of the motors.

Run it alone on the machine: ``python studies/measurements/state_completion.py [mechanism ...]``.
Encoders move as at 500 Hz with 0.1 rad or m per second; the last column is the largest open loop.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import sys
import time

import numpy as np

from uk_dynamics.control.estimation.state_completion import StateCompletion
from uk_dynamics.mechanism_class import Mechanism

MECHANISMS = ("four_bar", "five_bar", "rrr3", "stewart_platform")
COUNT = 5000
PERIOD = 0.002  # s
AMPLITUDE = 0.03  # rad or m, small enough for every machine


def main(names: list[str]) -> None:
    """Print a line per mechanism."""
    print(f"{'mechanism':<20} {'p50 µs':>8} {'p99 µs':>8} {'steps':>6} {'open':>9}")
    for name in names:
        mechanism = Mechanism.from_file(name)
        completion = StateCompletion(mechanism)
        model = mechanism.model
        places = [model.position_index(joint) for joint in completion.encoders.names]
        start = mechanism.assemble()[places]
        phase = np.linspace(0.0, 1.0, len(places))
        times, steps = np.empty(COUNT), 0
        for i in range(COUNT):
            angle = np.pi * PERIOD * i + phase
            position = start + AMPLITUDE * (np.sin(angle) - np.sin(phase))
            velocity = AMPLITUDE * np.pi * np.cos(angle)
            begin = time.perf_counter()
            found = completion.complete(position, velocity)
            times[i] = time.perf_counter() - begin
            steps += found.iterations
        psi = mechanism.dynamics().residual(mechanism.state(found.q, found.v)).position
        p50, p99 = np.percentile(times, [50, 99]) * 1e6
        print(f"{name:<20} {p50:8.0f} {p99:8.0f} {steps / COUNT:6.2f} {np.abs(psi).max():9.1e}")


if __name__ == "__main__":
    main(sys.argv[1:] or list(MECHANISMS))
