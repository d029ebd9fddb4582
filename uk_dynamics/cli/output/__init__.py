"""What commands print and write."""

from uk_dynamics.cli.output.simulation_summary import summarize

__all__ = [
    "summarize",
]
