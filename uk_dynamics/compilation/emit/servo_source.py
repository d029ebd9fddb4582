# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The whole C source of a servo law: its mechanism, its task rows, and the closed form."""

from collections.abc import Mapping

import numpy as np

from uk_dynamics.compilation.derivatives.equation_derivatives import equation_derivatives
from uk_dynamics.compilation.derivatives.task_derivatives import SETTINGS, task_derivatives
from uk_dynamics.compilation.emit.c_source import LANES
from uk_dynamics.compilation.emit.c_text import defines, header, joined, lists, part, table
from uk_dynamics.compilation.emit.derivative_source import equation_definitions, in_rows
from uk_dynamics.compilation.emit.functions import function, places, rule
from uk_dynamics.compilation.emit.generate import closing, declarations, definitions, following
from uk_dynamics.compilation.emit.layout import EffortLayout, ServoLayout, integrates
from uk_dynamics.compilation.emit.mechanism_functions import admissible_function, parameters
from uk_dynamics.compilation.emit.motor_source import (
    allocation,
    contact_share_rule,
    limits,
    motors,
    period_steps,
)
from uk_dynamics.compilation.emit.robust_source import (
    as_rows,
    correction_definitions,
    observer_start,
    robust_definitions,
    robust_start,
    uncertain_rows,
)
from uk_dynamics.compilation.trace.sparse_vectors import is_zero
from uk_dynamics.compilation.trace.terms import SymbolicTerms, trace, trace_tasks
from uk_dynamics.core.servo import LIMITS, Known
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import Array

_RESIDUALS = """
static UK_OPTIONAL void uk_residuals(const uk_memory *m, double *residual) {
  uk_closure_errors(m->t, m->q, m->v, UK_FOLLOWED UK_P, residual);
}
"""


def servo_source(tasks: Tasks) -> str:
    """C source of ``uk_servo``, ``uk_errors`` and ``uk_control``."""
    return "\n".join([servo_declarations(tasks), servo_definitions(tasks, trace(tasks.mechanism))])


def servo_declarations(tasks: Tasks) -> str:
    """Sizes and memory."""
    sizes = defines(
        {
            "NU": len(tasks.mechanism.actuators),
            "MT": len(tasks.constraints),
            "CONTACT_ROWS": tasks.spec.contact_rows,
            "BOUNDED": bounded_rows(tasks),
        }
    )
    memory = declarations(tasks.mechanism, ServoLayout(tasks))
    return header("uk_sizes.h", *sizes) + memory + part("control_period.h")


def servo_definitions(tasks: Tasks, structure: SymbolicTerms, *, pivoted: bool = True) -> str:
    """The mechanism and its servo law, with no need but <math.h>."""
    mechanism, rows = tasks.mechanism, trace_tasks(tasks)
    return joined(
        definitions(mechanism, structure, pivoted=pivoted),
        *_law(
            tasks,
            structure,
            admissible_function(mechanism, structure, rows.A, as_rows(uncertain_rows(tasks))),
        ),
        *(control_period(tasks) if integrates(mechanism) else ()),
    )


def _law(tasks: Tasks, structure: SymbolicTerms, admissible: str) -> list[str]:
    """The servo law of one state behind its mechanism."""
    mechanism = tasks.mechanism
    units = mechanism.constraints.reference_scale.tolist()  # per m or rad
    pairs = zip(structure.residual, units, strict=True)
    errors = [x if unit == 1.0 else x * (1.0 / unit) for x, unit in pairs]
    given = ("q", "v", "followed", *parameters(mechanism))
    residuals = function("uk_closure_errors", given, ("residual",), places(residual=errors), LANES)
    return [
        motors(mechanism, tasks.spec.contact_rows),
        task_rows(tasks, part("evaluate.c"), admissible, residuals + _RESIDUALS if errors else ""),
        header("uk_lanes_law.h", '#include "uk_mechanism.h"', "typedef uk_memory uk_lanes_law;"),
        *allocation(mechanism, len(tasks.constraints), bounded_rows(tasks)),
        distribution(tasks),
        correction_definitions(tasks),
        robust_definitions(tasks),
        header("uk_admissible.h", part("admissible.c")),
        part("pivoted_law.c"),
    ]


