# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a solver says about an instant, and the line that says what goes on."""

from __future__ import annotations

import numpy as np

from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.viewing import html_tables as html
from uk_dynamics.viewing.instant import Instant

_MOST_ROWS = 24  # of multipliers: more are no help


def status_line(instant: Instant) -> str:
    """Time, mode and what the user should know, as HTML."""
    snapshot = instant.snapshot
    parts = [html.status(f"t = {snapshot.state.t:.3f} s", snapshot.mode)]
    if instant.message:
        parts.append(html.warning(instant.message))
    return "".join(parts)


def solver_table(mechanism: Mechanism, instant: Instant) -> str:
    """Rank, condition, residuals and multipliers, as HTML."""
    solution, residual = instant.solution, instant.residual
    facts: list[tuple[str, str]] = []
    if solution is not None:
        facts += [
            ("rank", f"{solution.rank} of {len(mechanism.constraints)} rows"),
            ("condition", f"{float(solution.condition):.3g}"),
            ("status", solution.status.value.replace("_", " ")),
        ]
    rigid = residual.position * mechanism.hierarchy.rigid
    if len(rigid):
        worst = int(np.argmax(np.abs(rigid)))
        facts += [
            (f"largest residual: {residual.names[worst]}", f"{abs(rigid[worst]):.2e} m or rad"),
            ("largest residual rate", f"{np.abs(residual.velocity).max():.2e} m/s or rad/s"),
        ]
    parts = [html.table((html.name(name), html.number(value)) for name, value in facts)]
    if solution is not None and len(residual.names):
        forces = solution.joint_multipliers * mechanism.constraints.reference_scale
        values = list(zip(residual.names, forces, solution.determined, strict=True))
        shown = [
            (
                html.name(name if unique else f"{name} (not unique)"),
                html.number(f"{value:.4g}"),
            )
            for name, value, unique in values[:_MOST_ROWS]
        ]
        parts += [html.heading("Multipliers [N or N·m]"), html.table(shown)]
        if len(values) > _MOST_ROWS:
            parts.append(html.note(f"and {len(values) - _MOST_ROWS} more"))
    return html.page(parts)
