# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""C of what motors do, can and are asked for, whatever law asks: of tasks, or of joint space."""

from __future__ import annotations

import numpy as np

from uk_dynamics.compilation.emit.c_source import number
from uk_dynamics.compilation.emit.c_text import header, part, table
from uk_dynamics.compilation.emit.mechanism_functions import parameters
from uk_dynamics.compilation.emit.pieces import function, places
from uk_dynamics.compilation.trace.terms import trace_resistance
from uk_dynamics.core.linalg import tie_handicap
from uk_dynamics.mechanism.resolution import ResolvedMechanism

_RESIST = """
static UK_OPTIONAL void uk_resist(const uk_memory *m, double *tau) {
  uk_resistance(m->t, m->q, m->v UK_P, tau);
}
"""


def motors(mechanism: ResolvedMechanism) -> str:
    """What motors do to the joints."""
    actuators = mechanism.actuators
    columns = ["{" + ", ".join(map(number, column)) + "}" for column in actuators.matrix.T]
    if mechanism.local is not None:  # nearly all are zero
        columns = [
            "{" + ", ".join(f"[{i}] = {number(column[i])}" for i in np.flatnonzero(column)) + "}"
            for column in actuators.matrix.T
        ]
    return header(
        "uk_motors.h",
        '#include "uk_mechanism.h"',
        f"#define UK_NU {len(actuators)}",
        f"static const double uk_motors[][UK_NV] = {{{', '.join(columns) or '{0}'}}};",
    )


def allocation(mechanism: ResolvedMechanism, rows: int) -> list[str]:
    """Which efforts serve up to so many rows, and which of them are within limits."""
    most = rows + 2 * len(mechanism.actuators)  # rows of a basis
    if mechanism.local is None:
        most = max(most, mechanism.model.nv, len(mechanism.constraints))
    return [
        header(
            "uk_allocation.h",
            task_rank(mechanism),
            table("double", "uk_task_handicap", tie_handicap(most)),
        ),
        part("allocate.c"),
    ]


def task_rank(mechanism: ResolvedMechanism) -> str:
    """Below which part of themselves task rows depend on others."""
    tolerance = mechanism.spec.solver.task_rank_tolerance
    return f"#define UK_TASK_RANK_TOLERANCE {number(tolerance)}"


def limits(mechanism: ResolvedMechanism) -> list[str]:
    """Limits of the motors, resistance of the joints, and efforts that cause internal forces."""
    return [
        rate_limits(mechanism),
        part("limits.c"),
        *([] if mechanism.local is not None else _resistance(mechanism)),
    ]


def rate_limits(mechanism: ResolvedMechanism) -> str:
    """Whether motors have limits of the rates of their efforts."""
    limited = np.isfinite(mechanism.actuators.rate_limits).any()
    return header("uk_limits.h", f"#define UK_HAS_RATE_LIMITS {int(limited)}")


def _resistance(mechanism: ResolvedMechanism) -> list[str]:
    """What is written out for each mechanism; clusters have the first in tables."""
    return [
        header(
            "uk_resistance.h",
            '#include "uk_mechanism.h"',
            part("attributes.h"),
            part("sine_and_cosine.h"),
            function(
                "uk_resistance",
                ("q", "v", *parameters(mechanism)),
                ("tau",),
                places(tau=trace_resistance(mechanism)),
            ),
            _RESIST,
        ),
        part("internal.c"),
    ]


def joint_space(mechanism: ResolvedMechanism) -> list[str]:
    """Gravity compensation and hold, and transfers between laws; nothing without motors."""
    if not len(mechanism.actuators):
        return []
    if mechanism.local is not None:  # transfers alone: there are too many motions to hold
        return [*limits(mechanism), part("transfer.c")]
    return [
        "/* optimized further, it would take most of the compiler's time */",
        "#if defined(__GNUC__) && !defined(__clang__)",
        "#pragma GCC push_options",
        '#pragma GCC optimize ("O1")',
        "#endif",
        header("uk_sizes.h", "#define UK_MT UK_NV /* most motions that the structure admits */"),
        *allocation(mechanism, mechanism.model.nv),
        *limits(mechanism),
        *map(part, ("joint_space.c", "transfer.c")),
        "#if defined(__GNUC__) && !defined(__clang__)",
        "#pragma GCC pop_options",
        "#endif",
    ]