def task_rows(tasks: Tasks, *more: str) -> str:
    """Rows of the tasks, by what is more, and which of them come first."""
    rows = trace_tasks(tasks)
    given = ("q", "v", "followed", *parameters(tasks.mechanism))
    support = [[i for i, x in enumerate(row) if not is_zero(x)] for row in rows.A]
    # the memory has the zeros
    terms = [place for place in places(A=rows.A) if not is_zero(place[1])] + places(bias=rows.bias)
    errors = places(residual=rows.residual, rate=rows.rate)
    levels = np.unique(tasks.priorities, return_inverse=True)[1].tolist()
    return header(
        "uk_task_rows.h",
        '#include "uk_lanes.h"',
        part("attributes.h"),
        more[0],
        *lists("uk_task_support", support),
        function("uk_lanes_task_terms", given, ("A", "bias"), terms, LANES),
        function("uk_lanes_task_errors", given, ("residual", "rate"), errors, LANES),
        *more[1:],
        f"#define UK_LEVELS {len(set(levels))}",
        table("int", "uk_level", levels),
    )


def effort_source(tasks: Tasks) -> str:
    """C source of ``uk_effort_derivatives`` and ``uk_effort_derivatives_batch``."""
    return "\n".join([effort_declarations(tasks), effort_definitions(tasks)])


def effort_declarations(tasks: Tasks) -> str:
    """Sizes and memory."""
    layout = EffortLayout(tasks)
    sizes = {"NU": layout.motors, "MT": layout.task_rows, "CONTACT_ROWS": 0, "BOUNDED": 0}
    sizes |= {"EFFORT_COLUMNS": layout.columns}
    columns = {"DIRECTIONS": layout.directions, "STRIDE": layout.stride}
    columns |= {"EFFORT_STRIDE": layout.effort_stride}
    memory = header("uk_columns.h", *defines(columns)) + declarations(tasks.mechanism, layout)
    return header("uk_sizes.h", *defines(sizes)) + memory + part("effort_derivatives.h")


def effort_definitions(tasks: Tasks) -> str:
    """The law and the derivatives of its efforts, of a mechanism that varies no parameters."""
    mechanism, structure = tasks.mechanism, trace(tasks.mechanism)
    traced = task_derivatives(tasks)
    targets = in_rows(EffortLayout(tasks).effort_stride)
    given = ("q", "v", "followed", "qdd", "multipliers", "efforts", *SETTINGS)
    settings = ", ".join(f"m->{name}" for name in SETTINGS.values())
    derivatives = [x for name, rows in traced._asdict().items() for x in targets(name, rows)]
    return joined(
        definitions(mechanism, structure, pivoted=True),
        header("uk_motions.h", "#define UK_MOTIONS 0 /* rows are pivoted */"),
        *_law(tasks, structure, "#define UK_ADMISSIBLE 0"),
        *equation_definitions(mechanism, equation_derivatives(mechanism)),
        *closing(mechanism),
        header(
            "uk_task_derivatives.h",
            '#include "uk_lanes.h"',
            f"#define UK_EFFORT_SETTINGS {settings}",
            function("uk_task_derivatives", given, traced._fields, derivatives),
        ),
        following(mechanism),
        part("effort_derivatives.c"),
    )


def distribution(tasks: Tasks) -> str:
    """What is least where efforts are free."""
    by_motion = tasks.by_generalized_inverse.astype(int).tolist()
    return header(
        "uk_distribution.h",
        f"#define UK_GAUSS {int(tasks.spec.distribution == 'gauss')}",
        f"#define UK_BY_MOTION {int(any(by_motion))}",
        *([table("int", "uk_by_motion", by_motion)] if any(by_motion) else ()),
        f"#define UK_RELAXED {int(tasks.relaxes)}",
        *_sides(tasks),
        *_shares(tasks),
    )


