# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""C of what motors do, can and are asked for, whatever law asks: of tasks, or of joint space."""

import numpy as np

from uk_dynamics.compilation.emit.c_source import LANES, number
from uk_dynamics.compilation.emit.c_text import defines, header, part, table
from uk_dynamics.compilation.emit.functions import Shapes, function, ones, places, rule
from uk_dynamics.compilation.emit.layout import JointSpaceLayout, TransferLayout
from uk_dynamics.compilation.emit.mechanism_functions import parameters
from uk_dynamics.compilation.trace.terms import trace_resistance
from uk_dynamics.core.linalg import tie_handicap
from uk_dynamics.core.servo import (
    LIMITS,
    PAST,
    POWERS,
    STOOD,
    Measurement,
    along_path,
    effort_bounds,
    faded,
    measurement,
    passage,
    path_to_rest,
    planned_share,
    predicted,
    remembered,
    standing_step,
)
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism

_RESIST = """
static UK_OPTIONAL void uk_resist(const uk_lanes_memory *m, uk_lanes *tau) {
  uk_lanes_resistance(m->t, m->q, m->v UK_P, tau);
}
"""


def motors(mechanism: ResolvedMechanism, of_contacts: int = 0) -> str:
    """What motors do to the joints: as columns, and as pairs of motors and joints they drive.

    So many at the end are forces of contacts.
    """
    actuators = mechanism.actuators
    motor, joint = np.nonzero(actuators.matrix.T)
    columns = ["{" + ", ".join(map(number, column)) + "}" for column in actuators.matrix.T]
    if mechanism.local is not None:  # nearly all are zero
        columns = [
            "{" + ", ".join(f"[{i}] = {number(column[i])}" for i in np.flatnonzero(column)) + "}"
            for column in actuators.matrix.T
        ]
    parts = [
        f"static const double uk_motors[][UK_NV] = {{{', '.join(columns) or '{0}'}}};",
        table("int", "uk_drive_motor", motor),
        table("int", "uk_drive_joint", joint),
        table("double", "uk_drive_ratio", actuators.matrix[joint, motor]),
    ]
    return header(
        "uk_motors.h",
        '#include "uk_mechanism.h"',
        part("attributes.h"),
        f"#define UK_NU {len(actuators)}",
        f"#define UK_MOTORS {len(actuators) - of_contacts} /* the others are forces of contacts */",
        f"#define UK_SOME_MOTORS {max(1, len(actuators))} /* C knows no empty arrays */",
        f"#define UK_DRIVES {len(motor)}",
        *(f"UK_OPTIONAL {x}" for x in parts),
    )


def allocation(mechanism: ResolvedMechanism, rows: int, bounded: int = 0) -> list[str]:
    """Which efforts serve up to so many rows, some of them bounded, and which are within limits."""
    most = rows + 2 * (len(mechanism.actuators) + bounded)  # rows of a basis
    if mechanism.local is None:
        most = max(most, mechanism.model.nv, len(mechanism.constraints))
    return [
        header(
            "uk_allocation.h",
            task_rank(mechanism),
            table("double", "uk_task_handicap", tie_handicap(most)),
        ),
        part("limited_allocation.c"),
    ]


def task_rank(mechanism: ResolvedMechanism) -> str:
    """Below which part of themselves task rows depend on others."""
    tolerance = mechanism.spec.solver.task_rank_tolerance
    return f"#define UK_TASK_RANK_TOLERANCE {number(tolerance)}"


def limits(mechanism: ResolvedMechanism) -> list[str]:
    """Limits of the motors, resistance of the joints, and efforts that cause internal forces."""
    return [
        header("uk_limits.h", '#include "uk_lanes.h"', part("attributes.h"), *bounds_functions()),
        part("limits.c"),
        resistance(mechanism),
    ]


def bounds_functions() -> list[str]:
    """The rule of :func:`effort_bounds` for one motor, and what it remembers."""
    motor: Shapes = {"limits": (len(LIMITS), 1), "past": (PAST, 1)} | ones("known", "now", "later")
    state: Shapes = {"past": (PAST, 1), "known": 1, "effort": 1}
    return [
        rule("uk_lanes_effort_bounds", motor, "bounds", effort_bounds),
        rule("uk_lanes_remembered", state, "left", remembered),
    ]


def period_steps() -> list[str]:
    """The rules of :mod:`period_steps` for one joint and for one task row."""
    instant = ones("past_known", "past_t", "known", "t", "period")
    place = ones("rank", "regular", "held", "known", "period")
    joint: Shapes = {"told": (4, 1), **ones("v", "past_v", "qdd", "ahead")}
    row = ones("error", "rate", "position", "duration")
    path: Shapes = {"path": (POWERS, 1), **ones("position", "now", "ahead", "duration")}

    def seen(told: Array, *motion: Array) -> Array:
        return predicted(Measurement(*told), *motion)

    return [
        rule("uk_lanes_measurement", instant, "told", measurement),
        rule("uk_lanes_predicted", joint, "seen", seen),
        rule("uk_lanes_passage", place, "left", passage),
        rule("uk_lanes_path_to_rest", row, "path", path_to_rest),
        rule("uk_lanes_along_path", path, "along", along_path),
    ]


def contact_share_rule(entries: int) -> str:
    """When contacts stand, by the rules of :mod:`contact_share_rule` for one entry."""
    step = ones("t", "planned", "detected", "closed", "begun", "ramp")
    return header(
        "uk_standing.h",
        '#include "uk_lanes.h"',
        part("attributes.h"),
        f"#define UK_ENTRIES {entries}",
        rule("uk_planned_share", ones("t", "begin", "end", "ramp"), "share", planned_share),
        rule("uk_standing_step", step | {"past": (STOOD, 1)}, "left", standing_step),
    )


def transfers(mechanism: ResolvedMechanism) -> list[str]:
    """Transfers between laws, by the rule of :func:`faded` for one motor; nothing without any."""
    motors = len(mechanism.actuators)
    if not motors:
        return []
    step = rule("uk_lanes_faded", ones("effort", "offset", "s", "lower", "upper"), "faded", faded)
    return [
        *limits(mechanism),
        header("uk_fading.h", '#include "uk_lanes.h"', part("attributes.h"), step),
        header("uk_transfer_memory.h", TransferLayout(motors).c_struct("uk_transfer_memory")),
        part("transfer.c"),
    ]


def resistance(mechanism: ResolvedMechanism) -> str:
    """Resistance of the joints, written out for each mechanism; clusters have it in tables."""
    if mechanism.local is not None:
        return header("uk_resistance.h", part("cluster_memory.c"))
    return header(
        "uk_resistance.h",
        part("fundamental_equation.c"),
        part("attributes.h"),
        function(
            "uk_lanes_resistance",
            ("q", "v", *parameters(mechanism)),
            ("tau",),
            places(tau=trace_resistance(mechanism)),
            LANES,
        ),
        _RESIST,
    )


def joint_space(mechanism: ResolvedMechanism) -> list[str]:
    """Gravity compensation and hold."""
    layout = JointSpaceLayout(mechanism)
    return [
        header(
            "uk_sizes.h",
            "#define UK_MT UK_NV /* most motions that the structure admits */",
            *defines({"CONTACT_ROWS": 0, "BOUNDED": 0}),
        ),
        *allocation(mechanism, mechanism.model.nv),
        *limits(mechanism),
        header("uk_joint_space_memory.h", layout.c_struct("uk_joint_space_memory")),
        part("joint_space.c"),
    ]
