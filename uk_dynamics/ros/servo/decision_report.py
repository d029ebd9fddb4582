# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Diagnostics of the decisions of servo_controller."""

from __future__ import annotations

import numpy as np

from uk_dynamics.control import Command, MotorCommand
from uk_dynamics.control.servo import TASKS, ServoModes
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.ros.diagnostics.dynamics import largest
from uk_dynamics.ros.diagnostics.publisher import Report


def report_decision(
    report: Report, modes: ServoModes, errors: Array, decision: MotorCommand, warning: float
) -> None:
    """Add mode, tracking errors (rows,), efforts and limits; ``warning`` in m or rad."""
    error = largest(errors)
    report.add("mode", modes.mode)
    report.add("in_transfer", modes.in_transfer)
    report.add("tracking_error", error)
    if error > warning:
        worst = int(np.argmax(np.abs(errors)))
        what = "task " if modes.mode == TASKS else ""
        report.warn(f"{what}{modes.row_names[worst]} is off by {error:.3g}")
    if isinstance(decision, Command):
        _report_tasks(report, modes, decision)
    report.add("unreachable", ", ".join(decision.unreachable) or "none")
    if decision.unreachable:
        report.warn(f"the motors cannot produce the motion of {', '.join(decision.unreachable)}")
    report.add("largest_effort", largest(decision.efforts))
    limited = ", ".join(f"{motor}: {limit}" for motor, limit in decision.limited_by.items())
    report.add("limited_by", limited or "none")
    report.add("settled", decision.settled)
    for limit in dict.fromkeys(decision.limited_by.values()):
        motors = [motor for motor, by in decision.limited_by.items() if by == limit]
        report.warn(f"{limit} limit reached: {', '.join(motors)}")
    if not decision.settled:
        report.warn("the search for the best efforts within the limits was cut short")


def _report_tasks(report: Report, modes: ServoModes, command: Command) -> None:
    report.add("actuation", command.actuation)
    report.add("task_rank", command.servo.rank)
    report.add("task_rows", len(command.tracking_error))
    report.add("unreachable_residual", largest(command.servo.residual))
    for task in modes.tasks.names:
        report.add(f"missing.{task}", command.missing.get(task, 0.0))
    if command.missing:
        parts = ", ".join(f"{task}: {size:.3g} m/s²" for task, size in command.missing.items())
        report.warn(f"tasks do not get their full desired acceleration, {parts}")
