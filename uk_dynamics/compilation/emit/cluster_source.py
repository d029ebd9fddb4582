"""C source for trees of clusters: tables describe the mechanism, only types of rows are generated.

Its length does not depend on the size of a mechanism, and one library serves all mechanisms whose
rows have the same types.
"""

from __future__ import annotations

from uk_dynamics.compilation.emit.c_text import defines, part
from uk_dynamics.compilation.emit.generate import ATTRIBUTES, OF_THE_PROJECTION, STATUSES
from uk_dynamics.compilation.emit.mechanism_functions import SINE_AND_COSINE
from uk_dynamics.compilation.emit.pieces import function, places
from uk_dynamics.compilation.trace.row_kinds import INPUTS, traced_pair, traced_row
from uk_dynamics.compilation.trace.row_numbers import families, width
from uk_dynamics.constraints.rows import ConstraintSet
from uk_dynamics.core.equation import projection
from uk_dynamics.core.linalg import MASSLESS, NO_INERTIA, rank_rule

_ROW_OF = """
/* Wrench, residual and the rest of a row. */
static inline void uk_row_of(int type, const double *Rp, const double *op, const double *Rc,
                             const double *oc, const double *angular, const double *linear,
                             const double *own, double *wrench, double *more) {{
  switch (type) {{
{cases}  }}
}}
"""


def cluster_source(constraints: ConstraintSet) -> str:
    """The whole source for mechanisms with rows of these types."""
    constants = {name: getattr(projection, name) for name in OF_THE_PROJECTION}
    small = {"MASSLESS": MASSLESS, "NO_INERTIA": NO_INERTIA}
    return "\n".join(
        [
            "#include <math.h>\n#include <string.h>\n",
            ATTRIBUTES,
            *defines(rank_rule.constants() | constants | small),
            *defines(dict(STATUSES)),
            part("cluster_tree.h"),
            SINE_AND_COSINE,
            _rows(constraints),
            part("row_elimination.c"),
            part("cluster_motion.c"),
            part("cluster_rows.c"),
            part("cluster_solve.c"),
            part("batch.h"),
            part("rollout.h"),
            part("cluster_evaluate.c"),
            part("python_arrays.c"),
            part("cluster_python.c"),
        ]
    )


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
