# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Plots of a trajectory."""

from uk_dynamics.simulation.plots.curves import (
    LINE_STYLES,
    RESOLUTION,
    draw_for_files,
    empty_figure,
)
