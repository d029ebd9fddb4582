# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Draws panels of curves into files and windows; legends and remarks stand next to the curves."""

from __future__ import annotations

import logging
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from uk_dynamics.colours import COLOURS, ON_PAPER
from uk_dynamics.escaping import plot_text
from uk_dynamics.exceptions import InputError
from uk_dynamics.resources import optional_library
from uk_dynamics.simulation.plots.panels import Panel
from uk_dynamics.simulation.plots.plot_contents import contents
from uk_dynamics.simulation.recording.trajectory_data import Array, TrajectoryData
from uk_dynamics.whole_file import output_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# Okabe and Ito's palette: distinguishable with any colour vision, and in grey print.
LINE_STYLES = ("-", "--", ":", "-.")
# Seven colours and four styles make 28 pairs; neighbours differ in both, also in grey print.
_MOST_NAMES = len(ON_PAPER) * len(LINE_STYLES)  # a longer legend covers too much
_REFERENCE: dict[str, Any] = {"color": "black", "linestyle": (0, (1, 2.5)), "linewidth": 1.2}
_LIMIT: dict[str, Any] = {"linestyle": (0, (8, 3)), "linewidth": 0.9}
_GREY = "0.45"
# Times the span of the curves: limits farther off are written, not drawn.
_NEAR, _NEAR_POSITIONS = 3.0, 1.0
_FLAT = 1e-3  # of the values: curves that vary by less are drawn flat
_MOST_WARNINGS, _MOST_SWITCHINGS = 3, 8
_SIZE = (10.0, 2.2)  # width, and height of a panel, in inches
_LINE = 0.18  # height of a line of text, in inches
_LETTERS = 130  # in a line


