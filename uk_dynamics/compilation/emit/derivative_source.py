# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""C sources of the derivatives of the motion, of one state and of many, and of the projection."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from uk_dynamics.compilation.derivatives.block_derivatives import (
    BlockDerivatives,
    BlockRow,
    block_derivatives,
)
from uk_dynamics.compilation.derivatives.equation_derivatives import (
    TracedDerivatives,
    equation_derivatives,
)
from uk_dynamics.compilation.emit.c_source import LANES, SCALAR, Dialect, Writer
from uk_dynamics.compilation.emit.c_text import defines, header, joined, lists, part, table
from uk_dynamics.compilation.emit.functions import Targets
from uk_dynamics.compilation.emit.generate import (
    closing,
    declarations,
    definitions,
    following,
    tables,
)
from uk_dynamics.compilation.emit.layout import DerivativeLayout, rolls
from uk_dynamics.compilation.emit.mechanism_functions import (
    Motions,
    motions_function,
    parameters,
    terms_function,
)
from uk_dynamics.compilation.emit.ode_source import is_ode, ode_source
from uk_dynamics.compilation.emit.pieces import SHARED, in_pieces
from uk_dynamics.compilation.trace.sparse_vectors import Sparse, is_zero
from uk_dynamics.compilation.trace.symbols import WIDTH, in_order
from uk_dynamics.compilation.trace.terms import SymbolicTerms, trace
from uk_dynamics.escaping import c_identifier
from uk_dynamics.mechanism.resolution import ResolvedMechanism

_COST = {"row": WIDTH - 1, "lane": 2}  # a vector made from numbers, and the other way

Places = Callable[[str, list[Any]], Targets]

# compilers take vectors that are wider than the processor's apart, through the memory
_BLOCKS = f"""
#define UK_SPAN UK_STRIDE
/* rows may be pivoted, so that as many at most are free, independent, dependent */
#define UK_MOST_FREE UK_NV
#define UK_MOST_INDEPENDENT (UK_M < UK_NV ? UK_M : UK_NV)
#define UK_MOST_DEPENDENT UK_M
#ifdef __AVX512F__
#define UK_BLOCK {WIDTH} /* columns at a time, in registers */
#else
#define UK_BLOCK {WIDTH // 2}
#endif
typedef double uk_block __attribute__((vector_size(8 * UK_BLOCK), aligned(8), may_alias));

UK_OPTIONAL static inline void uk_put(double *y, int count, uk_block x) {{
  memcpy(y, &x, count * sizeof *y);
}}
"""

_LANE_BLOCKS = """
#define UK_SPAN UK_DIRECTIONS
#define UK_MOST_FREE (UK_NV > UK_MOTIONS ? UK_NV - UK_MOTIONS : 1)
#define UK_MOST_INDEPENDENT UK_MOTIONS
#define UK_MOST_DEPENDENT (UK_M > UK_MOTIONS ? UK_M - UK_MOTIONS : 1)
#define UK_BLOCK 1
typedef uk_lanes uk_block;
"""

_TRACED = """
UK_OPTIONAL static void {name}({parameters}) {{
  {unused}
{calls}}}
"""


def derivative_source(mechanism: ResolvedMechanism) -> str:
    """Write the C of ``uk_differentiate``, ``uk_equation_derivatives`` and what planners call."""
    return "\n".join([derivative_declarations(mechanism), derivative_definitions(mechanism)])


def derivative_declarations(mechanism: ResolvedMechanism) -> str:
    """Declare for C programs sizes and the memory of derivatives."""
    layout = DerivativeLayout(mechanism)
    # of rows of derivatives: by q, v and t, or by p, filled up to whole vectors; then by tau
    sizes = defines({"DIRECTIONS": layout.directions, "STRIDE": layout.stride})
    return header("uk_columns.h", *sizes) + declarations(mechanism, layout)


def derivative_definitions(mechanism: ResolvedMechanism) -> str:
    """Write everything behind the declarations of :func:`derivative_source`."""
    traced, terms = equation_derivatives(mechanism), trace(mechanism)
    motions = motions_function(mechanism, terms)
    parts = [
        # the factors stay in the memory only where rows are pivoted
        definitions(mechanism, terms, pivoted=True),
        header("uk_motions.h", part("attributes.h"), motions.text, *_lists(motions, terms)),
        *equation_definitions(mechanism, traced),
        part("force_derivatives_of_one.c"),
    ]
    if not parameters(mechanism) and is_ode(mechanism, traced):
        parts.append(ode_source(mechanism, traced, c_identifier(mechanism.name)))
    return "\n".join(parts)


