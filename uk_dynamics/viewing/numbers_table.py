"""The table of numbers next to the picture, as HTML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

import numpy as np

from uk_dynamics.core.equation import Solution
from uk_dynamics.mechanism import Mechanism
from uk_dynamics.mechanism.resolution import Array, Energy, Residual
from uk_dynamics.viewing.source import Snapshot

_MOST_ROWS = 24  # of multipliers: more are no help
_BLUE, _VERMILION = "#0072B2", "#D55E00"
_NEAR_LIMIT = 0.95


@dataclass(frozen=True)
class Reading:
    """Everything that is known about one instant."""

    snapshot: Snapshot  # state and inputs
    solution: Solution | None  # dynamics there; None where the motion is not determined
    residual: Residual  # of the structural constraints
    energy: Energy  # mechanical energy
    tracking_error: Array  # of each task row, (mt,), in m or rad
    message: str  # what the user should know; empty when there is nothing


def status_line(reading: Reading) -> str:
    """Time, mode and what the user should know, as Markdown."""
    snapshot = reading.snapshot
    line = f"**t = {snapshot.state.t:.3f} s** — {snapshot.mode}"
    return f"{line}\n\n⚠ {reading.message}" if reading.message else line


def numbers_table(mechanism: Mechanism, reading: Reading, task_rows: tuple[str, ...]) -> str:
    """Rank, mobility, residual, energy, efforts against limits, multipliers, errors of tasks."""
    solution, residual = reading.solution, reading.residual
    facts: list[tuple[str, str]] = []
    if solution is not None:
        rows = len(mechanism.constraints)
        facts += [
            ("rank", f"{solution.rank} of {rows} rows"),
            ("mobility", str(mechanism.model.nv - solution.rank)),
            ("condition", f"{float(solution.condition):.3g}"),
            ("status", solution.status.value.replace("_", " ")),
        ]
    rigid = residual.position * mechanism.hierarchy.rigid
    if len(rigid):
        worst = int(np.argmax(np.abs(rigid)))
        facts += [
            ("residual", f"{abs(rigid[worst]):.2e} m or rad ({residual.names[worst]})"),
            ("residual rate", f"{np.abs(residual.velocity).max():.2e} m/s or rad/s"),
        ]
    energy = reading.energy
    facts.append(("energy", f"{energy.total:.4g} J (kinetic {energy.kinetic:.4g})"))
    parts = [_table((_cell(name), _cell(value)) for name, value in facts)]
    if len(mechanism.actuators):
        parts += [_heading("efforts [N·m or N]"), _efforts(mechanism, reading.snapshot.efforts)]
    if len(task_rows):
        errors = zip(task_rows, reading.tracking_error, strict=True)
        parts += [
            _heading("errors of tasks [m or rad]"),
            _table((_cell(name), _cell(f"{error: .2e}")) for name, error in errors),
        ]
    if solution is not None and len(residual.names):
        forces = solution.joint_multipliers * mechanism.constraints.reference_scale
        loads = zip(residual.names, forces, solution.determined, strict=True)
        shown = [
            (_cell(name), _cell(f"{load: .4g}" + ("" if unique else " (not unique)")))
            for name, load, unique in list(loads)[:_MOST_ROWS]
        ]
        parts += [_heading("multipliers [N or N·m]"), _table(shown)]
    return f'<div style="font-size:0.8em;padding:0 0.8em">{"".join(parts)}</div>'


def _efforts(mechanism: Mechanism, efforts: Array) -> str:
    rows = []
    motors = mechanism.actuators
    for name, effort, limit in zip(motors.names, efforts, motors.effort_limits, strict=True):
        if not np.isfinite(limit):
            rows.append((_cell(name), _cell(f"{effort: .3g}"), _cell("no limit")))
            continue
        part = min(abs(effort) / limit, 1.0)
        colour = _VERMILION if part >= _NEAR_LIMIT else _BLUE
        bar = (
            '<div style="width:6em;height:0.7em;background:#ddd">'
            f'<div style="width:{100 * part:.0f}%;height:100%;background:{colour}"></div></div>'
        )
        rows.append((_cell(name), _cell(f"{effort: .3g} of {limit:.4g}"), f"<td>{bar}</td>"))
    return _table(rows)


def _table(rows: Iterable[tuple[str, ...]]) -> str:
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return f'<table style="width:100%;font-variant-numeric:tabular-nums">{body}</table>'


def _cell(text: str) -> str:
    return f"<td>{escape(text)}</td>"


def _heading(text: str) -> str:
    return f'<div style="margin-top:0.5em;font-weight:bold">{escape(text)}</div>'
