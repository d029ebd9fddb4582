"""Curves of a motion: joints, efforts, tracking and loop-closure errors, energy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.escaping import plot_text

if TYPE_CHECKING:
    from uk_dynamics.simulation.recording.trajectory_data import Array, TrajectoryData


# Okabe and Ito's palette: distinguishable with any colour vision, and in grey print.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
LINE_STYLES = ("-", "--", ":", "-.")
_ON_PAPER = COLOURS[:-1]  # without yellow, which is invisible on white
# Seven colours and four styles make 28 pairs; neighbours differ in both, also in grey print.
_MOST_NAMES = len(_ON_PAPER) * len(LINE_STYLES)  # a longer legend covers too much
_RARELY = 4  # samples per new value from which values are drawn as points
_FAR = 4.0  # times the largest effort: limits beyond are written, not drawn
_MOST_WARNINGS = 3
_SIZE = (10.0, 2.2)  # width, and height of a panel, in inches
_SMALLEST_ERROR = 1e-12  # m or rad: smaller errors are drawn as this
_SMALLEST_RESIDUAL = 1e-17
_CLOSED = 1e-12

Panel = tuple[str, Callable[[Any], None]]


def draw(trajectory: TrajectoryData, figure: Any) -> None:
    """Draw a trajectory into a Matplotlib figure, one panel per kind of quantity."""
    panels = _panels(trajectory)
    width, height = _SIZE
    figure.set_size_inches(width, height * len(panels))
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, (label, panel) in zip(axes, panels, strict=True):
        panel(axis)
        axis.set_ylabel(label)
        axis.grid(True, alpha=0.3)
        axis.margins(x=0.0)
        for switching in trajectory.switchings:
            axis.axvline(switching.t, color="0.4", linewidth=0.8)
    axes[-1].set_xlabel("time [s]")
    figure.align_ylabels(axes)
    figure.suptitle(plot_text(trajectory.name.replace("_", " ")))
    if trajectory.warnings:
        shown = list(trajectory.warnings[:_MOST_WARNINGS])
        if len(trajectory.warnings) > len(shown):
            shown.append(f"and {len(trajectory.warnings) - len(shown)} more")
        axes[0].set_title(
            "\n".join(map(plot_text, shown)), fontsize="small", color=COLOURS[1], loc="left"
        )


def _panels(trajectory: TrajectoryData) -> list[Panel]:
    names, t = trajectory.names, trajectory.t

    def motion(axis: Any) -> None:
        _lines(axis, t, trajectory.q - trajectory.q[0], names.positions)

    def efforts(axis: Any) -> None:
        _lines(axis, t, trajectory.efforts, names.motors)
        _limits(axis, trajectory)

    def tracking(axis: Any) -> None:
        errors = np.maximum(np.abs(trajectory.tracking_error), _SMALLEST_ERROR)
        _lines(axis, t, errors, names.task_rows)
        axis.set_yscale("log")

    def closure(axis: Any) -> None:
        _magnitudes(axis, t, trajectory.residual, names.constraint_rows)

    def rates(axis: Any) -> None:
        _magnitudes(axis, t, trajectory.residual_rate, names.constraint_rows)

    def rank(axis: Any) -> None:
        axis.plot(t, trajectory.rank, color=COLOURS[0], label="rank", drawstyle="steps-post")
        axis.set_ylim(trajectory.rank.min() - 1.5, trajectory.rank.max() + 1.5)
        axis.yaxis.get_major_locator().set_params(integer=True)
        other = axis.twinx()
        other.plot(t, trajectory.condition, color=COLOURS[1], linestyle="--", label="condition")
        other.set_yscale("log")
        finite = trajectory.condition[np.isfinite(trajectory.condition)]
        if len(finite):  # a decade at least, so that small changes look small
            other.set_ylim(0.3 * finite.min(), 3.0 * finite.max())
        other.set_ylabel("condition [1], dashed", color=COLOURS[1])

    def energy(axis: Any) -> None:
        gained = trajectory.potential - trajectory.potential[0]
        total = trajectory.energy - trajectory.energy[0]
        series = np.column_stack((trajectory.kinetic, gained, total))
        names = ("kinetic", "potential, from start", "total, from start")
        updates = _updates(series)
        if len(updates) * _RARELY > len(t):
            _lines(axis, t, series, names)
            return
        # a recording of nodes, whose diagnostics come once a second
        _lines(axis, t[updates], series[updates], names)
        for line in axis.lines:
            line.set(marker="o", markersize=3.0, linewidth=0.6)

    panels: list[Panel] = [("motion from start\n[rad or m]", motion)]
    if np.any(trajectory.efforts):
        panels.append(("motor efforts\n[N·m or N]", efforts))
    if names.task_rows:
        panels.append(("tracking error\n[m or rad]", tracking))
    if names.constraint_rows:
        panels.append(("loop-closure error\n[m or rad]", closure))
        panels.append(("its rate\n[m/s or rad/s]", rates))
    panels.append(("energy [J]", energy))
    if names.constraint_rows:
        panels.append(("rank [1]", rank))
    return panels


def _updates(series: Array) -> NDArray[np.intp]:
    """Samples at which values change; in between they were only repeated."""
    changed = np.any(series[1:] != series[:-1], axis=1)
    changed[-1:] = True
    return np.flatnonzero(np.concatenate(([True], changed)))


def _limits(axis: Any, trajectory: TrajectoryData) -> None:
    """Dotted lines at the effort limits, unless these are so far away that efforts look flat."""
    limits = trajectory.effort_limits
    for index in np.flatnonzero(np.isfinite(limits)):
        colour = _ON_PAPER[index % len(_ON_PAPER)]
        for end in (-limits[index], limits[index]):
            axis.axhline(end, color=colour, linestyle=(0, (1, 3)), linewidth=1.0)
    largest = float(
        np.max(np.abs(trajectory.efforts), where=np.isfinite(trajectory.efforts), initial=0.0)
    )
    far = np.unique(limits[np.isfinite(limits) & (limits > _FAR * largest)])
    if not len(far) or largest == 0.0:
        return
    near = limits[limits <= _FAR * largest]
    highest = 1.1 * max(largest, float(near.max(initial=0.0)))
    axis.set_ylim(min(0.0, 1.1 * float(np.nanmin(trajectory.efforts))) - 0.02 * highest, highest)
    if len(near):
        axis.set_ylim(-highest, highest)
    span = f"±{far[0]:.4g}" if len(far) == 1 else f"±{far[0]:.4g} to ±{far[-1]:.4g}"
    axis.annotate(
        f"limits beyond: {span}",
        (0.995, 0.04),
        xycoords="axes fraction",
        ha="right",
        fontsize="small",
        color="0.3",
    )


def _magnitudes(axis: Any, t: Array, values: Array, rows: Sequence[str]) -> None:
    """Largest row of each constraint, on a logarithmic axis that starts at rounding."""
    constraints, largest = _by_constraint(np.abs(values), rows)
    _lines(axis, t, np.maximum(largest, _SMALLEST_RESIDUAL), constraints)
    axis.set_yscale("log")
    highest = float(np.max(largest, where=np.isfinite(largest), initial=0.0))
    axis.set_ylim(_SMALLEST_RESIDUAL, max(_CLOSED, 2.0 * highest))


def _by_constraint(values: Array, rows: Sequence[str]) -> tuple[tuple[str, ...], Array]:
    """Largest row of each constraint: names and (K, constraints)."""
    owners = [row.partition(".")[0] for row in rows]
    constraints = tuple(dict.fromkeys(owners))
    columns = [
        values[:, [owner == name for owner in owners]].max(axis=1, initial=0.0)
        for name in constraints
    ]
    return constraints, np.column_stack(columns)


def _lines(axis: Any, t: Array, values: Array, names: Sequence[str]) -> None:
    count = len(names)
    for index, name in enumerate(names):
        # Later lines are thinner, so that lines below them remain visible.
        axis.plot(
            t,
            values[:, index],
            label=plot_text(name),
            color=_ON_PAPER[index % len(_ON_PAPER)],
            linestyle=LINE_STYLES[index % len(LINE_STYLES)],
            linewidth=1.2 + 2.0 * (count - 1 - index) / max(count, 4),
        )
    if count <= _MOST_NAMES:
        columns = -(-count // 12)
        axis.legend(
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            ncols=columns,
            fontsize="small" if count <= 8 else "x-small",
            frameon=False,
            labelspacing=0.3,
            columnspacing=1.0,
        )
