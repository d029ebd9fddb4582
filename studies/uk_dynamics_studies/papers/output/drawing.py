# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What the figures of all studies share: colours, lines with their labels, published ranges."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike

from uk_dynamics.colours import COLOURS
from uk_dynamics.simulation.plots import LINE_STYLES


def lines(
    axis: Any, x: ArrayLike, series: Mapping[str, ArrayLike], ylabel: str, xlabel: str = "time [s]"
) -> None:
    """Draw lines, (K,) each, by the names in the legend; labels are such as ``torque [N·m]``."""
    for index, (label, values) in enumerate(series.items()):
        axis.plot(
            x,
            values,
            label=label,
            color=COLOURS[index % len(COLOURS)],
            linestyle=LINE_STYLES[index % len(LINE_STYLES)],
        )
    axis.set(xlabel=xlabel, ylabel=ylabel)
    axis.grid(True, alpha=0.3)
    axis.margins(x=0.0)
    if len(series) > 1:
        axis.legend(fontsize="small", edgecolor="none")


def plane(figure: Any) -> Any:
    """Axes for a machine, in m, with equal scales."""
    axis = figure.subplots()
    axis.set(aspect="equal", xlabel="x [m]", ylabel="y [m]")
    axis.grid(True, alpha=0.3)
    return axis
