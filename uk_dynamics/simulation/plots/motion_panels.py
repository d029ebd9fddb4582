# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Panels of what a machine does: joints, tasks, motors, contacts."""

import numpy as np

from uk_dynamics.simulation.plots.panels import NAMED, NOISE, Curve, Panel, largest, span
from uk_dynamics.simulation.recording.trajectory_data import TrajectoryData


def motion_panels(trajectory: TrajectoryData, notes: list[str]) -> list[Panel]:
    """What moves and what drives it; notes get what would be flat."""
    return [
        *_positions(trajectory, notes),
        *_tasks(trajectory, notes),
        *_velocities(trajectory),
        *_motors(trajectory, notes),
        *_contacts(trajectory, notes),
    ]


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
    resting = [name for name, curve in curves.items() if span(curve) < NOISE]
    if len(resting) > NAMED:
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
    shown = f"{0.0 if abs(value) < NOISE else value:.4g}"
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
        curve = Curve(row, reference + trajectory.tracking_error[:, k], reference)
        if max(span(curve), np.nanmax(reference) - np.nanmin(reference)) < NOISE:
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
        if largest(values) < NOISE:
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
    if largest(trajectory.efforts) == 0.0:
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
        if largest(*(curve.values for curve in of)) > NOISE * largest(trajectory.efforts):
            panels.append(Panel("motor efforts", unit, tuple(of)))
        else:
            notes.append(f"no effort: {', '.join(curve.name for curve in of)}")
    if largest(*(curve.values for curve in power)) > NOISE:
        panels.append(Panel("motor power", "W", tuple(power)))
    elif power:
        notes.append("motor power: 0 throughout")
    return panels


def _contacts(trajectory: TrajectoryData, notes: list[str]) -> list[Panel]:
    """Gaps, normal forces and friction of contacts, and when they touch and stick."""
    found = {name: trajectory.contact(name) for name in trajectory.contacts}
    touching = {name: one for name, one in found.items() if one.closed.any()}
    if untouched := [name for name in found if name not in touching]:
        shown = ", ".join(untouched) if len(untouched) <= NAMED else f"{len(untouched)} contacts"
        notes.append(f"never closed: {shown}")
    if not touching:
        return []
    rubbing = {
        name: np.linalg.norm(one.friction, axis=1)
        for name, one in touching.items()
        if largest(one.friction) > NOISE * largest(one.normal)
    }
    states = {name: 1.0 * one.closed + one.sticks for name, one in touching.items()}
    gaps = {name: one.gap for name, one in touching.items()}
    if max(map(largest, gaps.values())) < NOISE:
        notes.append("contact gaps: 0 throughout")
        gaps = {}
    curves = (
        ("contact gaps", "m or rad", gaps),
        ("normal forces", "N or N·m", {name: one.normal for name, one in touching.items()}),
        ("friction of contacts", "N", rubbing),
        ("contacts", "wide: sticks", states),
    )
    return [
        Panel(title, unit, tuple(Curve(*one) for one in of.items()), bars=title == "contacts")
        for title, unit, of in curves
        if of
    ]


def _leaves(curve: Curve) -> bool:
    """Whether it passes one of its limits."""
    lower, upper = curve.limits
    return bool(np.nanmin(curve.values) < lower or np.nanmax(curve.values) > upper)
