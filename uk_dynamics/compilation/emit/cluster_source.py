# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""C source for trees of clusters: tables describe the mechanism, only types of rows are generated.

Its length does not depend on the size of a mechanism, and one library serves all mechanisms whose
rows have the same types.
"""

from __future__ import annotations

from uk_dynamics.compilation.emit.c_text import defines, header, part, table
from uk_dynamics.compilation.emit.constants import config
from uk_dynamics.compilation.emit.generate import (
    ONE_STATE,
    batch_declarations,
    configuration,
    declarations,
    following,
    free_joint,
    motion,
)
from uk_dynamics.compilation.emit.layout import integrates
from uk_dynamics.compilation.emit.motor_source import allocation, motors
from uk_dynamics.compilation.emit.pieces import function, places
from uk_dynamics.compilation.emit.robust_source import correction_definitions, robust_definitions
from uk_dynamics.compilation.emit.servo_source import (
    control_period,
    distribution,
    servo_declarations,
    task_rows,
)
from uk_dynamics.compilation.emit.spatial_source import spatial
from uk_dynamics.compilation.trace.row_kinds import INPUTS, traced_pair, traced_row
from uk_dynamics.compilation.trace.row_numbers import families, width
from uk_dynamics.constraints.rows import ConstraintSet
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import ResolvedMechanism

_ROW_OF = """
/* Wrench, residual and the rest of a row. */
static inline void uk_row_of(int type, const double *Rp, const double *op, const double *Rc,
                             const double *oc, const double *angular, const double *linear,
                             const double *own, double *wrench, double *more) {{
  switch (type) {{
{cases}  }}
}}
"""


def cluster_source(mechanism: ResolvedMechanism) -> str:
    """The whole source for mechanisms with rows of the same types."""
    assert mechanism.local is not None
    kernel = _kernel(mechanism.local.constraints)
    return "\n".join([*kernel, part("cluster_python.c")])


def cluster_motion_source(mechanism: ResolvedMechanism) -> str:
    """What moves states of a mechanism in clusters, one or a batch, and takes samples of them."""
    return "\n".join(
        [
            *_between(mechanism, declarations(mechanism)),
            batch_declarations(mechanism),
            following(mechanism),
            part("references.c"),
            part("batch.c"),
            *((*motion(mechanism), part("rollout.c")) if integrates(mechanism) else ()),
        ]
    )


def cluster_servo_source(tasks: Tasks) -> str:
    """The servo law of tasks whose mechanism is in clusters; task rows alone are written out."""
    mechanism = tasks.mechanism
    unit = table("double", "uk_residual_unit", mechanism.constraints.reference_scale)
    return "\n".join(
        [
            *_between(mechanism, servo_declarations(tasks)),
            motors(mechanism),
            task_rows(tasks, unit),
            header("uk_lanes_law.h", "typedef uk_memory uk_lanes_law;"),
            *allocation(mechanism, len(tasks.constraints)),
            header("uk_admissible.h", part("cluster_admissible.c"), "#define UK_ADMISSIBLE 0"),
            distribution(tasks),
            correction_definitions(tasks),
            robust_definitions(tasks),
            part("pivoted_law.c"),
            *(control_period(tasks) if integrates(mechanism) else ()),
        ]
    )


def _between(mechanism: ResolvedMechanism, declared: str) -> list[str]:
    """What loops over clusters, and the memory of constant sizes that other parts know."""
    assert mechanism.local is not None
    return [
        *_kernel(mechanism.local.constraints),
        declared,
        header("uk_tables.h", *defines({"RANK_TOLERANCE": mechanism.spec.solver.rank_tolerance})),
        configuration(mechanism),
        header("uk_evaluation.h", part("cluster_memory.c")),
    ]


def _kernel(constraints: ConstraintSet) -> list[str]:
    return [
        config(),
        header("uk_lanes.h", ONE_STATE),
        header(
            "uk_row_kinds.h",
            part("attributes.h"),
            part("sine_and_cosine.h"),
            "#include <string.h>",
            _rows(constraints),
        ),
        free_joint(),
        spatial(),
        part("cluster_evaluate.c"),
    ]


def _rows(constraints: ConstraintSet) -> str:
    """What two frames and their rows are, as functions."""
    twist, names = traced_pair()
    results = {name: getattr(twist, name) for name in ("angular", "linear", "bias")}
    written = [
        f"#define UK_OWN {width(constraints)}",
        function("uk_relative", names, tuple(results), places(**results)),
    ]
    cases = []
    for number, family in enumerate(families(constraints)):
        row = traced_row(family)._asdict()
        written.append(function(f"uk_row_{number}", INPUTS, tuple(row), places(**row)))
        arguments = "0.0, Rp, op, Rc, oc, angular, linear, own, wrench, more"
        cases.append(f"    case {number}: uk_row_{number}({arguments}); break;\n")
    written.append(_ROW_OF.format(cases="".join(cases)))
    return "\n".join(written)
