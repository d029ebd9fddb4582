# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The whole C source of the derivatives of the motion, for one state, and of the projection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from uk_dynamics.compilation.emit.c_source import LANES, SCALAR, Dialect, Writer
from uk_dynamics.compilation.emit.c_text import defines, lists, part, table
from uk_dynamics.compilation.emit.generate import closing, declarations, definitions
from uk_dynamics.compilation.emit.layout import DerivativeLayout, rolls
from uk_dynamics.compilation.emit.mechanism_functions import Motions, motions_function, parameters
from uk_dynamics.compilation.emit.ode_source import is_ode, ode_source
from uk_dynamics.compilation.emit.pieces import SHARED, Targets, in_pieces
from uk_dynamics.compilation.tangents.block_tangents import BlockRow, BlockTangents, block_tangents
from uk_dynamics.compilation.tangents.equation_tangents import EquationTangents
from uk_dynamics.compilation.tangents.parameter_tangents import tangents_of
from uk_dynamics.compilation.trace.sparse_vectors import Sparse, is_zero
from uk_dynamics.compilation.trace.symbols import WIDTH, in_order
from uk_dynamics.compilation.trace.terms import SymbolicTerms, trace
from uk_dynamics.escaping import c_identifier
from uk_dynamics.mechanism.resolution import ResolvedMechanism

_COST = {"row": WIDTH - 1, "lane": 2}  # a vector made from numbers, and the other way

Slopes = Callable[[str, list[Any]], Targets]