def equation_definitions(mechanism: ResolvedMechanism, traced: TracedDerivatives) -> list[str]:
    """Write what differentiates the equations, behind the mechanism and its motions."""
    includes = [part("attributes.h"), '#include "uk_lanes.h"', "#include <string.h>"]
    text = header(
        "uk_traced.h", *includes, '#include "uk_columns.h"', _BLOCKS, _traced(mechanism, traced)
    )
    return [text, part("derivatives_of_one.c")]


def derivative_batch_source(mechanism: ResolvedMechanism) -> str:
    """Write the C of ``uk_differentiate_batch``, which needs vectors as GCC and Clang have them."""
    return joined(
        "#include <math.h>\n",
        derivative_declarations(mechanism),
        part("derivatives_batch.h"),
        derivative_batch_definitions(mechanism),
    )


def derivative_batch_definitions(mechanism: ResolvedMechanism) -> str:
    """Write everything behind the declarations of :func:`derivative_batch_source`.

    Where no state is regular, a function that says of all states that they need pivoting.
    """
    traced, terms = equation_derivatives(mechanism), trace(mechanism)
    motions = motions_function(mechanism, terms, LANES)
    constraints, given = mechanism.constraints, parameters(mechanism)
    holding = constraints.position_rows & constraints.motion_rows
    # whether dependent rows follow motions is looked at where all rows determine positions
    if not (len(motions.rows) == len(constraints) or holding.all() or given):
        motions = Motions("#define UK_MOTIONS 0", [], [], [])
    common = [tables(mechanism, terms), part("lanes_states.c")]
    if not motions.rows:
        return "\n".join(
            [*common, header("uk_motions.h", motions.text), part("derivatives_batch.c")]
        )
    return joined(
        *common,
        header(
            "uk_motions.h",
            '#include "uk_lanes.h"',
            part("attributes.h"),
            motions.text,
            *_optional(_lists(motions, terms)),
        ),
        terms_function(mechanism, terms),
        header(
            "uk_traced.h",
            '#include "uk_columns.h"',
            '#include "uk_lanes_terms.h"',
            "#include <string.h>",
            _LANE_BLOCKS,
            # which of them are needed depends on the rows
            *_optional(_columns(traced, motions)),
            derivatives_function(traced, in_rows(traced.directions), given, LANES),
        ),
        part("derivatives_batch.c"),
    )


def _optional(tables: Iterable[str]) -> Iterable[str]:
    return (x.replace("static const", "UK_OPTIONAL static const") for x in tables)


def _columns(traced: TracedDerivatives, motions: Motions) -> Iterable[str]:
    """List columns that may differ from zero: of the equations' rows, and of C s."""
    z = [
        {column for c in own for column in traced.rows[motions.rows[c]]}
        for own in motions.corrections
    ]
    found: Mapping[str, Sequence[Iterable[int]]] = {
        "motion": traced.motion,
        "rows": traced.rows,
        "rates": traced.rates,
        "z": z,
    }
    for name, columns in found.items():
        yield from lists(f"uk_{name}_columns", [sorted(row) for row in columns])


def projection_source(mechanism: ResolvedMechanism) -> str:
    """Write the C of ``uk_projection_derivatives`` and ``uk_projection_batch``."""
    return joined(
        derivative_declarations(mechanism),
        part("projection_derivatives.h"),
        definitions(mechanism, pivoted=True),
        header("uk_motions.h", "#define UK_MOTIONS 0 /* rows are pivoted */"),
        *equation_definitions(mechanism, equation_derivatives(mechanism)),
        *projection_definitions(mechanism),
    )


def projection_definitions(mechanism: ResolvedMechanism) -> list[str]:
    """Write the derivatives of the projection, behind those of the equations."""
    assert rolls(mechanism)
    return [
        *closing(mechanism),
        following(mechanism),
        header("uk_units.h", table("double", "uk_unit", mechanism.constraints.reference_scale)),
        part("projection_derivatives.c"),
    ]