def bounded_rows(tasks: Tasks) -> int:
    """Number of rows that are bounded."""
    return 0 if tasks.side is None else int(np.count_nonzero(tasks.side))


def _sides(tasks: Tasks) -> list[str]:
    """Which rows are bounded, and what that makes of others."""
    told = {"EQUAL(r)": "1.0", "WITHIN(r, left)": "0", "SIDE": "NULL"}
    if tasks.side is not None:
        told = {"EQUAL(r)": "(uk_side[r] == 0.0)", "SIDE": "uk_side"}
        told["WITHIN(r, left)"] = "(uk_side[r] * (left) < 0.0)"
    names = [f"#define UK_{name} {value}" for name, value in told.items()]
    return names if tasks.side is None else [*names, table("double", "uk_side", tasks.side)]


def _shares(tasks: Tasks) -> list[str]:
    """What part of their demands tasks have; nothing where all have all of them."""
    if not tasks.relaxes:
        return []
    return [rule("uk_lanes_task_share", {"q": tasks.model.nq}, "share", tasks.share)]


def control_period(tasks: Tasks) -> list[str]:
    """All steps from a measured state to efforts within limits."""
    return [
        following(tasks.mechanism),
        *limits(tasks.mechanism),
        header(
            "uk_task_kinds.h",
            '#include "uk_lanes.h"',
            part("attributes.h"),
            table("double", "uk_task_position", tasks.constraints.position_rows),
            table("double", "uk_task_motion", tasks.constraints.motion_rows),
            *period_steps(),
        ),
        *([contact_share_rule(len(tasks.spec.contacts))] if tasks.spec.contact_rows else ()),
        part("control_period.c"),
    ]


def control_start(tasks: Tasks, known: Known | None = None) -> str:
    """``uk_control_start``: settings of the files, for programs without ours."""
    limits = {"limits": tasks.mechanism.actuators.limits.ravel()}
    return (
        "/* Settings of the files into a memory of zeros; period in s. */\n"
        "UK_EXPORT void uk_control_start(uk_memory *m, double period) {\n"
        f"{_settings(tasks, limits)}"
        "  m->period = period, m->friction = 1.0;\n"
        f"{robust_start(tasks, known)}{observer_start(tasks)}"
        f"  {table('int', 'order', LIMITS.values())}\n"
        "  for (int k = 0; k < UK_LIMITS * UK_MOTORS; ++k)\n"
        "    for (int i = 0; i < order[k / UK_MOTORS]; ++i) m->limits[k] *= period;\n"
        "  uk_control_reset(m, NULL);\n}\n"
    )


def effort_start(tasks: Tasks) -> str:
    """``uk_effort_start``, likewise."""
    return (
        "/* Settings of the files into a memory of zeros; no limits. */\n"
        "UK_EXPORT void uk_effort_start(uk_memory *m) {\n"
        f"{_settings(tasks, {})}"
        "  m->stabilize = 1.0;\n"
        "  for (int j = 0; j < UK_NU; ++j) m->upper[j] = INFINITY, m->lower[j] = -INFINITY;\n}\n"
    )


def _settings(tasks: Tasks, others: Mapping[str, Array]) -> str:
    """Statements that fill fields of the memory."""
    mechanism, constraints, allocation = tasks.mechanism, tasks.constraints, tasks.allocation
    motors, standing = len(mechanism.actuators), tasks.standing
    of_contacts = np.zeros(0 if standing is None else len(standing.damping))
    values = {
        "active": mechanism.hierarchy.acting(),
        "weights": allocation.weights,
        "preload": np.zeros(motors) if allocation.preload is None else allocation.preload,
        "task_damping": np.append(of_contacts, constraints.damping),
        "task_stiffness": np.append(of_contacts, constraints.stiffness),
        **({} if standing is None else standing.settings),
        **others,
    }
    given = {name: x for name, x in values.items() if len(x)}
    tables = (f"  {table('double', name, x)}\n" for name, x in given.items())
    copies = (f"  memcpy(&m->{name}, {name}, sizeof {name});\n" for name in given)
    return "".join([*tables, *copies])
