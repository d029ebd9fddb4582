"""The whole C source of the derivatives of the motion, for one state."""

from __future__ import annotations

from uk_dynamics.compilation.emit.c_text import part
from uk_dynamics.compilation.emit.generate import declarations, definitions
from uk_dynamics.compilation.emit.layout import DerivativeLayout
from uk_dynamics.compilation.emit.mechanism_functions import motions_function
from uk_dynamics.compilation.emit.pieces import Targets, function
from uk_dynamics.compilation.tangents.equation_tangents import equation_tangents
from uk_dynamics.compilation.trace.terms import trace
from uk_dynamics.mechanism.resolution import ResolvedMechanism


def derivative_source(mechanism: ResolvedMechanism) -> str:
    """C source of ``uk_differentiate`` and ``uk_equation_slopes``."""
    layout, terms = DerivativeLayout(mechanism), trace(mechanism)
    return "\n".join(
        [
            "#include <math.h>\n",
            declarations(mechanism, layout),
            f"#define UK_STRIDE {layout.stride}",
            # the factors stay in the memory only where rows are pivoted
            definitions(mechanism, terms, pivoted=True),
            motions_function(mechanism, terms),
            _tangents(mechanism, layout.stride),
            part("derivatives.c"),
        ]
    )


def _tangents(mechanism: ResolvedMechanism, stride: int) -> str:
    traced = equation_tangents(mechanism)
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
