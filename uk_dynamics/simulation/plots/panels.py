# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a plot of a motion shows: panels of curves, and lines of text for what would be flat."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.simulation.recording.trajectory_data import TrajectoryData

_LARGEST = 1e100  # in any unit
_NOISE = 1e-9  # m, rad, W, J and rates: smaller is rounding, and a line of text
_VARIES = 10.0  # times: a condition number that changes by less is a line of text
_RARELY = 4  # samples per new value from which values are drawn as points
_NAMED = 6  # coordinates at rest that are named; more are counted
_DECADES = 1e-6  # of the largest: how far down a logarithmic axis goes


@dataclass(frozen=True)
class Curve:
    """One quantity over time."""

    name: str  # in the legend
    values: Array  # (K,)
    reference: Array | None = None  # what it follows, (K,); None: nothing
    # lower and upper one, infinite where there are none
    limits: tuple[float, float] = (-np.inf, np.inf)
    band: tuple[Array, Array] | None = None  # between which it should be, (K,) each; None: nothing


@dataclass(frozen=True)
class Panel:
    """Curves over one axis."""

    title: str  # what they are
    unit: str  # theirs
    curves: tuple[Curve, ...]  # at least one
    from_zero: bool = True  # whether 0 belongs to the picture
    floor: float = 0.0  # of a logarithmic axis; 0 for a linear one
    # to draw as points, where values come more rarely than samples; None: lines
    samples: Indices | None = None
    # whether each curve is a bar of its own instead: wide where it is 2, thin where it is 1
    bars: bool = False


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
        *_positions(trajectory, notes),
        *_tasks(trajectory, notes),
        *_velocities(trajectory),
        *_motors(trajectory, notes),
        *_contacts(trajectory, notes),
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


def _positions(trajectory: TrajectoryData, notes: list[str]) -> list[Panel]:
    machine, names = trajectory.machine, trajectory.names
    rows = {machine.followed.get(row, row): k for k, row in enumerate(names.task_rows)}
    driven = _driven(trajectory)
    first = {*driven, *(rows.keys() & machine.coordinates.keys())}
    curves = {}
    for name, values in zip(names.positions, trajectory.q.T, strict=True):
        known = machine.coordinates.get(name)
        limits = (known.lower, known.upper) if known else (-np.inf, np.inf)
        reference = None
        if name in rows and np.isfinite(trajectory.tracking_error[:, rows[name]]).any():
            reference = values - trajectory.tracking_error[:, rows[name]]
        curves[name] = Curve(name, values, reference, limits)
    units = {name: machine.unit(name) for name in curves}
    for name in [name for name in curves if name.endswith(".cos")]:
        base = name.removesuffix(".cos")
        angle = np.arctan2(curves.pop(f"{base}.sin").values, curves.pop(name).values)
        curves[f"{base}.angle"] = Curve(f"{base}.angle", np.unwrap(angle))
        units[f"{base}.angle"] = "rad"
    resting = [name for name, curve in curves.items() if _span(curve) < _NOISE]
    if len(resting) > _NAMED:
        notes.append(f"{len(resting)} of {len(curves)} joint coordinates do not move")
    elif resting:
        notes.append(f"at rest: {', '.join(_place(curves[n], units[n]) for n in resting)}")
    moving = [name for name in curves if name not in resting]
    order = {name: k for k, name in enumerate(driven)}
    ahead = sorted((n for n in moving if n in first), key=lambda n: order.get(n, len(order)))
    what = "driven joints" if first <= set(driven) else "driven and\ntask joints"
    panels = []
    for title, chosen in (
        (what if driven else "task joints", ahead),
        ("other joints" if first else "joints", [n for n in moving if n not in first]),
    ):
        for unit in dict.fromkeys(units[name] for name in chosen):
            of = tuple(curves[name] for name in chosen if units[name] == unit)
            if title != what:  # limits of many passive joints would hide their motion
                of = tuple(x if _leaves(x) else Curve(x.name, x.values, x.reference) for x in of)
            panels.append(Panel("orientation" if unit == "1" else title, unit, of, from_zero=False))
    return panels


def _driven(trajectory: TrajectoryData) -> tuple[str, ...]:
    """Velocity coordinates that motors drive, in the order of the motors."""
    motors = trajectory.machine.motors.values()
    return tuple(dict.fromkeys(name for drives in motors for name in drives))


def _place(curve: Curve, unit: str) -> str:
    value = float(curve.values[0])
    shown = f"{0.0 if abs(value) < _NOISE else value:.4g}"
    return f"{curve.name} ({shown})" if unit == "1" else f"{curve.name} ({shown} {unit})"


def _tasks(trajectory: TrajectoryData, notes: list[str]) -> list[Panel]:
    """What tasks ask for that is no joint coordinate: the references, and what was reached."""
    machine = trajectory.machine
    curves: dict[str, list[Curve]] = {}
    held = []
    for k, row in enumerate(trajectory.names.task_rows):
        reference = trajectory.references[:, k]
        if row in machine.followed or not np.isfinite(reference).any():
            continue
        reached = reference + trajectory.tracking_error[:, k]
        curve = Curve(row, reached, reference)
        if max(_span(curve), np.nanmax(reference) - np.nanmin(reference)) < _NOISE:
            held.append(_place(curve, machine.unit(row)))
        else:
            curves.setdefault(machine.unit(row), []).append(curve)
    if held:
        notes.append(f"held by tasks: {', '.join(held)}")
    return [Panel("tasks", unit, tuple(of), from_zero=False) for unit, of in curves.items()]


