# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism as C: its terms traced through symbols, compiled once, kept in the user's cache."""

from uk_dynamics.compilation.build.library import (
    Library,
    announce,
    is_cached,
    library_of,
)
from uk_dynamics.compilation.derivatives.compiled_derivatives import CompiledDerivatives
from uk_dynamics.compilation.derivatives.compiled_efforts import (
    CompiledEfforts,
    EffortSettings,
    ManyEfforts,
    efforts_in_c,
)
from uk_dynamics.compilation.derivatives.compiled_projection import (
    CompiledProjection,
    ProjectedStates,
    projection_in_c,
)
from uk_dynamics.compilation.derivatives.derivative_batch import CompiledDerivativeBatch, ManySlopes
from uk_dynamics.compilation.derivatives.equation_slopes import (
    EquationSlopes,
    SlopeSource,
    TracedSlopes,
)
from uk_dynamics.compilation.derivatives.patterns import (
    effort_sparsity,
    motion_sparsity,
    projection_sparsity,
)
from uk_dynamics.compilation.derivatives.task_slopes import TaskSlopes
from uk_dynamics.compilation.select_backend import Selection, choose, chosen, select_backend

__all__ = [
    "CompiledDerivativeBatch",
    "CompiledDerivatives",
    "CompiledEfforts",
    "CompiledProjection",
    "EffortSettings",
    "EquationSlopes",
    "Library",
    "ManyEfforts",
    "ManySlopes",
    "ProjectedStates",
    "Selection",
    "SlopeSource",
    "TaskSlopes",
    "TracedSlopes",
    "announce",
    "choose",
    "chosen",
    "effort_sparsity",
    "efforts_in_c",
    "is_cached",
    "library_of",
    "motion_sparsity",
    "projection_in_c",
    "projection_sparsity",
    "select_backend",
]