def draw(trajectory: TrajectoryData, figure: Any) -> None:
    """Draw a trajectory into a Matplotlib figure, one panel per kind of quantity."""
    shown = contents(trajectory)
    warnings = _lines_of(_first(trajectory.warnings, _MOST_WARNINGS))
    notes = _lines_of(_notes(trajectory, shown.notes))
    width, height = _SIZE
    heights = [height] * len(shown.panels)
    for place, lines in ((0, warnings), (len(heights) + bool(warnings), notes)):
        if lines:
            heights.insert(place, _LINE * (len(lines) + 1))
    figure.set_size_inches(width, sum(heights) + 0.6)
    axes = list(
        figure.subplots(len(heights), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[
            :, 0
        ]
    )
    if warnings:
        _write(axes.pop(0), warnings, COLOURS[1])
    if notes:
        _write(axes.pop(), notes, "0.2")
    for axis, panel in zip(axes, shown.panels, strict=True):
        axis.sharex(axes[0])
        _draw(axis, trajectory.t, panel)
        for switching in trajectory.switchings:
            axis.axvline(switching.t, color="0.4", linewidth=0.8)
        if axis is not axes[-1]:
            axis.tick_params(labelbottom=False)
    if axes:
        axes[-1].set_xlabel("time [s]")
    figure.align_ylabels(axes)
    figure.suptitle(plot_text(trajectory.name.replace("_", " ")))


def _first(texts: Sequence[str], most: int) -> list[str]:
    """The first ones, and how many more there are."""
    shown = list(texts[:most])
    if len(texts) > len(shown):
        shown.append(f"and {len(texts) - len(shown)} more")
    return shown


def _notes(trajectory: TrajectoryData, notes: Sequence[str]) -> list[str]:
    switched = [
        f"vertical line at {s.t:.4g} s: {s.text(trajectory.contacts)}"
        for s in trajectory.switchings
    ]
    return [*_first(switched, _MOST_SWITCHINGS), *notes]


def _lines_of(texts: Sequence[str]) -> list[str]:
    return [line for text in texts for line in textwrap.wrap(text, _LETTERS)]


def _write(axis: Any, lines: Sequence[str], colour: str) -> None:
    axis.set_axis_off()
    text = "\n".join(map(plot_text, lines))
    axis.text(0.0, 0.5, text, fontsize="small", color=colour, va="center", clip_on=False)


def _draw(axis: Any, t: Array, panel: Panel) -> None:
    axis.set_ylabel(f"{panel.title}\n[{panel.unit}]")
    axis.grid(True, alpha=0.3)
    axis.margins(x=0.0)
    if panel.bars:
        _draw_bars(axis, t, panel)
        return
    _draw_curves(axis, t, panel)
    if panel.title == "rank":
        axis.yaxis.get_major_locator().set_params(integer=True)
    if panel.floor:
        axis.set_yscale("log")
        low, high = axis.dataLim.intervaly
        axis.set_ylim(0.5 * min(low, panel.floor), 2.0 * high)
    else:
        _scale(axis, panel)
    count = len(panel.curves)
    if count <= _MOST_NAMES:
        axis.legend(
            loc="center left",
            bbox_to_anchor=(1.0, 0.5),
            ncols=-(-count // 12),
            fontsize="small" if count <= 8 else "x-small",
            frameon=False,
            labelspacing=0.3,
            columnspacing=1.0,
        )


def _draw_curves(axis: Any, t: Array, panel: Panel) -> None:
    chosen = slice(None) if panel.samples is None else panel.samples
    marks: dict[str, Any] = {} if panel.samples is None else {"marker": "o", "markersize": 3.0}
    count = len(panel.curves)
    for index, curve in enumerate(panel.curves):
        # Later lines are thinner, so that lines below them remain visible.
        width = 1.2 + 2.0 * (count - 1 - index) / max(count, 4)
        axis.plot(
            t[chosen],
            curve.values[chosen],
            label=plot_text(curve.name),
            color=ON_PAPER[index % len(ON_PAPER)],
            linestyle=LINE_STYLES[index % len(LINE_STYLES)],
            linewidth=width if panel.samples is None else 0.6,
            **marks,
        )
        if curve.band is not None:
            colour = ON_PAPER[index % len(ON_PAPER)]
            axis.fill_between(t, *curve.band, color=colour, alpha=0.15, linewidth=0.0)
    label = "reference"
    for curve in panel.curves:
        if curve.reference is not None:
            axis.plot(t, curve.reference, label=label, zorder=3, **_REFERENCE)
            label = ""


def _draw_bars(axis: Any, t: Array, panel: Panel) -> None:
    """A line per curve, from top to bottom in the order of the legend of the others."""
    for index, curve in enumerate(panel.curves):
        for height, least in ((0.25, 1.0), (0.7, 2.0)):
            axis.fill_between(
                t,
                -index - 0.5 * height,
                -index + 0.5 * height,
                where=curve.values >= least,
                step="post",
                color=ON_PAPER[index % len(ON_PAPER)],
                linewidth=0.0,
            )
    count = len(panel.curves)
    names = [plot_text(curve.name) for curve in panel.curves]
    axis.set_yticks(-np.arange(count), names, fontsize="x-small")
    axis.set_ylim(0.5 - count, 0.5)


def _scale(axis: Any, panel: Panel) -> None:
    """Fit the axis to the curves; limits nearby are drawn, those far off are written above."""
    parts = [curve.values for curve in panel.curves]
    parts += [curve.reference for curve in panel.curves if curve.reference is not None]
    parts += [edge for curve in panel.curves if curve.band is not None for edge in curve.band]
    values = np.concatenate(parts)
    values = values[np.isfinite(values)]
    if panel.from_zero or not len(values):
        values = np.append(values, 0.0)
    low, high = float(values.min()), float(values.max())
    flat = _FLAT * max(abs(low), abs(high)) or 1.0
    span = high - low
    if span < flat:
        low, high, span = low - 5.0 * flat, high + 5.0 * flat, flat
    reach = span * (_NEAR if panel.from_zero else _NEAR_POSITIONS)
    near, far = _sorted_limits(panel, low - reach, high + reach)
    same = len({curve.limits for curve in panel.curves}) == 1
    for limit, index in near.items():
        axis.axhline(limit, color=_GREY if same else ON_PAPER[index % len(ON_PAPER)], **_LIMIT)
        low, high = min(low, limit), max(high, limit)
    if near:
        axis.plot([], [], color=_GREY, label="limit", **_LIMIT)
    margin = 0.05 * (high - low)
    axis.set_ylim(low - margin, high + margin)
    if far:
        least = min(far, key=abs)
        text = f"{least:.6g}" if -least not in far else f"±{abs(least):.6g}"
        more = "" if {abs(least)} == set(map(abs, far)) else " and beyond"
        axis.set_title(
            f"limits off the picture: {text} {panel.unit}{more}",
            loc="right",
            fontsize="small",
            color="0.3",
        )


def _sorted_limits(panel: Panel, low: float, high: float) -> tuple[dict[float, int], set[float]]:
    """Limits to draw, with the first curve that has them, and limits to write."""
    near: dict[float, int] = {}
    far: set[float] = set()
    for index, curve in enumerate(panel.curves):
        for limit in curve.limits:
            if low <= limit <= high:
                near.setdefault(limit, index)
            elif np.isfinite(limit):
                far.add(limit)
    return near, far


_log = logging.getLogger(__name__)

RESOLUTION = 130  # dots per inch
# Backends that Matplotlib falls back to without a screen, or that only write files.
_WITHOUT_WINDOWS = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")


def plot_trajectory(trajectory: TrajectoryData, path: Path | None) -> None:
    """Draw a trajectory into a file or a window; see :meth:`Trajectory.plot`."""
    if path is None:
        _show(trajectory)
        return
    figure = empty_figure(path)
    if path.suffix.lower().removeprefix(".") not in figure.canvas.get_supported_filetypes():
        raise InputError(
            f'cannot draw "{path.suffix}" files; use .png, .pdf or .svg', file=str(path)
        )
    with output_file(path) as unfinished:  # opened first: drawing takes long
        draw_for_files(trajectory, figure)
        figure.savefig(unfinished, dpi=RESOLUTION)


def empty_figure(path: Path | None) -> Figure:
    """A figure without a window; an InputError with the path if Matplotlib is missing."""
    remedy = "install it (pip install matplotlib, apt install python3-matplotlib)"
    drawing, agg = (
        optional_library(f"matplotlib.{name}", f"plots need matplotlib; {remedy}", path or "")
        for name in ("figure", "backends.backend_agg")
    )
    figure: Figure = drawing.Figure(layout="constrained")
    agg.FigureCanvasAgg(figure)
    return figure


def _show(trajectory: TrajectoryData) -> None:
    empty_figure(None)  # explains a missing Matplotlib
    from matplotlib import pyplot as plt

    if plt.get_backend().lower() in _WITHOUT_WINDOWS:
        _log.warning('there is no screen to show a plot on; name a file: plot("motion.png")')
        return
    window = plt.figure(layout="constrained")
    draw(trajectory, window)
    plt.show()
    plt.close(window)


def draw_for_files(trajectory: TrajectoryData, figure: Figure) -> None:
    """Draw a trajectory, and lay out the figure once for all files to which it is written."""
    draw(trajectory, figure)
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axis in figure.axes:  # fixed: aligning them at every write doubles the time
        label = axis.yaxis.label
        x, y = label.get_transform().transform(label.get_position())
        axis.yaxis.set_label_coords(axis.transAxes.inverted().transform((x, y))[0], 0.5)
