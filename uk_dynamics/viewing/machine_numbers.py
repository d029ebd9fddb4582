# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a user asks about a machine: efforts, power, forces in the loops, tasks, mass, solver."""

from collections.abc import Sequence

import numpy as np

from uk_dynamics.colours import COLOURS, WARNING
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.simulation.recording import MachineData
from uk_dynamics.viewing import html_tables as html
from uk_dynamics.viewing.source import Instant
from uk_dynamics.viewing.units import Units, engineering

_NEAR_LIMIT = 0.95
_ROUNDING = 1e-9  # of the largest: what is less is rounding


class MachineNumbers:
    """The table of one machine."""

    def __init__(
        self, mechanism: Mechanism, loops: Sequence[str], tasks: Tasks | None = None
    ) -> None:
        """Look up units; ``loops`` are names of constraints with frames."""
        self._mechanism, self._loops = mechanism, loops
        self._task_rows = tasks.row_names if tasks else ()
        self._data = MachineData.of(mechanism, tasks)

    def table(self, instant: Instant, units: Units) -> str:
        """HTML."""
        parts: list[str] = []
        if len(self._mechanism.actuators):
            parts += [html.heading("Motor efforts"), self._efforts(instant.snapshot.efforts)]
            parts += [html.heading("Motor power"), self._power(instant)]
        if instant.solution is not None and self._loops:
            parts += [html.heading("Forces in the loop joints"), self._forces(instant)]
        if instant.marks.contacts.contacts:
            parts += [html.heading("Contacts"), self._contacts(instant, units)]
        if self._task_rows:
            parts += [html.heading("Tasks"), self._tasks(instant, units)]
        parts += [html.heading("Machine"), self._machine(instant, units)]
        return html.page(parts)

    def _efforts(self, efforts: Array) -> str:
        motors, rows = self._mechanism.actuators, []
        noise = _ROUNDING * float(np.abs(efforts).max(initial=0.0))
        for name, effort, limit in zip(motors.names, efforts, motors.effort_limits, strict=True):
            unit = self._data.motor_unit(name)
            shown = html.name(name), html.number(engineering(effort, unit, noise))
            if np.isfinite(limit) and limit > 0.0:
                part = abs(effort) / limit
                colour = WARNING if part >= _NEAR_LIMIT else COLOURS[0]
                of = html.number(f"of {engineering(limit, unit)}")
                rows.append((*shown, of, html.bar(part, colour)))
            else:
                rows.append((*shown, html.number("no limit"), "<td></td>"))
        return html.table(rows)

    def _power(self, instant: Instant) -> str:
        """Power of each motor that gives or takes some, and of all together."""
        power = motor_power(self._mechanism, instant)
        noise = _ROUNDING * max(1.0, float(np.abs(power).max(initial=0.0)))
        each = zip(self._mechanism.actuators.names, power, strict=True)
        rows = [("all motors", float(power.sum())), *(row for row in each if abs(row[1]) > noise)]
        return html.facts((name, engineering(value, "W", noise)) for name, value in rows)

    def _forces(self, instant: Instant) -> str:
        marks, rows = instant.marks, []
        forces = np.linalg.norm(marks.forces, axis=1)
        torques = np.linalg.norm(marks.torques, axis=1)
        noise = _ROUNDING * max(float(forces.max(initial=0.0)), float(torques.max(initial=0.0)))
        for name, force, torque, unique in zip(
            self._loops, forces, torques, marks.determined, strict=True
        ):
            label = name if unique else f"{name} (share not unique)"
            turning = engineering(torque, "N·m") if torque > noise else ""
            numbers = engineering(force, "N", noise), turning
            rows.append((html.name(label), *map(html.number, numbers)))
        return html.table(rows)

    def _contacts(self, instant: Instant, units: Units) -> str:
        """What each does: the gap of open ones, normal force and friction of closed ones."""
        unit, per = units.of("m")
        rows = []
        for one in instant.marks.contacts.contacts:
            name, shown = one.name, [f"open {per * one.gap:.3g} {unit}", ""]
            if one.force[0] > 0.0:
                used = f", {1.0 - one.slip_margin:.0%} of friction" if one.friction else ""
                shown = [f"{one.mode.value}{used}", engineering(float(one.force[0]), "N")]
                name += "" if one.unique else " (share not unique)"
            rows.append((html.name(name), *map(html.number, shown)))
        return html.table(rows)

    def _tasks(self, instant: Instant, units: Units) -> str:
        rows = []
        for name, error in zip(self._task_rows, instant.tracking_error, strict=True):
            unit, per = self._data.unit(name), 1.0
            if unit in ("m", "rad"):
                unit, per = units.of(unit)
            rows.append((name, f"{error * per:.2e} {unit}"))
        unreached = instant.snapshot.unreached
        if unreached is not None:
            rows.append(("the motors reach what is asked", "no: see above" if unreached else "yes"))
        return html.facts(rows)

    def _machine(self, instant: Instant, units: Units) -> str:
        unit, per = units.of("m")
        digits = 0 if per > 1.0 else 3
        place = ", ".join(f"{per * x + 0.0:.{digits}f}" for x in instant.centre)
        rows = [
            ("mass", engineering(self._mechanism.model.total_mass, "kg")),
            ("centre of mass", f"{place} {unit}"),
            ("kinetic energy", engineering(instant.energy.kinetic, "J")),
            ("total energy", engineering(instant.energy.total, "J")),
        ]
        if instant.solution is not None:
            rows.append(("mobility", str(self._mechanism.model.nv - instant.solution.rank)))
        return html.facts(rows)


def motor_power(mechanism: Mechanism, instant: Instant) -> Array:
    """What the motors give, (motors,), in W."""
    snapshot = instant.snapshot
    return snapshot.efforts * (mechanism.actuators.matrix.T @ snapshot.state.v)


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
    parts = [html.facts(facts)]
    if solution is not None and len(residual.names):
        forces = solution.joint_multipliers * mechanism.constraints.reference_scale
        values = list(zip(residual.names, forces, solution.determined, strict=True))
        shown = [
            (name if unique else f"{name} (not unique)", f"{value:.4g}")
            for name, value, unique in values[:_MOST_ROWS]
        ]
        parts += [html.heading("Multipliers [N or N·m]"), html.facts(shown)]
        if len(values) > _MOST_ROWS:
            parts.append(html.note(f"and {len(values) - _MOST_ROWS} more"))
    return html.page(parts)
