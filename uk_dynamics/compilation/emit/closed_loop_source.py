# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The whole C source of batches of closed loops: a mechanism, and perhaps the law of its tasks."""

from uk_dynamics.compilation.emit.c_source import LANES
from uk_dynamics.compilation.emit.c_text import header, joined, part
from uk_dynamics.compilation.emit.generate import (
    batch_declarations,
    batch_definitions,
    closing,
    declarations,
    effort_limits,
    jumps,
)
from uk_dynamics.compilation.emit.layout import ServoLayout
from uk_dynamics.compilation.emit.mechanism_functions import admissible_function
from uk_dynamics.compilation.emit.motor_source import motors, task_rank
from uk_dynamics.compilation.emit.robust_source import (
    as_rows,
    correction_definitions,
    robust_definitions,
    uncertain_rows,
)
from uk_dynamics.compilation.emit.servo_source import (
    control_period,
    distribution,
    servo_declarations,
    servo_definitions,
    task_rows,
)
from uk_dynamics.compilation.trace.terms import trace, trace_tasks
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import ResolvedMechanism

#: Statements of a mechanism that are more than the nearest cache for instructions holds.
_LONG = 8000


def closed_loop_source(subject: Tasks | ResolvedMechanism) -> str:
    """C source of ``uk_move_loops``; of a mechanism alone, laws of any kind are asked in turn."""
    tasks = subject if isinstance(subject, Tasks) else None
    mechanism = subject.mechanism if isinstance(subject, Tasks) else subject
    definitions = batch_definitions(mechanism)
    statements = definitions.count(f"  const {LANES.real} x")
    return joined(
        "#define UK_OF_BATCHES UK_OPTIONAL static",
        declarations(mechanism) if tasks is None else servo_declarations(tasks),
        batch_declarations(mechanism),
        part("closed_loops.h"),
        definitions,
        motors(mechanism),
        effort_limits(mechanism),
        _choices(long=statements > _LONG, in_lanes=tasks is not None),
        *([header("uk_law.h")] if tasks is None else _law(tasks)),
        part("closed_loops.c"),
    )


def closed_loop_kernel_source(tasks: Tasks) -> str:
    """C source of closed loops for a state a thread, which has the whole law of one state."""
    mechanism = tasks.mechanism
    return joined(
        "#define UK_WHOLE_LAW",
        servo_declarations(tasks),
        part("batch.h"),
        part("closed_loops.h"),
        servo_definitions(tasks, trace(mechanism), pivoted=False),
        *closing(mechanism),
        jumps(mechanism),
        effort_limits(mechanism),
        _choices(law="uk_control", flags="UK_FLAGS"),
        header("uk_law.h"),
        part("closed_loops.c"),
    )


def _choices(
    *, long: bool = False, in_lanes: bool = False, law: str = "(c)->law", flags: str = "(c)->flags"
) -> str:
    """Whether code is long, and what the law is."""
    return header(
        "uk_closed_loops.h",
        f"#define UK_LONG {int(long)}",
        f"#define UK_LAW_IN_LANES {int(in_lanes)}",
        f"#define UK_LAW_OF(c) {law} /* of one state */",
        f"#define UK_FLAGS_OF(c) {flags}",
    )


def _law(tasks: Tasks) -> list[str]:
    """The servo law of tasks."""
    mechanism, rows, layout = tasks.mechanism, trace_tasks(tasks), ServoLayout(tasks)
    lists = {  # fields of a controller's memory, and their sizes
        "UK_SETTINGS": layout.settings,
        "UK_REMEMBERED": layout.remembered,
        "UK_DECIDED": ("efforts", "map", "wanted"),
    }
    fields = (*layout.settings, *layout.remembered, *layout.computed)
    return [
        header("uk_allocation.h", task_rank(mechanism)),
        task_rows(
            tasks,
            part("evaluate.c"),
            admissible_function(
                mechanism, trace(mechanism), rows.A, as_rows(uncertain_rows(tasks))
            ),
        ),
        header(
            "uk_lanes_law.h",
            '#include "uk_lanes.h"',
            layout.c_struct("uk_lanes_law", LANES.real, fields),
            *(
                f"#define {name}(DO) "
                + " ".join(f"DO({field}, {layout.fields[field].count})" for field in fields)
                for name, fields in lists.items()
            ),
        ),
        distribution(tasks),
        correction_definitions(tasks),
        robust_definitions(tasks),
        header("uk_admissible.h", part("admissible.c")),
        part("robust.c"),  # before periods, which include it for one state alone
        *control_period(tasks),
        header("uk_law.h", part("law_lanes.c")),
    ]