def _velocities(trajectory: TrajectoryData) -> list[Panel]:
    machine, names = trajectory.machine, trajectory.names
    driven = _driven(trajectory)
    followed = [name for name in machine.followed.values() if name not in driven]
    chosen = [n for n in (*driven, *followed) if n in names.velocities] or list(names.velocities)
    curves: dict[str, list[Curve]] = {}
    for name in chosen:
        values = trajectory.velocity(name)
        if _largest(values) < _NOISE:
            continue
        known = machine.coordinates.get(name)
        limit = known.speed if known else np.inf
        unit = " or ".join(f"{part}/s" for part in machine.unit(name).split(" or "))
        curves.setdefault(unit, []).append(Curve(name, values, limits=(-limit, limit)))
    return [Panel("velocities", unit, tuple(of)) for unit, of in curves.items()]


def _motors(trajectory: TrajectoryData, notes: list[str]) -> list[Panel]:
    motors, machine = trajectory.names.motors, trajectory.machine
    if not motors:
        return []
    if _largest(trajectory.efforts) == 0.0:
        notes.append("motor efforts: 0 throughout")
        return []
    efforts: dict[str, list[Curve]] = {}
    power: list[Curve] = []
    for motor, effort, limit in zip(
        motors, trajectory.efforts.T, trajectory.effort_limits.tolist(), strict=True
    ):
        curve = Curve(motor, effort, limits=(-limit, limit))
        efforts.setdefault(machine.motor_unit(motor), []).append(curve)
        ratios = machine.motors.get(motor)
        if ratios and all(name in trajectory.names.velocities for name in ratios):
            travels = (ratio * trajectory.velocity(name) for name, ratio in ratios.items())
            power.append(Curve(motor, effort * np.sum(list(travels), axis=0)))
    if len(power) > 1:
        power.append(Curve("all motors", np.sum([curve.values for curve in power], axis=0)))
    panels = []
    for unit, of in efforts.items():
        if _largest(*(curve.values for curve in of)) > _NOISE * _largest(trajectory.efforts):
            panels.append(Panel("motor efforts", unit, tuple(of)))
        else:
            notes.append(f"no effort: {', '.join(curve.name for curve in of)}")
    if _largest(*(curve.values for curve in power)) > _NOISE:
        panels.append(Panel("motor power", "W", tuple(power)))
    elif power:
        notes.append("motor power: 0 throughout")
    return panels


def _contacts(trajectory: TrajectoryData, notes: list[str]) -> list[Panel]:
    """Gaps, normal forces and friction of contacts, and when they touch and stick."""
    found = {name: trajectory.contact(name) for name in trajectory.contacts}
    touching = {name: one for name, one in found.items() if one.closed.any()}
    if untouched := [name for name in found if name not in touching]:
        shown = ", ".join(untouched) if len(untouched) <= _NAMED else f"{len(untouched)} contacts"
        notes.append(f"never closed: {shown}")
    if not touching:
        return []
    rubbing = {
        name: np.linalg.norm(one.friction, axis=1)
        for name, one in touching.items()
        if _largest(one.friction) > _NOISE * _largest(one.normal)
    }
    states = {name: 1.0 * one.closed + one.sticks for name, one in touching.items()}
    curves = (
        ("contact gaps", "m or rad", {name: one.gap for name, one in touching.items()}),
        ("normal forces", "N or N·m", {name: one.normal for name, one in touching.items()}),
        ("friction of contacts", "N", rubbing),
        ("contacts", "wide: sticks", states),
    )
    return [
        Panel(title, unit, tuple(Curve(*one) for one in of.items()), bars=title == "contacts")
        for title, unit, of in curves
        if of
    ]


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
        largest = _largest(sizes)
        if largest < _NOISE:
            title = "rate of the loop-closure error" if title == "its rate" else title
            size = f"{largest:.1e} {unit} at most, which is rounding" if largest else "0 throughout"
            notes.append(f"{title}: {size}")
            continue
        if rows is not names.task_rows:
            rows, sizes = _by_constraint(sizes, rows)
            title = "rate of loop-\nclosure error" if title == "its rate" else title
        floor = _DECADES * largest
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
    total = trajectory.energy - trajectory.energy[0]
    series = np.column_stack((trajectory.kinetic, gained, total))
    if not np.isfinite(series).any():
        return []
    if _largest(series) < _NOISE:
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


def _leaves(curve: Curve) -> bool:
    """Whether it passes one of its limits."""
    lower, upper = curve.limits
    return bool(np.nanmin(curve.values) < lower or np.nanmax(curve.values) > upper)


def _span(curve: Curve) -> float:
    finite = curve.values[np.isfinite(curve.values)]
    return float(np.ptp(finite)) if len(finite) else 0.0


def _largest(*values: Array) -> float:
    """Largest size of finite numbers; 0 if there are none."""
    return max((float(np.abs(x[np.isfinite(x)]).max(initial=0.0)) for x in values), default=0.0)
