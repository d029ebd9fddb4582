"""Configurations that close the loops."""

from uk_dynamics.mechanism.assembly.assembly import assemble_on_tasks
from uk_dynamics.mechanism.assembly.assembly_search import Assembly
from uk_dynamics.mechanism.assembly.start import start

__all__ = [
    "Assembly",
    "assemble_on_tasks",
    "start",
]
