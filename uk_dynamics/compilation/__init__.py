# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism as C: its terms traced through symbols, compiled once, kept in the user's cache."""

from uk_dynamics.compilation.build.compilable import Subject
from uk_dynamics.compilation.build.library import Library, announce, is_cached, library_of
from uk_dynamics.compilation.compiled_derivatives import (
    LEFT_TO_PYTHON,
    CompiledDerivatives,
    CompiledStates,
    States,
)
from uk_dynamics.compilation.emit.layout import LimitsLayout, rolls
from uk_dynamics.compilation.select_backend import (
    Selection,
    choose,
    chosen,
    select_backend,
    shared_backend,
)
