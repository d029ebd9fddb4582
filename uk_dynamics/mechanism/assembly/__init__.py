# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Configurations that close the loops."""

from uk_dynamics.mechanism.assembly.assembly import (
    assemble,
    assemble_on_tasks,
    closed_configuration,
)
from uk_dynamics.mechanism.assembly.assembly_search import Assembly
from uk_dynamics.mechanism.assembly.start import consistent_velocity, start
