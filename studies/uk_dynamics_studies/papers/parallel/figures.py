# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Figures of the parallel manipulator: torques, path, angles."""

from __future__ import annotations

from typing import Any

import numpy as np

from uk_dynamics import Trajectory
from uk_dynamics.colours import COLOURS
from uk_dynamics_studies.papers.output.drawing import lines, plane
from uk_dynamics_studies.papers.parallel import arms
from uk_dynamics_studies.papers.parallel.runs import Torques


def draw_machine(figure: Any) -> None:
    """The three chains where the line begins and where it ends."""
    figure.set_size_inches(5.5, 4.2)
    axis = plane(figure)
    for t, strength in ((0.0, 0.4), (arms.PERIOD / 2.0, 1.0)):
        angles = arms.exact_motion(t).q.reshape(3, 2)
        for number, (base, (active, passive)) in enumerate(zip(arms.BASES, angles, strict=True)):
            directions = np.array([active, active + passive])
            steps = arms.LENGTH * np.column_stack((np.cos(directions), np.sin(directions)))
            x, y = np.vstack((base, base + steps[0], base + steps.sum(axis=0))).T
            name = f"chain {number + 1}" if t else None
            axis.plot(x, y, "o-", color=COLOURS[number], alpha=strength, linewidth=3.0, label=name)
    ends = np.array([arms.point(t)[0] for t in (0.0, arms.PERIOD / 2.0)])
    axis.plot(*ends.T, "k:", label="line of O")
    axis.plot(*arms.BASES.T, "ks", markersize=9.0, label="motors")
    axis.legend(fontsize="small", edgecolor="none", loc="upper left", bbox_to_anchor=(1.0, 1.0))


def draw_torques(figure: Any, torques: Torques) -> None:
    """Figs. 14 to 16: one panel per chain."""
    figure.set_size_inches(8.0, 7.0)
    for chain, axis in enumerate(figure.subplots(3, 1, sharex=True, sharey=True)):
        series = {
            "motor, consistent": torques.motors[:, chain],
            "active joint, stacked": torques.stacked[:, arms.ACTIVE[chain]],
            "passive joint, stacked": torques.stacked[:, arms.PASSIVE[chain]],
        }
        lines(axis, torques.t, series, f"chain {chain + 1} [N·m]")
        if chain > 0:
            axis.get_legend().remove()
        axis.label_outer()


def draw_path(figure: Any, served: Trajectory, programmed: Trajectory, misled: Trajectory) -> None:
    """Figs. 3 and 4: coordinates of O, and below how far it is from where it should be."""
    figure.set_size_inches(8.0, 7.0)
    panels = figure.subplots(3, 1, sharex=True)
    runs = {"with feedback": served, "consistent programme": programmed, "stacked": misled}
    wanted = np.array([arms.point(t)[0] for t in served.t])
    for row, (axis, name) in enumerate(zip(panels[:2], ("x", "y"), strict=True)):
        found = {label: wanted[:, row] + run.tracking_error[:, row] for label, run in runs.items()}
        lines(axis, served.t, found, f"{name} of O [m]")
    off = {
        label: np.maximum(np.linalg.norm(run.tracking_error, axis=1), 1e-16)
        for label, run in runs.items()
    }
    lines(panels[2], served.t, off, "distance [m]")
    panels[2].set_yscale("log")
    for axis in panels[1:]:
        axis.get_legend().remove()
    for axis in panels:
        axis.label_outer()


def draw_angles(figure: Any, served: Trajectory) -> None:
    """Figs. 5 to 13: a row per chain; angles from their start, rates, accelerations."""
    figure.set_size_inches(9.0, 7.0)
    panels = figure.subplots(3, 3, sharex=True, sharey="col")
    quantities = {
        "angle [rad]": served.q - served.q[0],
        "rate [rad/s]": served.v,
        "acceleration [rad/s²]": served.qdd,
    }
    for chain in range(3):
        for axis, (label, values) in zip(panels[chain], quantities.items(), strict=True):
            active, passive = values[:, 2 * chain], values[:, 2 * chain + 1]
            names = (f"a{chain + 1}", f"b{chain + 1}")
            lines(axis, served.t, dict(zip(names, (active, passive), strict=True)), label)
            if not axis.get_subplotspec().is_last_row():
                axis.set_xlabel("")
            if axis is not panels[chain][0]:
                axis.get_legend().remove()
