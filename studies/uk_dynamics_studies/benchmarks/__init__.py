# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Measurements of speed and accuracy, next to other engines on the same mechanisms."""

from uk_dynamics_studies.benchmarks import (
    contact,
    controlled,
    device,
    growth,
    laws,
    simulations,
    slopes,
    speed,
    standing,
)
from uk_dynamics_studies.benchmarks.report import Report, as_page, as_text, machine, plot

__all__ = [
    "Report",
    "as_page",
    "as_text",
    "contact",
    "controlled",
    "device",
    "growth",
    "laws",
    "machine",
    "plot",
    "simulations",
    "slopes",
    "speed",
    "standing",
]