def _lists(motions: Motions, terms: SymbolicTerms) -> list[str]:
    """List what is not zero by structure: of C, of M where C moves something, of K both ways."""
    if not motions.rows:
        return []
    nv = len(terms.F)
    corrected = [i for i in range(nv) if motions.corrections[i]]
    inertia = [
        [i for i in corrected if not is_zero(terms.M[max(i, j), min(i, j)])] for j in range(nv)
    ]
    count = nv - len(motions.rows)
    found = {
        "uk_corrections": motions.corrections,
        "uk_inertia": inertia,
        "uk_moving": motions.free,
        "uk_moved": [[i for i, own in enumerate(motions.free) if f in own] for f in range(count)],
    }
    return [line for name, values in found.items() for line in lists(name, values)]


def _traced(mechanism: ResolvedMechanism, traced: TracedDerivatives) -> str:
    """Write derivatives column by column, or several side by side where that takes less."""
    stride, nv = DerivativeLayout(mechanism).stride, mechanism.model.nv
    given = parameters(mechanism)
    single = derivatives_function(traced, in_rows(stride), given)
    if given:
        return single
    blocks = block_derivatives(mechanism)

    def cost(found: TracedDerivatives | BlockDerivatives, places: Places) -> int:
        targets = places("motion", found.motion) + places("rows", found.rows)
        return sum(_COST.get(x.operation, 1) for x in in_order(x for _, x in targets))

    if cost(blocks, in_blocks(stride, nv)) >= cost(traced, in_rows(stride)):
        return single
    packed = derivatives_function(blocks, in_blocks(stride, nv), given)
    return f"#ifdef __AVX512F__\n{packed}#else\n{single}#endif\n"


def derivatives_function(
    traced: TracedDerivatives | BlockDerivatives,  # what they compute
    places: Places,  # where each derivative has its place, by row and column
    given: Sequence[str],  # inputs beside those of every state
    dialect: Dialect = SCALAR,  # for one state, or for several at once
) -> str:
    """``uk_traced_derivatives`` and, behind it with what both share, ``uk_traced_rates``."""
    name = "uk_traced_derivatives"
    types = {
        **dict.fromkeys(("t", "stabilize"), dialect.real),
        **dict.fromkeys(
            ("q", "v", "followed", *given, "qdd", "multipliers"), f"const {dialect.real} *restrict"
        ),
        **dict.fromkeys(("motion", "rows", "rates"), f"{dialect.real} *restrict"),
    }
    writer = Writer(dialect)
    blocks = [
        writer.statements(places("motion", traced.motion) + places("rows", traced.rows)),
        writer.statements(places("rates", traced.rates)),
    ]
    pieces = in_pieces(name, types, blocks, dialect)
    whole = types | {SHARED: f"{dialect.real} *restrict"}
    common = {
        "parameters": ", ".join(f"{kind} {x}" for x, kind in whole.items()),
        "unused": " ".join(f"(void){x};" for x in whole),
    }
    names = (name, name.replace("derivatives", "rates"))
    return "".join(
        [
            f"#define UK_TRACED_SHARED {pieces.shared}\n",
            pieces.functions,
            *(
                _TRACED.format(name=name, calls=calls, **common)
                for name, calls in zip(names, pieces.calls, strict=True)
            ),
        ]
    )


def in_rows(stride: int) -> Places:
    """Place derivatives in whole rows of this length."""

    def found(name: str, rows: list[Sparse]) -> Targets:
        return [
            (f"{name}[{i * stride + j}]", x)
            for i, row in enumerate(rows)
            for j, x in sorted(row.items())
        ]

    return found


def in_blocks(stride: int, nv: int) -> Places:
    """Place vectors of columns in rows of this length, with how many columns are in each."""

    def found(name: str, rows: list[BlockRow]) -> Targets:
        return [place for i, row in enumerate(rows) for place in of_a_row(name, i * stride, row)]

    def of_a_row(name: str, at: int, row: BlockRow) -> Targets:
        targets: Targets = []
        for first, blocks in ((at, row.by_position), (at + nv, row.by_velocity)):
            targets += [
                (f"{name} + {first + k * WIDTH}, {min(WIDTH, nv - k * WIDTH)}", x)
                for k, x in enumerate(blocks)
                if not is_zero(x)
            ]
        return targets + [(f"{name}[{at + j}]", x) for j, x in sorted(row.others.items())]

    return found
