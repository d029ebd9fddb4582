"""Compiler and cache."""

from uk_dynamics.compilation.build.cache import directory
from uk_dynamics.compilation.build.cache_policy import clear
from uk_dynamics.compilation.build.compiler import CompilationError, end_compilers
from uk_dynamics.compilation.build.export import export
from uk_dynamics.compilation.build.library import (
    batch_library_of,
    is_cached,
    library_of,
    servo_library_of,
)

__all__ = [
    "CompilationError",
    "batch_library_of",
    "clear",
    "directory",
    "end_compilers",
    "export",
    "is_cached",
    "library_of",
    "servo_library_of",
]
