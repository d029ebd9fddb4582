# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives of the traced equations of motion and of task rows: as symbols, and as numbers."""

from uk_dynamics.compilation.derivatives.equation_derivatives import EquationValues
from uk_dynamics.compilation.derivatives.patterns import (
    effort_pattern,
    motion_patterns,
    projection_pattern,
)
from uk_dynamics.compilation.derivatives.task_derivatives import TaskValues
