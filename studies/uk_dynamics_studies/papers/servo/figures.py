# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Figures of the coordinated robots: torques, motion, opening of the loop."""

from __future__ import annotations

from typing import Any

import numpy as np

from uk_dynamics import Trajectory
from uk_dynamics.colours import COLOURS
from uk_dynamics_studies.papers.output.drawing import lines, plane
from uk_dynamics_studies.papers.servo import chain
from uk_dynamics_studies.papers.servo.recipe import Followed
from uk_dynamics_studies.papers.servo.runs import (
    MOTORS,
    PUBLISHED,
    Torques,
    closure_errors_of,
    link_angles,
)

_SMALLEST = 1e-17  # m: what is below counts as closed


def draw_machine(figure: Any) -> None:
    """The chain of links at three times, drawn in stronger colours as the load rises."""
    figure.set_size_inches(6.5, 3.6)
    axis = plane(figure)
    for moment, (t, strength) in enumerate(((0.0, 0.35), (np.pi / 2.0, 0.6), (np.pi, 1.0))):
        angles = chain.exact_motion(t).angles
        x = np.append(0.0, np.cumsum(chain.LENGTH * np.cos(angles)))
        y = np.append(0.0, np.cumsum(chain.LENGTH * np.sin(angles)))
        for part, colour, label in (
            (slice(0, 3), COLOURS[1], "left robot"),
            (slice(3, 6), COLOURS[0], "right robot"),
            (slice(2, 4), COLOURS[4], "load"),
        ):
            style = {"color": colour, "alpha": strength, "label": label if moment == 2 else None}
            axis.plot(x[part], y[part], "o-", linewidth=3.0, **style)
    axis.plot([0.0, chain.DISTANCE], [0.0, 0.0], "ks", markersize=9.0)
    axis.legend(
        fontsize="small", edgecolor="none", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3
    )


def draw_torques(figure: Any, torques: Torques) -> None:
    """Figs. 9 to 14: one panel per motor."""
    figure.set_size_inches(8.0, 6.0)
    for k, axis in enumerate(figure.subplots(3, 2, sharex=True).T.flat):
        axis.axhspan(*PUBLISHED[k], color="0.5", alpha=0.2, linewidth=0.0, label="published")
        series = {"consistent": torques.package[:, k], "recipe": torques.recipe[:, k]}
        lines(axis, torques.t, series, f"{MOTORS[k]} [N·m]")
        if k > 0:
            axis.get_legend().remove()
        if not axis.get_subplotspec().is_last_row():
            axis.set_xlabel("")


def draw_motion(figure: Any, moved: Trajectory) -> None:
    """Figs. 4 to 8 in one, and the load below."""
    figure.set_size_inches(8.0, 6.0)
    upper, lower = figure.subplots(2, 1, sharex=True)
    angles = link_angles(moved)
    load = np.array([chain.load_position(sample) for sample in angles])
    degrees = {f"θ{k + 1}": np.rad2deg(angles[:, k]) for k in range(chain.LINKS)}
    lines(upper, moved.t, degrees, "angle [°]")
    lines(lower, moved.t, {"x₃": load[:, 0], "y₃": load[:, 1]}, "load [m]")
    upper.label_outer()


def draw_closure_errors(figure: Any, followed: dict[float, Followed], moved: Trajectory) -> None:
    """How far the loop is open, by stabilisation of the recipe."""
    figure.set_size_inches(8.0, 4.0)
    axis = figure.subplots()
    ours = np.maximum(closure_errors_of(moved), _SMALLEST)
    lines(axis, moved.t, {"this package": ours}, "closure error [m]")
    for (frequency, run), colour in zip(followed.items(), COLOURS[1:], strict=False):
        name = f"recipe, stabilised at {frequency:g} rad/s" if frequency else "recipe"
        axis.plot(run.t, np.maximum(run.closure_errors, _SMALLEST), color=colour, label=name)
    axis.set_yscale("log")
    axis.legend(fontsize="small", edgecolor="none")
