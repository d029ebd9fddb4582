# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The whole C source of closed loops in lanes: a mechanism, and perhaps the law of its tasks."""

from __future__ import annotations

import numpy as np

from uk_dynamics.compilation.emit.c_source import LANES
from uk_dynamics.compilation.emit.c_text import header, part, table
from uk_dynamics.compilation.emit.generate import (
    batch_declarations,
    batch_definitions,
    configuration,
    declarations,
    effort_limits,
    following,
)
from uk_dynamics.compilation.emit.layout import ServoLayout
from uk_dynamics.compilation.emit.mechanism_functions import admissible_function, parameters
from uk_dynamics.compilation.emit.motor_source import (
    bounds_functions,
    motor_limits,
    motors,
    period_steps,
    task_rank,
)
from uk_dynamics.compilation.emit.pieces import function, places
from uk_dynamics.compilation.emit.servo_source import (
    distribution,
    servo_declarations,
    shares,
    task_kinds,
)
from uk_dynamics.compilation.trace.sparse_vectors import is_zero
from uk_dynamics.compilation.trace.terms import trace, trace_resistance, trace_tasks
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import ResolvedMechanism

#: Statements of a mechanism that are more than the nearest cache for instructions holds.
_LONG = 8000


def crowd_source(subject: Tasks | ResolvedMechanism) -> str:
    """C source of ``uk_move_crowd``; of a mechanism alone, laws of any kind are asked in turn."""
    tasks = subject if isinstance(subject, Tasks) else None
    mechanism = subject.mechanism if isinstance(subject, Tasks) else subject
    followed = 3 * max(
        1, len(mechanism.constraints), 0 if tasks is None else len(tasks.constraints)
    )
    definitions = batch_definitions(mechanism)
    statements = definitions.count(f"  const {LANES.real} x")
    return "\n".join(
        [
            "#define UK_OF_BATCHES UK_OPTIONAL static",
            declarations(mechanism) if tasks is None else servo_declarations(tasks),
            batch_declarations(mechanism),
            part("crowd.h"),
            definitions,
            motors(mechanism),
            effort_limits(mechanism),
            following(mechanism),
            header(
                "uk_closed_loops.h",
                f"#define UK_LONG {int(statements > _LONG)}",
                f"#define UK_MOST_FOLLOWED {followed}",
                f"#define UK_LAW_IN_LANES {int(tasks is not None)}",
                *_drives(mechanism),
                *(() if tasks is None else _gathered(ServoLayout(tasks))),
            ),
            "" if tasks is None else _law(tasks),
            header("uk_law.h", "" if tasks is None else part("crowd_law.c")),
            part("crowd.c"),
        ]
    )


def _gathered(layout: ServoLayout) -> list[str]:
    """Settings and memory of ``uk_control``: fields of a controller's memory, and their sizes."""
    lists = {"UK_SETTINGS": layout.settings, "UK_REMEMBERED": layout.remembered}
    return [
        f"#define {name}(DO) "
        + " ".join(f"DO({field}, {layout.fields[field].count})" for field in fields)
        for name, fields in lists.items()
    ]


def _drives(mechanism: ResolvedMechanism) -> list[str]:
    """Motors and the joints that they drive: nearly all pairs of them have nothing in common."""
    matrix = mechanism.actuators.matrix
    motor, joint = np.nonzero(matrix.T)
    return [
        f"#define UK_DRIVES {len(motor)}",
        table("int", "uk_drive_motor", motor),
        table("int", "uk_drive_joint", joint),
        table("double", "uk_drive_ratio", matrix[joint, motor]),
    ]


def _law(tasks: Tasks) -> str:
    """The servo law of tasks."""
    mechanism, rows = tasks.mechanism, trace_tasks(tasks)
    given = parameters(mechanism)
    state = ("q", "v", "followed", *given)
    support = [[i for i, x in enumerate(row) if not is_zero(x)] for row in rows.A]
    errors = places(residual=rows.residual, rate=rows.rate)
    lanes = [
        *bounds_functions(LANES),
        *period_steps(LANES),
        *shares(tasks, LANES),
        table("int", "uk_task_support_start", np.cumsum([0, *map(len, support)])),
        table("int", "uk_task_support", [i for row in support for i in row]),
        function(
            "uk_lanes_task_terms",
            state,
            ("A", "bias"),
            [x for x in places(A=rows.A) if not is_zero(x[1])] + places(bias=rows.bias),
            LANES,
        ),
        admissible_function(mechanism, trace(mechanism), rows.A, LANES),
        function("uk_lanes_task_errors", state, ("residual", "rate"), errors, LANES),
        function(
            "uk_lanes_resistance",
            ("q", "v", *given),
            ("tau",),
            places(tau=trace_resistance(mechanism)),
            LANES,
        ),
    ]
    return "\n".join(
        [
            header("uk_allocation.h", task_rank(mechanism)),
            motor_limits(),
            task_kinds(tasks, "#define UK_STEPS_ALONE"),
            header("uk_lanes_task_rows.h", part("evaluate_lanes.c"), *lanes),
            distribution(tasks),
            configuration(mechanism),
        ]
    )
