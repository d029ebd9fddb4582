# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a plot of a motion shows: panels of curves, and lines of text for what would be flat."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.simulation.plots.motion_panels import motion_panels
from uk_dynamics.simulation.plots.panels import NOISE, Curve, Panel, largest
from uk_dynamics.simulation.recording.trajectory_data import TrajectoryData

_LARGEST = 1e100  # in any unit
_VARIES = 10.0  # times: a condition number that changes by less is a line of text
_RARELY = 4  # samples per new value from which values are drawn as points
_DECADES = 1e-6  # of the largest: how far down a logarithmic axis goes


@dataclass(frozen=True)
class Contents:
    """All that a plot shows."""

    panels: tuple[Panel, ...]
    notes: tuple[str, ...]


def contents(trajectory: TrajectoryData) -> Contents:
    """Panels and notes, what a user asked for first and the solver's numbers last."""
    notes: list[str] = []
    trajectory = _drawable(trajectory)
    panels = [
        *motion_panels(trajectory, notes),
        *_errors(trajectory, notes),
        *_promised(trajectory),
        *_estimates(trajectory),
        *_energy(trajectory, notes),
        *_rank(trajectory, notes),
    ]
    return Contents(tuple(panels), tuple(notes))


def _drawable(trajectory: TrajectoryData) -> TrajectoryData:
    """Without numbers of broken recordings that overflow on an axis."""
    arrays = {field.name: getattr(trajectory, field.name) for field in fields(trajectory)}
    large = {
        name: np.abs(x) > _LARGEST
        for name, x in arrays.items()
        if name != "t" and isinstance(x, np.ndarray) and x.dtype == float
    }
    shown: dict[str, Any] = {
        name: np.where(x, np.nan, arrays[name]) for name, x in large.items() if x.any()
    }
    return replace(trajectory, **shown) if shown else trajectory


def _errors(trajectory: TrajectoryData, notes: list[str]) -> list[Panel]:
    names, panels = trajectory.names, []
    touching = {*trajectory.contacts, *names.contact_rows}
    loops = [
        k
        for k, row in enumerate(names.constraint_rows)
        if not {row, row.partition(".sticking")[0]} & touching
    ]
    loop_rows = tuple(names.constraint_rows[k] for k in loops)
    for title, values, rows, unit in (
        ("tracking error", trajectory.tracking_error, names.task_rows, "m or rad"),
        ("loop-closure error", trajectory.residual[:, loops], loop_rows, "m or rad"),
        ("its rate", trajectory.residual_rate[:, loops], loop_rows, "m/s or rad/s"),
    ):
        sizes = np.abs(values)
        if not rows or not np.isfinite(sizes).any():
            continue
        peak = largest(sizes)
        if peak < NOISE:
            title = "rate of the loop-closure error" if title == "its rate" else title
            size = f"{peak:.1e} {unit} at most, which is rounding" if peak else "0 throughout"
            notes.append(f"{title}: {size}")
            continue
        if rows is not names.task_rows:
            rows, sizes = _by_constraint(sizes, rows)
            title = "rate of loop-\nclosure error" if title == "its rate" else title
        floor = _DECADES * peak
        curves = (
            Curve(name, np.maximum(size, floor)) for name, size in zip(rows, sizes.T, strict=True)
        )
        panels.append(Panel(title, unit, tuple(curves), floor=floor))
    return panels


def _promised(trajectory: TrajectoryData) -> list[Panel]:
    """Errors of the task rows within the bounds that a robust law promises."""
    curves: dict[str, list[Curve]] = {}
    for name, error, bound in zip(
        trajectory.names.task_rows, trajectory.tracking_error.T, trajectory.bounds.T, strict=True
    ):
        if np.isfinite(bound).any():
            known = np.where(np.isfinite(bound), bound, np.nan)
            unit = trajectory.machine.unit(name)
            curves.setdefault(unit, []).append(Curve(name, error, band=(-known, known)))
    return [Panel("error and\nits bound", unit, tuple(of)) for unit, of in curves.items()]


def _estimates(trajectory: TrajectoryData) -> list[Panel]:
    """Parameters as they are estimated, with intervals of two standard deviations."""
    curves: dict[str, list[Curve]] = {}
    for name, value, deviation in zip(
        trajectory.names.estimated, trajectory.estimates.T, trajectory.deviations.T, strict=True
    ):
        if np.count_nonzero(np.isfinite(value)) > 1:
            band = value - 2.0 * deviation, value + 2.0 * deviation
            unit = trajectory.machine.parameters.get(name, "SI")
            curves.setdefault(unit, []).append(Curve(name, value, band=band))
    return [Panel("estimates", unit, tuple(of), from_zero=False) for unit, of in curves.items()]


def _by_constraint(values: Array, rows: Sequence[str]) -> tuple[tuple[str, ...], Array]:
    """Largest row of each constraint: names and (K, constraints)."""
    owners = [row.partition(".")[0] for row in rows]
    constraints = tuple(dict.fromkeys(owners))
    columns = [
        values[:, [owner == name for owner in owners]].max(axis=1, initial=0.0)
        for name in constraints
    ]
    return constraints, np.column_stack(columns)


def _energy(trajectory: TrajectoryData, notes: list[str]) -> list[Panel]:
    gained = trajectory.potential - trajectory.potential[0]
    series = np.column_stack((trajectory.kinetic, gained, trajectory.energy - trajectory.energy[0]))
    if not np.isfinite(series).any():
        return []
    if largest(series) < NOISE:
        notes.append("energy: constant")
        return []
    names = ("kinetic", "potential, from start", "total, from start")
    curves = tuple(Curve(name, values) for name, values in zip(names, series.T, strict=True))
    # samples at which values change; in between they were only repeated
    changed = np.any(series[1:] != series[:-1], axis=1)
    changed[-1:] = True
    updates = np.flatnonzero(np.concatenate(([True], changed)))
    rarely = len(updates) * _RARELY <= len(series)  # nodes: diagnostics come once a second
    return [Panel("energy", "J", curves, samples=updates if rarely else None)]


def _rank(trajectory: TrajectoryData, notes: list[str]) -> list[Panel]:
    rank = trajectory.rank[trajectory.rank >= 0]
    if not trajectory.names.constraint_rows or not len(rank):
        return []
    panels = []
    if rank.min() != rank.max():
        known = np.where(trajectory.rank >= 0, trajectory.rank, np.nan)
        panels.append(Panel("rank", "1", (Curve("rank", known),), from_zero=False))
    else:
        notes.append(f"rank of the constraints: {rank[0]} throughout")
    condition = trajectory.condition[np.isfinite(trajectory.condition)]
    if not len(condition):
        return panels
    low, high = float(condition.min()), float(condition.max())
    if high > _VARIES * low:
        curve = Curve("condition number", trajectory.condition)
        panels.append(Panel("condition", "1", (curve,), floor=low))
    else:
        span = f"{low:.3g} throughout" if high < 1.01 * low else f"{low:.3g} to {high:.3g}"
        notes.append(f"condition number: {span}")
    return panels
