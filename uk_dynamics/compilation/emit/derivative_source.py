"""The whole C source of the derivatives of the motion, for one state."""

from __future__ import annotations

from uk_dynamics.compilation.emit.c_text import part
from uk_dynamics.compilation.emit.generate import declarations, definitions
from uk_dynamics.compilation.emit.layout import DerivativeLayout
from uk_dynamics.compilation.emit.mechanism_functions import motions_function
from uk_dynamics.compilation.emit.ode_source import is_ode, ode_source
from uk_dynamics.compilation.emit.pieces import Targets, function
from uk_dynamics.compilation.tangents.equation_tangents import EquationTangents, equation_tangents
from uk_dynamics.compilation.trace.terms import trace
from uk_dynamics.escaping import c_identifier
from uk_dynamics.mechanism.resolution import ResolvedMechanism


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
    # of rows of slopes: by q, v and t, filled up to whole vectors; then by tau
    return f"#define UK_STRIDE {layout.stride}\n{declarations(mechanism, layout)}"


def derivative_definitions(mechanism: ResolvedMechanism) -> str:
    """Everything behind the declarations."""
    traced, terms = equation_tangents(mechanism), trace(mechanism)
    parts = [
        # the factors stay in the memory only where rows are pivoted
        definitions(mechanism, terms, pivoted=True),
        motions_function(mechanism, terms),
        _tangents(traced, DerivativeLayout(mechanism).stride),
        part("derivatives.c"),
    ]
    if is_ode(mechanism, traced):
        parts.append(ode_source(mechanism, traced, c_identifier(mechanism.name)))
    return "\n".join(parts)


def _tangents(traced: EquationTangents, stride: int) -> str:
    targets: Targets = [
        (f"{name}[{i * stride + j}]", slope)
        for name, rows in (
            ("motion", traced.motion),
            ("rows", traced.rows),
            ("rates", traced.rates),
        )
        for i, row in enumerate(rows)
        for j, slope in sorted(row.items())
    ]
    return function(
        "uk_tangents",
        ("q", "v", "followed", "qdd", "multipliers"),
        ("motion", "rows", "rates"),
        targets,
        scalars=("t", "stabilize"),
    )
