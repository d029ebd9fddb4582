"""Plots of a trajectory."""
