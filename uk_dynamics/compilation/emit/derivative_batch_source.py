# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The whole C source of the derivatives of the motion at many states, one in each lane."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from uk_dynamics.compilation.derivatives.equation_derivatives import (
    TracedDerivatives,
    equation_derivatives,
)
from uk_dynamics.compilation.emit.c_source import LANES
from uk_dynamics.compilation.emit.c_text import defines, header, lists, part, table
from uk_dynamics.compilation.emit.derivative_source import (
    derivative_declarations,
    derivatives_function,
)
from uk_dynamics.compilation.emit.generate import tables
from uk_dynamics.compilation.emit.mechanism_functions import (
    Motions,
    motions_function,
    parameters,
    terms_function,
)
from uk_dynamics.compilation.emit.pieces import Targets
from uk_dynamics.compilation.trace.sparse_vectors import Sparse
from uk_dynamics.compilation.trace.terms import trace
from uk_dynamics.mechanism.resolution import ResolvedMechanism


def derivative_batch_source(mechanism: ResolvedMechanism) -> str:
    """C source of ``uk_differentiate_batch``; needs vectors as GCC and Clang have them."""
    return "\n".join(
        [
            "#include <math.h>\n",
            derivative_declarations(mechanism),
            derivative_batch_declarations(),
            derivative_batch_definitions(mechanism),
        ]
    )


def derivative_batch_declarations() -> str:
    """Declarations for C programs, apart from the sizes of the mechanism."""
    return part("derivatives_lanes.h")


def derivative_batch_definitions(mechanism: ResolvedMechanism) -> str:
    """Everything behind the declarations.

    Where no state is regular, a function that says of all states that they need pivoting.
    """
    traced, terms = equation_derivatives(mechanism), trace(mechanism)
    motions = motions_function(mechanism, terms, LANES)
    common = [tables(mechanism, terms), part("lanes_states.c")]
    constraints = mechanism.constraints
    holding = constraints.position_rows & constraints.motion_rows
    # whether dependent rows follow motions is looked at where all rows determine positions
    follow = len(motions.rows) == len(constraints) or holding.all() or parameters(mechanism)
    if not motions.rows or not follow:
        return "\n".join([*common, part("derivatives_alone.c")])
    found = _tables(mechanism, traced, motions)
    return "\n".join(
        [
            *common,
            terms_function(mechanism, terms),
            header(
                "uk_traced_lanes.h",
                '#include "uk_columns.h"',
                '#include "uk_lanes_terms.h"',
                "#include <string.h>",
                motions.text,
                # which of them are needed depends on the rows
                *(x.replace("static const", "UK_OPTIONAL static const") for x in found),
                derivatives_function(traced, _listed, parameters(mechanism), LANES),
            ),
            part("derivatives_batch.c"),
        ]
    )


def _listed(name: str, rows: list[Sparse]) -> Targets:
    """One behind the other, row by row."""
    derivatives = (x for row in rows for _, x in sorted(row.items()))
    return [(f"{name}[{k}]", x) for k, x in enumerate(derivatives)]


def _tables(
    mechanism: ResolvedMechanism, traced: TracedDerivatives, motions: Motions
) -> Iterable[str]:
    z = [
        sorted({column for c in own for column in traced.rows[motions.rows[c]]})
        for own in motions.corrections
    ]
    dependent = sorted(set(range(len(mechanism.constraints))) - set(motions.rows))
    derivatives: dict[str, Sequence[Sequence[int]]] = {
        "motion": [sorted(row) for row in traced.motion],
        "rows": [sorted(row) for row in traced.rows],
        "rates": [sorted(row) for row in traced.rates],
        "z": z,
    }
    sizes = {"motion": "MOTION", "rows": "ROW", "rates": "RATE", "z": "Z"}
    for name, columns in derivatives.items():
        count = sum(map(len, columns))
        yield from defines({f"{sizes[name]}_ENTRIES": max(1, count)})
        yield from lists(f"uk_{name}_columns", columns)
    yield from lists("uk_corrections", motions.corrections)
    yield from defines({"DEPENDENT_ROWS": len(dependent)})
    if dependent:
        yield table("int", "uk_dependent_rows", dependent)
