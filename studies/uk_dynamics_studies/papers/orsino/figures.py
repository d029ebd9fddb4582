# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Figures of the 3RRR study: machine, motion, torques, compliance, accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from uk_dynamics import Trajectory
from uk_dynamics.colours import COLOURS
from uk_dynamics_studies.papers.orsino.accuracy import FORMS, WAYS, Accuracy
from uk_dynamics_studies.papers.orsino.motion import PERIOD, Slack, pose
from uk_dynamics_studies.papers.output.drawing import lines

_BASES = 3.0 * np.exp(2j * np.pi / 3.0 * np.array([0.0, 1.0, -1.0]))
_ARM_COLOURS = ("#c73b33", "#1f8f87", "#296bb3")


def draw_machine(figure: Any, trajectory: Trajectory) -> None:
    """The manipulator at some instants of a period, and the way of its platform."""
    figure.set_size_inches(9.0, 3.4)
    path = np.array([pose(t) for t in np.linspace(0.0, PERIOD, 401)])
    instants = [t for t in (0.0, 1.7, 3.0) if t <= trajectory.t[-1] + 1e-9]
    for index, t in enumerate(instants):
        axis = figure.add_subplot(1, len(instants), index + 1)
        axis.plot(path[:, 0], path[:, 1], color="0.6", linewidth=0.8, linestyle="--")
        _draw_pose(axis, trajectory, int(np.argmin(np.abs(trajectory.t - t))))
        axis.set(aspect="equal", xlim=(-4.0, 4.4), ylim=(-3.6, 3.6), xlabel="x [m]", ylabel="z [m]")
        axis.set_title(f"t = {t:g} s", fontsize="small")


def _draw_pose(axis: Any, trajectory: Trajectory, sample: int) -> None:
    x, z, angle = (
        trajectory.position(name)[sample] for name in ("platform_x", "platform_z", "platform_angle")
    )
    ends = x + 1j * z + _BASES / 3.0 * np.exp(1j * angle)
    corners = np.append(ends, ends[0])
    axis.fill(corners.real, corners.imag, color="0.8", zorder=1)
    axis.plot(corners.real, corners.imag, color="0.3", linewidth=1.5, zorder=2)
    for base, end, arm, colour in zip(_BASES, ends, "abc", _ARM_COLOURS, strict=True):
        elbow = base + 2.0 * np.exp(1j * trajectory.position(f"shoulder_{arm}")[sample])
        points = np.array([base, elbow, end])
        axis.plot(points.real, points.imag, color=colour, linewidth=3.0, marker="o", zorder=3)
        axis.plot(base.real, base.imag, color="0.2", marker="s", markersize=8, zorder=4)


def draw_motion(figure: Any, trajectory: Trajectory) -> None:
    """Pose and torques over time."""
    figure.set_size_inches(8.0, 5.0)
    upper, lower = figure.subplots(2, 1, sharex=True)
    names = ("platform_x", "platform_z", "platform_angle")
    labels = ("x [m]", "z [m]", "angle [rad]")
    series = dict(zip(labels, map(trajectory.position, names), strict=True))
    lines(upper, trajectory.t, series, "pose [m, rad]")
    motors = trajectory.names.motors
    torques = dict(zip(motors, trajectory.efforts.T, strict=True))
    lines(lower, trajectory.t, torques, "torque [N·m]")
    for axis in (upper, lower):
        axis.legend(fontsize="small", edgecolor="none", loc="upper left", bbox_to_anchor=(1.0, 1.0))
    upper.label_outer()


def draw_slack(figure: Any, runs: Sequence[Slack]) -> None:
    """Displacements of compliant pins over their compliance."""
    figure.set_size_inches(6.0, 3.4)
    axis = figure.subplots()
    compliance = [run.compliance for run in runs]
    series = {
        "largest displacement of a pin": [run.displacement for run in runs],
        "compliance × largest force": [run.expected for run in runs],
        "largest tracking error": [run.tracking_error for run in runs],
    }
    lines(axis, compliance, series, "length [m]", "compliance [m/N]")
    axis.set(xscale="log", yscale="log")


def draw_accuracy(figure: Any, runs: Sequence[Accuracy]) -> None:
    """Relative errors over the condition of the constraints."""
    figure.set_size_inches(9.0, 3.6)
    axes = figure.subplots(1, 2, sharey=True)
    condition = np.array([run.condition for run in runs])
    for axis, names, field in ((axes[0], FORMS, "accelerations"), (axes[1], WAYS, "kernels")):
        errors = np.array([getattr(run, field) for run in runs])
        series = {name: errors[:, column] for column, name in enumerate(names)}
        what = "acceleration" if axis is axes[0] else "projector"
        lines(axis, condition, series, f"error of the {what} [relative]", "condition [1]")
        for power, style in ((1, ":"), (2, "-.")):
            axis.plot(
                condition, 1e-16 * condition**power, color=COLOURS[6], linestyle=style, lw=0.7
            )
        axis.set(xscale="log", yscale="log", ylim=(1e-16, 1.0))