# compilers take vectors that are wider than the processor's apart, through the memory
_BLOCKS = f"""
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

_TANGENTS = """
UK_OPTIONAL static void {name}({parameters}) {{
  {unused}
{calls}}}
"""


def derivative_source(mechanism: ResolvedMechanism) -> str:
    """C source of ``uk_differentiate``, ``uk_equation_slopes`` and of the motion for planners."""
    return "\n".join(
        [
            derivative_declarations(mechanism),
            derivative_definitions(mechanism),
        ]
    )


def derivative_declarations(mechanism: ResolvedMechanism) -> str:
    """What a C program needs to know of it."""
    layout = DerivativeLayout(mechanism)
    # of rows of slopes: by q, v and t, or by p, filled up to whole vectors; then by tau
    sizes = defines({"DIRECTIONS": layout.directions, "STRIDE": layout.stride})
    return "\n".join([*sizes, declarations(mechanism, layout)])


def derivative_definitions(mechanism: ResolvedMechanism) -> str:
    """Everything behind the declarations."""
    traced, terms = tangents_of(mechanism), trace(mechanism)
    motions = motions_function(mechanism, terms)
    parts = [
        # the factors stay in the memory only where rows are pivoted
        definitions(mechanism, terms, pivoted=True),
        motions.text,
        *_lists(motions, terms),
        *slope_definitions(mechanism, traced),
        part("force_slopes.c"),
    ]
    if parameters(mechanism):
        parts += [part("exist.c")]
    elif is_ode(mechanism, traced):
        parts.append(ode_source(mechanism, traced, c_identifier(mechanism.name)))
    return "\n".join(parts)


def slope_definitions(mechanism: ResolvedMechanism, traced: EquationTangents) -> list[str]:
    """``uk_differentiate`` and ``uk_equation_slopes``, behind the mechanism and its motions."""
    return [_BLOCKS, _tangents(mechanism, traced), part("derivatives.c")]


def projection_source(mechanism: ResolvedMechanism) -> str:
    """C source of ``uk_projection_slopes`` and ``uk_project_many``."""
    return "\n".join(
        [
            derivative_declarations(mechanism),
            part("projection_slopes.h"),
            definitions(mechanism, pivoted=True),
            "#define UK_MOTIONS 0 /* rows are pivoted */",
            *slope_definitions(mechanism, tangents_of(mechanism)),
            *projection_definitions(mechanism),
        ]
    )


def projection_definitions(mechanism: ResolvedMechanism) -> list[str]:
    """What stands behind the derivatives of the equations."""
    assert rolls(mechanism)
    scale = mechanism.constraints.reference_scale
    return [
        *closing(mechanism),
        *defines({"FOLLOWS": int(mechanism.follows_references)}),
        *([table("double", "uk_unit", scale)] if len(scale) else ()),
        part("row_inverse.c"),
        part("projection_slopes.c"),
    ]


def _lists(motions: Motions, terms: SymbolicTerms) -> list[str]:
    """What is not zero by structure of C, of M where C moves something, and of K both ways."""
    if not motions.rows:
        return []
    nv = len(terms.F)
    inertia = [
        [
            i
            for i in range(nv)
            if motions.corrections[i] and not is_zero(terms.M[max(i, j), min(i, j)])
        ]
        for j in range(nv)
    ]
    count = nv - len(motions.rows)
    moved = [[i for i, own in enumerate(motions.free) if f in own] for f in range(count)]
    found = {
        "uk_corrections": motions.corrections,
        "uk_inertia": inertia,
        "uk_moving": motions.free,
        "uk_moved": moved,
    }
    return [line for name, values in found.items() for line in lists(name, values)]


def _tangents(mechanism: ResolvedMechanism, traced: EquationTangents) -> str:
    """Column by column; several side by side where the processor can and it takes less."""
    stride, nv = DerivativeLayout(mechanism).stride, mechanism.model.nv
    given = parameters(mechanism)
    single = tangents_function(traced, in_rows(stride), given)
    if given:
        return single
    blocks = block_tangents(mechanism)

    def cost(tangents: EquationTangents | BlockTangents, slopes: Slopes) -> int:
        targets = slopes("motion", tangents.motion) + slopes("rows", tangents.rows)
        return sum(_COST.get(x.operation, 1) for x in in_order(x for _, x in targets))

    if cost(blocks, in_blocks(stride, nv)) >= cost(traced, in_rows(stride)):
        return single
    packed = tangents_function(blocks, in_blocks(stride, nv), given)
    return f"#ifdef __AVX512F__\n{packed}#else\n{single}#endif\n"


def tangents_function(
    traced: EquationTangents | BlockTangents,
    slopes: Slopes,
    given: Sequence[str],
    dialect: Dialect = SCALAR,
) -> str:
    """``uk_tangents`` and, behind it with what both share, ``uk_rate_tangents``.

    Args:
        traced: What they compute.
        slopes: Where each slope has its place, by row and column.
        given: Inputs beside those of every state.
        dialect: For one state, or for several at once.
    """
    name = "uk_lanes_tangents" if dialect is LANES else "uk_tangents"
    types = {
        **dict.fromkeys(("t", "stabilize"), dialect.real),
        **dict.fromkeys(
            ("q", "v", "followed", *given, "qdd", "multipliers"), f"const {dialect.real} *restrict"
        ),
        **dict.fromkeys(("motion", "rows", "rates"), f"{dialect.real} *restrict"),
    }
    writer = Writer(dialect)
    blocks = [
        writer.statements(slopes("motion", traced.motion) + slopes("rows", traced.rows)),
        writer.statements(slopes("rates", traced.rates)),
    ]
    pieces = in_pieces(name, types, blocks, dialect)
    whole = types | {SHARED: f"{dialect.real} *restrict"}
    common = {
        "parameters": ", ".join(f"{kind} {x}" for x, kind in whole.items()),
        "unused": " ".join(f"(void){x};" for x in whole),
    }
    names = (name, name.replace("tangents", "rate_tangents"))
    return "".join(
        [
            f"#define UK_TANGENTS_SHARED {pieces.shared}\n",
            pieces.functions,
            *(
                _TANGENTS.format(name=name, calls=calls, **common)
                for name, calls in zip(names, pieces.calls, strict=True)
            ),
        ]
    )


def in_rows(stride: int) -> Slopes:
    """Places in whole rows of this length."""

    def found(name: str, rows: list[Sparse]) -> Targets:
        return [
            (f"{name}[{i * stride + j}]", slope)
            for i, row in enumerate(rows)
            for j, slope in sorted(row.items())
        ]

    return found


def in_blocks(stride: int, nv: int) -> Slopes:
    """The same places, of vectors with the number of columns that are in them."""

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
