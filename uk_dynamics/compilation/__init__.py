# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism as C: its terms traced through symbols, compiled once, kept in the user's cache."""

from uk_dynamics.compilation.build.library import (
    announce,
    derivative_batch_library_of,
    derivative_library_of,
    derivatives_are_cached,
    efforts_are_cached,
    projection_is_cached,
)
from uk_dynamics.compilation.compiled_derivatives import (
    LEFT_TO_PYTHON,
    CompiledDerivativeBatch,
    CompiledDerivatives,
    CompiledEfforts,
    CompiledProjection,
    EffortSettings,
    States,
)
from uk_dynamics.compilation.emit.layout import rolls
from uk_dynamics.compilation.select_backend import Selection, choose, chosen, select_backend

__all__ = [
    "LEFT_TO_PYTHON",
    "CompiledDerivativeBatch",
    "CompiledDerivatives",
    "CompiledEfforts",
    "CompiledProjection",
    "EffortSettings",
    "Selection",
    "States",
    "announce",
    "choose",
    "chosen",
    "derivative_batch_library_of",
    "derivative_library_of",
    "derivatives_are_cached",
    "efforts_are_cached",
    "projection_is_cached",
    "rolls",
    "select_backend",
]
