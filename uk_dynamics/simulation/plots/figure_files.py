# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Plots of a motion as a picture file or in a window."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from uk_dynamics.exceptions import InputError
from uk_dynamics.simulation.plots.curves import draw
from uk_dynamics.whole_file import whole_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from uk_dynamics.simulation.recording.trajectory_data import TrajectoryData

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
    try:
        with whole_file(path) as temporary:  # opened first: drawing takes long
            draw_for_files(trajectory, figure)
            figure.savefig(temporary, dpi=RESOLUTION)
    except OSError as error:
        raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from None


def empty_figure(path: Path | None) -> Figure:
    """A figure without a window; an InputError with the path if Matplotlib is missing."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "plots need matplotlib; install it (pip install matplotlib, apt install "
            "python3-matplotlib)",
            file="" if path is None else str(path),
        ) from None
    figure = Figure(layout="constrained")
    FigureCanvasAgg(figure)
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
