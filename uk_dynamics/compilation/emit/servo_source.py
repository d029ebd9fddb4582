"""The whole C source of a servo law: its mechanism, its task rows, and the closed form."""

from __future__ import annotations

import numpy as np

from uk_dynamics.compilation.emit.c_source import number
from uk_dynamics.compilation.emit.generate import declarations, defines, definitions, part, table
from uk_dynamics.compilation.emit.layout import ServoLayout
from uk_dynamics.compilation.emit.pieces import function, places
from uk_dynamics.compilation.trace.terms import SymbolicTerms, trace, trace_tasks
from uk_dynamics.core.linalg import SEARCH_CONSTANTS, tie_handicap
from uk_dynamics.core.servo import MET
from uk_dynamics.mechanism import Tasks

_STATE = ("q", "v", "followed")


def servo_source(tasks: Tasks) -> str:
    """C source of ``uk_servo`` and ``uk_errors``, also as functions of Python."""
    return "\n".join(
        [
            "#include <math.h>\n",
            servo_declarations(tasks),
            servo_definitions(tasks, trace(tasks.mechanism)),
            part("python.c"),
            part("servo_python.c"),
        ]
    )


def servo_declarations(tasks: Tasks) -> str:
    """Sizes and memory."""
    motors, count = len(tasks.mechanism.actuators), len(tasks.constraints)
    sizes = f"#define UK_NU {motors}\n#define UK_MT {count}\n"
    return sizes + declarations(tasks.mechanism, ServoLayout(tasks))


def servo_definitions(tasks: Tasks, structure: SymbolicTerms) -> str:
    """The mechanism and its servo law, with no need but <math.h>."""
    mechanism, rows = tasks.mechanism, trace_tasks(tasks)
    units = mechanism.constraints.reference_scale.tolist()  # per m or rad
    pairs = zip(structure.residual, units, strict=True)
    errors = [x if unit == 1.0 else x * (1.0 / unit) for x, unit in pairs]
    levels = np.unique(tasks.priorities, return_inverse=True)[1].tolist()
    motors, count = len(mechanism.actuators), len(tasks.constraints)
    columns = [
        "{" + ", ".join(map(number, column)) + "}" for column in mechanism.actuators.matrix.T
    ]
    return "\n".join(
        [
            definitions(mechanism, structure, pivoted=True),
            f"#define UK_TASK_RANK_TOLERANCE {number(mechanism.spec.solver.task_rank_tolerance)}",
            *defines({"MET": MET} | SEARCH_CONSTANTS),
            table("double", "uk_task_handicap", tie_handicap(count + 2 * motors)),
            f"static const double uk_motors[][UK_NV] = {{{', '.join(columns)}}};",
            function("uk_task_terms", _STATE, ("A", "bias"), places(A=rows.A, bias=rows.bias)),
            function(
                "uk_task_errors",
                _STATE,
                ("residual", "rate"),
                places(residual=rows.residual, rate=rows.rate),
            ),
            function("uk_closure_errors", _STATE, ("residual",), places(residual=errors)),
            f"#define UK_LEVELS {len(set(levels))}",
            table("int", "uk_level", levels),
            part("row_basis.c"),
            part("servo.c"),
            part("nonnegative.c"),
            part("bounded_search.c"),
            part("allocate.c"),
        ]
    )
