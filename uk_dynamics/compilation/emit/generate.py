# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The whole C source of a mechanism: sizes, tables, its terms, and what solves them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.integrate import DOP853

from uk_dynamics.compilation.emit.c_source import LANES, SCALAR, number
from uk_dynamics.compilation.emit.c_text import defines, part, table
from uk_dynamics.compilation.emit.constants import STATUSES, config
from uk_dynamics.compilation.emit.layout import Layout, integrates, rolls
from uk_dynamics.compilation.emit.mechanism_functions import regular_function, terms_function
from uk_dynamics.compilation.emit.motor_source import joint_space, motors
from uk_dynamics.compilation.trace.sparse_vectors import is_zero
from uk_dynamics.compilation.trace.symbols import Objects
from uk_dynamics.compilation.trace.terms import SymbolicTerms, trace
from uk_dynamics.core.equation import projection
from uk_dynamics.core.linalg import rank_rule
from uk_dynamics.mechanism.dynamics import jump_constants
from uk_dynamics.mechanism.resolution import ResolvedMechanism

ATTRIBUTES = """
#ifndef UK_EXPORT
#define UK_EXPORT
#endif

/* of libraries that move many states: others have no need of them */
#ifndef UK_OF_BATCHES
#define UK_OF_BATCHES UK_EXPORT
#endif

/* functions that are apart because together they would be too long; that not every program calls */
#if defined(__GNUC__)
#define UK_APART __attribute__((noinline))
#define UK_INLINE static inline __attribute__((always_inline))
#define UK_OPTIONAL __attribute__((unused))
#else
#define UK_APART
#define UK_INLINE static inline
#define UK_OPTIONAL
#endif

/* pieces of such functions; of several compilers, each says by UK_IN_UNIT which of them it makes */
#if defined(UK_IN_UNIT)
#define UK_PIECE
#else
#define UK_IN_UNIT(k) 1
#define UK_PIECE static UK_APART
#endif
"""


def declarations(mechanism: ResolvedMechanism, layout: Layout | None = None) -> str:
    """What a C program needs to know: sizes, and the memory."""
    layout = layout or Layout(mechanism)
    model = mechanism.model
    varied = mechanism.varied
    sizes = {"NQ": model.nq, "NV": model.nv, "M": len(mechanism.constraints)}
    sizes["NP"] = len(varied.names) if varied else 0
    lines = defines(sizes | STATUSES)
    lines.append(f"#define UK_P {', m->p' if sizes['NP'] else ''} /* after what is followed */")
    return "\n".join(lines) + "\n\n" + layout.c_struct()


def source(mechanism: ResolvedMechanism) -> str:
    """C source for one state at a time, also as functions of Python where its headers are."""
    return "\n".join(
        [
            "#include <math.h>\n",
            declarations(mechanism),
            definitions(mechanism),
            *following(mechanism),
            part("samples.c"),
            *(motion(mechanism) if integrates(mechanism) else ()),
            part("python_arrays.c"),
            part("python.c"),
        ]
    )


def motion(mechanism: ResolvedMechanism) -> list[str]:
    """One motion at fixed steps or with error control, with a law of control."""
    return [
        *motors(mechanism),
        *(closing(mechanism) if mechanism.local is None else ()),
        table("double", "uk_effort_limit", mechanism.actuators.effort_limits),
        *defines(jump_constants(mechanism)),
        *_coefficients(),
        *map(part, ("motion.h", "motion.c", "adaptive.h", "adaptive.c", "foresight.c")),
        *joint_space(mechanism),
    ]


def _coefficients() -> list[str]:
    """Those of Dormand and Prince's method of order 8, as SciPy has them."""
    method: Any = DOP853
    tables = {
        "a": method.A,
        "b": method.B,
        "c": method.C,
        "d": method.D,
        "e3": method.E3,
        "e5": method.E5,
        "extra_a": method.A_EXTRA,
        "extra_c": method.C_EXTRA,
    }
    return [table("double", f"uk_dop_{name}", np.ravel(x)) for name, x in tables.items()]


def configuration(mechanism: ResolvedMechanism) -> list[str]:
    """How a configuration goes on along a velocity."""
    bodies, widths = mechanism.model.bodies, {"floating": 6, "planar": 3}
    free = [body for body in bodies if body.kind in widths]
    single = np.full(mechanism.model.nv, -1)
    for body in bodies:
        if body.kind not in widths:
            single[body.velocity] = body.position
    tables = [
        f"#define UK_FREE {len(free)}",
        table(
            "int", "uk_free", [x for b in free for x in (widths[b.kind], b.position, b.velocity)]
        ),
        table("int", "uk_single", single),
        *([part("free_joint.c")] if mechanism.local is None else ()),  # clusters have it already
    ]
    return [
        f"#define UK_EUCLIDEAN {int(not free)}",
        *(tables if free else ()),
        part("configuration.c"),
    ]


