"""The whole C source of a servo law: its mechanism, its task rows, and the closed form."""

from __future__ import annotations

import numpy as np

from uk_dynamics.compilation.emit.c_source import number
from uk_dynamics.compilation.emit.generate import (
    declarations,
    defines,
    definitions,
    following,
    motors,
    part,
    table,
)
from uk_dynamics.compilation.emit.layout import ServoLayout, integrates
from uk_dynamics.compilation.emit.mechanism_functions import parameters
from uk_dynamics.compilation.emit.pieces import function, places
from uk_dynamics.compilation.trace.terms import (
    SymbolicTerms,
    trace,
    trace_resistance,
    trace_tasks,
)
from uk_dynamics.core.linalg import SEARCH_CONSTANTS, tie_handicap
from uk_dynamics.core.servo import CONTROL_CONSTANTS, MET
from uk_dynamics.mechanism import Tasks


def servo_source(tasks: Tasks) -> str:
    """C source of ``uk_servo`` and ``uk_errors``, also as functions of Python."""
    return "\n".join(
        [
            "#include <math.h>\n",
            servo_declarations(tasks),
            servo_definitions(tasks, trace(tasks.mechanism)),
            part("python_arrays.c"),
            part("python.c"),
            part("servo_python.c"),
        ]
    )


def servo_declarations(tasks: Tasks) -> str:
    """Sizes and memory."""
    sizes = (
        f"#define UK_NU {len(tasks.mechanism.actuators)}\n#define UK_MT {len(tasks.constraints)}\n"
    )
    memory = declarations(tasks.mechanism, ServoLayout(tasks))
    return f"{sizes}{memory}\n{part('control_period.h')}"


def servo_definitions(tasks: Tasks, structure: SymbolicTerms) -> str:
    """The mechanism and its servo law, with no need but <math.h>."""
    mechanism, rows = tasks.mechanism, trace_tasks(tasks)
    units = mechanism.constraints.reference_scale.tolist()  # per m or rad
    pairs = zip(structure.residual, units, strict=True)
    errors = [x if unit == 1.0 else x * (1.0 / unit) for x, unit in pairs]
    levels = np.unique(tasks.priorities, return_inverse=True)[1].tolist()
    state = ("q", "v", "followed", *parameters(mechanism))
    count = len(tasks.constraints)
    longest = count + 2 * len(mechanism.actuators)  # rows of a basis
    return "\n".join(
        [
            definitions(mechanism, structure, pivoted=True),
            f"#define UK_TASK_RANK_TOLERANCE {number(mechanism.spec.solver.task_rank_tolerance)}",
            *defines({"MET": MET} | SEARCH_CONSTANTS),
            table("double", "uk_task_handicap", tie_handicap(longest)),
            *motors(mechanism),
            function("uk_task_terms", state, ("A", "bias"), places(A=rows.A, bias=rows.bias)),
            function(
                "uk_task_errors",
                state,
                ("residual", "rate"),
                places(residual=rows.residual, rate=rows.rate),
            ),
            function("uk_closure_errors", state, ("residual",), places(residual=errors)),
            f"#define UK_LEVELS {len(set(levels))}",
            table("int", "uk_level", levels),
            part("row_basis.c"),
            part("servo.c"),
            part("nonnegative.c"),
            part("bounded_search.c"),
            part("allocate.c"),
            *(_control_period(tasks) if integrates(mechanism) else ()),
        ]
    )


def _control_period(tasks: Tasks) -> list[str]:
    """All steps from a measured state to efforts within limits."""
    mechanism, constraints = tasks.mechanism, tasks.constraints
    return [
        *following(mechanism),
        *defines(CONTROL_CONSTANTS),
        f"#define UK_HAS_RATE_LIMITS {int(np.isfinite(mechanism.actuators.rate_limits).any())}",
        table("double", "uk_task_position", constraints.position_rows),
        table("double", "uk_task_motion", constraints.motion_rows),
        function(
            "uk_resistance",
            ("q", "v", *parameters(mechanism)),
            ("tau",),
            places(tau=trace_resistance(mechanism)),
        ),
        part("control_period.c"),
    ]
