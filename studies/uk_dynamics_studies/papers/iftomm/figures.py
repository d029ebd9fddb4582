# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Figures of the benchmark problems: motions with their references, errors over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from uk_dynamics.colours import COLOURS
from uk_dynamics_studies.papers.iftomm.runs import Run

_LEAST = 1e-17  # m or rad: where logarithms end
_UNITS = {"bob_x": "m", "slider": "m"}  # the others: rad


def draw_motions(figure: Any, runs: Sequence[Run]) -> None:
    """One joint of each problem, and some points of its reference."""
    figure.set_size_inches(8.0, 1.6 * len(runs))
    for axis, run in zip(np.atleast_1d(figure.subplots(len(runs), 1)), runs, strict=True):
        joint = run.problem.shown
        t = np.asarray(run.moved.t)
        axis.plot(t, run.moved.position(joint), color=COLOURS[0])
        few = t[:: max(1, len(t) // 25)]
        axis.plot(few, run.problem.motion(few)[joint], "k.", markersize=4.0)
        axis.set(title=run.problem.name, xlabel="time [s]")
        axis.set_ylabel(f"{joint} [{_UNITS.get(joint, 'rad')}]")
        axis.grid(True, alpha=0.3)
        axis.margins(x=0.0)


def draw_errors(figure: Any, runs: Sequence[Run]) -> None:
    """Distance from the reference over the part of the duration that has passed."""
    figure.set_size_inches(8.0, 4.0)
    axis = figure.subplots()
    for index, run in enumerate(runs):
        t = np.asarray(run.moved.t)
        axis.semilogy(
            t / t[-1],
            run.errors + _LEAST,
            color=COLOURS[index % len(COLOURS)],
            label=run.problem.name,
        )
    axis.set(xlabel="time [durations]", ylabel="distance from the reference [m or rad]")
    axis.grid(True, alpha=0.3)
    axis.margins(x=0.0)
    axis.legend(fontsize="small", edgecolor="none")