def closing(mechanism: ResolvedMechanism) -> list[str]:
    """The projection of one state onto the loops."""
    return [
        *_projection(mechanism),
        "#undef UK_LENGTH",
        f"#define UK_LENGTH {number(mechanism.spec.model.length)}\n",
        part("projection.c"),
    ]


def following(mechanism: ResolvedMechanism) -> list[str]:
    """What rows follow over time."""
    return [
        f"#define UK_FOLLOWS {int(mechanism.follows_references)}",
        part("references.c"),
    ]


def batch_source(mechanism: ResolvedMechanism) -> str:
    """C source for many states at once; needs vectors as GCC and Clang have them."""
    declared = declarations(mechanism), batch_declarations(mechanism)
    return "\n".join(["#include <math.h>\n", *declared, batch_definitions(mechanism)])


def batch_declarations(mechanism: ResolvedMechanism) -> str:
    """Further declarations for many states: arrays of them."""
    return part("batch.h") + ("\n" + part("rollout.h") if rolls(mechanism) else "")


def batch_definitions(mechanism: ResolvedMechanism) -> str:
    """Everything behind the declarations, for many states and their trajectories."""
    terms = trace(mechanism)
    switched = int(bool(mechanism.hierarchy.switchable))
    return "\n".join(
        [
            tables(mechanism, terms),
            f"#define UK_SWITCHED {switched} /* whether rows are switched on and off */",
            f"#define UK_LENGTH {number(mechanism.spec.model.length)}\n",
            part("lanes.c"),
            terms_function(mechanism, terms, LANES),
            part("solve_lanes.c"),
            regular_function(mechanism, terms, LANES),
            part("evaluate_lanes.c"),
            part("lanes_states.c"),
            part("batch.c"),
            *((*_projection(mechanism), part("rollout.c")) if rolls(mechanism) else ()),
        ]
    )


def _projection(mechanism: ResolvedMechanism) -> list[str]:
    constants = {"REACHED": max(projection.REACHED, mechanism.closure_tolerance)}
    constraints = mechanism.constraints
    if not len(constraints):
        return defines(constants)
    holds = constraints.position_rows & constraints.motion_rows
    return [
        *defines(constants | {"ALL_ROWS_HOLD": int(holds.all())}),
        table("double", "uk_position_row", mechanism.constraints.position_rows),
        table("double", "uk_motion_row", mechanism.constraints.motion_rows),
    ]


def definitions(
    mechanism: ResolvedMechanism, terms: SymbolicTerms | None = None, *, pivoted: bool = False
) -> str:
    """Everything behind the declarations, for one state, with no need but <math.h>."""
    terms = terms or trace(mechanism)
    return "\n".join(
        [
            tables(mechanism, terms),
            f"#define UK_FOLLOWED {'m->followed' if mechanism.follows_references else '0'}",
            terms_function(mechanism, terms, SCALAR),
            "#include <string.h>\n",
            *configuration(mechanism),
            part("row_elimination.c") if len(mechanism.constraints) else "",
            part("solve.c"),
            regular_function(mechanism, terms, SCALAR, pivoted=pivoted),
            part("evaluate.c"),
        ]
    )


def tables(mechanism: ResolvedMechanism, terms: SymbolicTerms) -> str:
    """Constants of the mechanism, apart from its terms."""
    solver = mechanism.spec.solver
    constraints = mechanism.constraints
    parents = mechanism.model.velocity_parents
    support = [_support(row, parents) for row in terms.A]
    parts = [
        ATTRIBUTES,
        config(),
        f"#define UK_RANK_TOLERANCE {number(solver.rank_tolerance)}",
        f"#define UK_CONSISTENCY_TOLERANCE {number(solver.consistency_tolerance)}",
        table("int", "uk_parent", parents),
    ]
    if len(constraints):
        parts += [
            table("int", "uk_support_start", np.cumsum([0, *map(len, support)])),
            table("int", "uk_support", [i for row in support for i in row]),
            table("double", "uk_natural_scale", mechanism.natural_scale),
            table("double", "uk_handicap", rank_rule.tie_handicap(len(constraints))),
            table("double", "uk_damping", constraints.damping),
            table("double", "uk_stiffness", constraints.stiffness),
        ]
    # derivatives at many states need few of them
    parts = [x.replace("static const", "UK_OPTIONAL static const") for x in parts]
    return "\n".join(parts) + "\n"


def _support(row: Objects, parents: tuple[int, ...]) -> list[int]:
    """Velocities that a row touches and all before them towards the root, last first."""
    found = set()
    for i, x in enumerate(row):
        j = i if not is_zero(x) else -1
        while j >= 0 and j not in found:
            found.add(j)
            j = parents[j]
    return sorted(found, reverse=True)
