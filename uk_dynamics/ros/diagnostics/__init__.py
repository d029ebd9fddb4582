"""Diagnostics of the nodes."""
