"""Layouts for Foxglove and PlotJuggler."""
