# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Compiler and cache."""

from uk_dynamics.compilation.build.c_header import write as write_c_files
from uk_dynamics.compilation.build.cache import clear, directory
from uk_dynamics.compilation.build.compilable import Subject
from uk_dynamics.compilation.build.compiler import CompilationError
from uk_dynamics.compilation.build.contact_rows import counted, with_contact_rows
from uk_dynamics.compilation.build.export import (
    completion_export,
    derivative_export,
    effort_export,
    servo_export,
    state_export,
)
from uk_dynamics.compilation.build.library import Library, holds_in_c, is_cached, side_by_side
from uk_dynamics.compilation.emit.layout import LoopTables
