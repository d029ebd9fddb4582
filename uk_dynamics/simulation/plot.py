"""One picture of a motion: joints, efforts, residuals, energy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from uk_dynamics.exceptions import InputError

if TYPE_CHECKING:
    from uk_dynamics.simulation.trajectory import Array, Trajectory

_MANY = 8  # above this a legend hides more than it tells
# Okabe and Ito's palette: told apart with any colour vision and in grey print.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
_FLOOR = 1e-18


def plot_trajectory(trajectory: Trajectory, path: Path) -> None:
    """Draw a trajectory into a file; see :meth:`Trajectory.plot`."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise InputError(
            "plots need matplotlib; install it (pip install matplotlib, apt install "
            "python3-matplotlib)",
            file=str(path),
        ) from None
    figure = Figure(figsize=(9.0, 11.0), layout="constrained")
    FigureCanvasAgg(figure)
    panels = _panels(trajectory)
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    for axis, panel in zip(axes, panels, strict=True):
        panel(axis)
        axis.grid(True, alpha=0.3)
    axes[-1].set_xlabel("time [s]")
    figure.suptitle(trajectory.name.replace("_", " "))
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be written: {error}", file=str(path)) from None


def _panels(trajectory: Trajectory) -> list[Any]:
    names = trajectory.names
    t = trajectory.t

    def motion(axis: Any) -> None:
        moved = trajectory.q - trajectory.q[0]
        _lines(axis, t, moved, names.positions)
        axis.set_ylabel("motion from start\n[rad or m]")

    def efforts(axis: Any) -> None:
        _lines(axis, t, trajectory.efforts, names.motors)
        axis.set_ylabel("motor efforts\n[N·m or N]")

    def tracking(axis: Any) -> None:
        _magnitudes(axis, t, trajectory.tracking_error, names.task_rows)
        axis.set_ylabel("|tracking error|\n[m or rad]")

    def residuals(axis: Any) -> None:
        _magnitudes(axis, t, trajectory.residual, names.constraint_rows)
        axis.set_ylabel("|constraint residual|\n[m or rad]")

    def energy(axis: Any) -> None:
        start = trajectory.potential[0]
        series = np.column_stack(
            (trajectory.kinetic, trajectory.potential - start, trajectory.energy - start)
        )
        _lines(axis, t, series, ("kinetic", "potential from start", "total"))
        axis.set_ylabel("energy [J]")

    panels = [motion]
    if len(names.motors) and np.any(trajectory.efforts):
        panels.append(efforts)
    if len(names.task_rows):
        panels.append(tracking)
    if len(names.constraint_rows):
        panels.append(residuals)
    panels.append(energy)
    return panels


def _lines(axis: Any, t: Array, values: Array, names: Sequence[str]) -> None:
    for index, name in enumerate(names):
        axis.plot(
            t, values[:, index], label=name, color=_COLOURS[index % len(_COLOURS)], linewidth=1.3
        )
    _legend(axis, len(names))


def _magnitudes(axis: Any, t: Array, values: Array, names: Sequence[str]) -> None:
    _lines(axis, t, np.maximum(np.abs(values), _FLOOR), names)
    axis.set_yscale("log")


def _legend(axis: Any, count: int) -> None:
    if 0 < count <= _MANY:
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small", frameon=False)
