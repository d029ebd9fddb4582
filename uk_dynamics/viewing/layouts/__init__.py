# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Layouts for Foxglove and PlotJuggler."""

from uk_dynamics.viewing.layouts.foxglove import foxglove_layout
from uk_dynamics.viewing.layouts.plotjuggler import plotjuggler_layout
