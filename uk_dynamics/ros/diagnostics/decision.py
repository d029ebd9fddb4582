# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A decision of servo_controller in its diagnostics: tracking, efforts, limits, estimates."""

import numpy as np

from uk_dynamics.arrays import largest
from uk_dynamics.control import Command, MotorCommand
from uk_dynamics.control.servo import TASKS, ServoModes
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.ros.diagnostics.publisher import Report


def report_decision(
    report: Report, modes: ServoModes, errors: Array, decision: MotorCommand, warning: float
) -> None:
    """Add mode, evaluator, tracking errors (rows,), efforts and limits; ``warning`` in m or rad."""
    error = largest(errors)
    report.add("mode", modes.mode)
    report.add("in_transfer", modes.in_transfer)
    report.add("law_evaluator", modes.backend)
    report.add("tracking_error", error)
    if error > warning:
        worst = int(np.argmax(np.abs(errors)))
        what = "task " if modes.mode == TASKS else ""
        report.warn(f"{what}{modes.row_names[worst]} is off by {error:.3g}")
    if isinstance(decision, Command):
        _report_tasks(report, modes, decision)
        for x in () if modes.servo is None else modes.servo.estimates:
            spread = f"{x.value:.5g} ± {x.deviation:.2g}"
            report.add(
                f"estimate.{x.name}", spread if x.determined else f"{spread}, not determined"
            )
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
    report.add("efforts_held", command.held)
    report.add("unreachable_residual", largest(command.servo.residual))
    for task in modes.tasks.names:
        report.add(f"missing.{task}", command.missing.get(task, 0.0))
    if command.error_bound is not None:
        report.add("beyond_bound", ", ".join(command.beyond_bound) or "none")
        if command.robust is not None:
            report.add("robust_authority", command.robust.authority)
        if command.beyond_bound:
            rows = ", ".join(command.beyond_bound)
            report.warn(
                f"the error of {rows} is above what robust promises: the machine differs by more"
                " than the tasks file says, or it has not arrived yet"
            )
    if command.missing:
        parts = ", ".join(f"{task}: {size:.3g} m/s²" for task, size in command.missing.items())
        report.warn(f"tasks do not get their full desired acceleration, {parts}")
