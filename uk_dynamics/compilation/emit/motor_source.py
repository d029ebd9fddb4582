# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""C of what motors do, can and are asked for, whatever law asks: of tasks, or of joint space."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from uk_dynamics.compilation.emit.c_source import LANES, number
from uk_dynamics.compilation.emit.c_text import defines, header, part, table
from uk_dynamics.compilation.emit.layout import JointSpaceLayout, TransferLayout
from uk_dynamics.compilation.emit.mechanism_functions import parameters
from uk_dynamics.compilation.emit.pieces import function, places
from uk_dynamics.compilation.trace.symbols import Graph
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
        part("allocate.c"),
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
    graph = Graph()
    numbers = {"limits": len(LIMITS), "past": PAST, "known": 1, "speed": 1}
    limits, past, known, speed = (graph.variables(*one) for one in numbers.items())
    motor = limits[:, None], past[:, None], known
    efforts = graph.variables("effort", 1)
    bounds = places(bounds=np.concatenate(effort_bounds(*motor, speed)))
    left = places(left=remembered(*motor[1:], efforts))
    state = ("past", "known", "effort")
    return [
        function("uk_lanes_effort_bounds", tuple(numbers), ("bounds",), bounds, LANES, ()),
        function("uk_lanes_remembered", state, ("left",), left, LANES, ()),
    ]


def period_steps() -> list[str]:
    """The rules of :mod:`period_steps` for one joint and for one task row."""
    graph = Graph()

    def of(**sizes: int) -> list[Any]:
        return [graph.variables(*one) for one in sizes.items()]

    def written(step: str, given: Sequence[str], **result: Array) -> str:
        targets = places(**{x: value.ravel() for x, value in result.items()})
        return function(f"uk_lanes_{step}", given, tuple(result), targets, LANES, ())

    instant = dict.fromkeys(("past_known", "past_t", "known", "t", "period"), 1)
    place = dict.fromkeys(("rank", "regular", "held", "known", "period"), 1)
    told = Measurement(*graph.variables("told", 4)[:, None])
    joint = dict.fromkeys(("v", "past_v", "qdd", "ahead"), 1)
    row = dict.fromkeys(("error", "rate", "position", "duration"), 1)
    times = dict.fromkeys(("position", "now", "ahead", "duration"), 1)
    path = graph.variables("path", POWERS)[:, None]
    return [
        written("measurement", tuple(instant), told=np.stack(measurement(*of(**instant)))),
        written("predicted", ("told", *joint), seen=predicted(told, *of(**joint))),
        written("passage", tuple(place), left=passage(*of(**place))),
        written("path_to_rest", tuple(row), path=path_to_rest(*of(**row))),
        written("along_path", ("path", *times), along=along_path(path, *of(**times))),
    ]


def standing_rule(entries: int) -> str:
    """When contacts stand, by the rules of :mod:`standing_rule` for one entry."""
    graph = Graph()
    plan = dict.fromkeys(("t", "begin", "end", "ramp"), 1)
    step = dict.fromkeys(("t", "planned", "detected", "closed", "begun", "ramp"), 1)
    past = graph.variables("past", STOOD)[:, None]
    share = planned_share(*(graph.variables(*one) for one in plan.items()))
    given = {name: graph.variables(name, 1) for name in step}
    left = standing_step(**given, past=past)
    return header(
        "uk_standing.h",
        '#include "uk_lanes.h"',
        part("attributes.h"),
        f"#define UK_ENTRIES {entries}",
        function("uk_planned_share", tuple(plan), ("share",), places(share=share), LANES, ()),
        function(
            "uk_standing_step", (*step, "past"), ("left",), places(left=left.ravel()), LANES, ()
        ),
    )


def _transfer(mechanism: ResolvedMechanism) -> list[str]:
    """Transfers between laws, with the rule of :func:`faded` for one motor."""
    graph, given = Graph(), ("effort", "offset", "s", "lower", "upper")
    motors = len(mechanism.actuators)
    left = places(faded=faded(*(graph.variables(name, 1) for name in given)))
    rule = function("uk_lanes_faded", given, ("faded",), left, LANES, ())
    return [
        header("uk_fading.h", '#include "uk_lanes.h"', part("attributes.h"), rule),
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
    """Gravity compensation and hold, and transfers between laws; nothing without motors."""
    if not len(mechanism.actuators):
        return []
    if mechanism.local is not None:  # transfers alone: there are too many motions to hold
        return [*limits(mechanism), *_transfer(mechanism)]
    return [
        "/* optimized further, it would take most of the compiler's time */",
        "#if defined(__GNUC__) && !defined(__clang__)",
        "#pragma GCC push_options",
        '#pragma GCC optimize ("O1")',
        "#endif",
        header(
            "uk_sizes.h",
            "#define UK_MT UK_NV /* most motions that the structure admits */",
            *defines({"CONTACT_ROWS": 0, "BOUNDED": 0}),
        ),
        *allocation(mechanism, mechanism.model.nv),
        *limits(mechanism),
        header(
            "uk_joint_space_memory.h", JointSpaceLayout(mechanism).c_struct("uk_joint_space_memory")
        ),
        part("joint_space.c"),
        *_transfer(mechanism),
        "#if defined(__GNUC__) && !defined(__clang__)",
        "#pragma GCC pop_options",
        "#endif",
    ]
