# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Simulations of the problems, measured: errors, drifts, processor time."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from uk_dynamics import Trajectory, simulate
from uk_dynamics_studies.papers.iftomm.pendulum import Array
from uk_dynamics_studies.papers.iftomm.problems import Problem
from uk_dynamics_studies.papers.output.study import step_done

_TRIALS = 5  # the least time counts: other programs only ever add
_RTOL = 1e-10


@dataclass(frozen=True)
class Run:
    """What a simulation of a problem showed."""

    problem: Problem
    moved: Trajectory
    errors: Array  # largest distance of a joint from the reference, in m or rad, (K,)
    drifts: Array  # of the energy, in J, (K,); empty where dampers take energy
    time: float  # of the processor, in s

    @property
    def error(self) -> float:
        """Largest over all joints and samples."""
        return float(self.errors.max())

    @property
    def drift(self) -> float | None:
        """Largest of all samples."""
        return float(np.abs(self.drifts).max()) if len(self.drifts) else None


def run(problem: Problem, *, quick: bool = False) -> Run:
    """Simulate; quick shortens it, and uses what is compiled already, if anything is."""
    if quick:
        moved = simulate(
            problem.mechanism,
            problem.start,
            problem.shorter,
            tau=problem.tau,
            rtol=_RTOL,
            sample_period=problem.shorter / 50.0,
        )
        spent = moved.statistics.wall_time
    else:
        moved, spent = _timed(problem)
    reference = problem.motion(np.asarray(moved.t))
    errors = np.max([np.abs(moved.position(j) - x) for j, x in reference.items()], axis=0)
    drifts = np.zeros(0) if problem.drift is None else problem.drift(moved)
    step_done()
    return Run(problem, moved, errors, drifts, spent)


def _timed(problem: Problem) -> tuple[Trajectory, float]:
    problem.mechanism.dynamics("compiled")  # before time counts
    times = []
    for _ in range(_TRIALS):
        began = time.process_time()
        moved = simulate(
            problem.mechanism,
            problem.start,
            problem.duration,
            tau=problem.tau,
            method="rk4",
            step=problem.step,
            sample_period=problem.sample_period,
            backend="compiled",
        )
        times.append(time.process_time() - began)
    return moved, min(times)
