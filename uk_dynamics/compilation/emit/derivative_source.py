# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The whole C source of the derivatives of the motion, for one state."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from uk_dynamics.compilation.emit.c_source import LANES, SCALAR, Dialect, Writer
from uk_dynamics.compilation.emit.c_text import defines, part
from uk_dynamics.compilation.emit.generate import declarations, definitions
from uk_dynamics.compilation.emit.layout import DerivativeLayout
from uk_dynamics.compilation.emit.mechanism_functions import motions_function, parameters
from uk_dynamics.compilation.emit.ode_source import is_ode, ode_source
from uk_dynamics.compilation.emit.pieces import SHARED, Targets, in_pieces
from uk_dynamics.compilation.tangents.equation_tangents import EquationTangents
from uk_dynamics.compilation.tangents.parameter_tangents import tangents_of
from uk_dynamics.compilation.trace.sparse_vectors import Sparse
from uk_dynamics.compilation.trace.terms import trace
from uk_dynamics.escaping import c_identifier
from uk_dynamics.mechanism.dynamics import FOLLOWS_WITHIN
from uk_dynamics.mechanism.resolution import ResolvedMechanism

Slopes = Callable[[str, list[Sparse]], Targets]

_TANGENTS = """
UK_OPTIONAL static void {name}({parameters}) {{
  {unused}
{calls}}}
"""


def derivative_source(mechanism: ResolvedMechanism) -> str:
    """C source of ``uk_differentiate``, ``uk_equation_slopes`` and of the motion for planners."""
    return "\n".join(
        [
            "#include <math.h>\n",
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
    parts = [
        # the factors stay in the memory only where rows are pivoted
        definitions(mechanism, terms, pivoted=True),
        motions_function(mechanism, terms).text,
        tangents_function(
            traced, in_rows(DerivativeLayout(mechanism).stride), parameters(mechanism)
        ),
        part("derivatives.c"),
        part("force_slopes.c"),
    ]
    if parameters(mechanism):
        parts += [*defines({"FOLLOWS_WITHIN": FOLLOWS_WITHIN}), part("exist.c")]
    elif is_ode(mechanism, traced):
        parts.append(ode_source(mechanism, traced, c_identifier(mechanism.name)))
    return "\n".join(parts)


def tangents_function(
    traced: EquationTangents, slopes: Slopes, given: Sequence[str], dialect: Dialect = SCALAR
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
