# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""In diagnostics, a decision of servo_controller, and a joint state that loops complete."""

import numpy as np

from uk_dynamics.arrays import largest
from uk_dynamics.control import Command, MotorCommand
from uk_dynamics.control.estimation import EstimationStatus, JointStateEstimate
from uk_dynamics.control.servo import TASKS, ServoModes
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.ros.diagnostics.publisher import Report
from uk_dynamics.ros.parameters.parameter import Parameters


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


ERRORS = (EstimationStatus.LOST, EstimationStatus.CONTRADICTING)


def report_estimate(
    report: Report, found: JointStateEstimate, settings: Parameters, jumps: int, solve_time: float
) -> None:
    """Add an estimate, the jumps so far, and how long it took, in s."""
    misfit = largest(found.misfit) if found.usable else float("nan")
    report.add("status", found.status.value)
    report.add("residual", found.residual)
    report.add("misfit", misfit)
    report.add("condition", found.condition)
    report.add("branch_doubtful", found.branch_doubtful)
    report.add("jumps", jumps)
    report.add("solve_time", solve_time)
    if problem := problem_of(found):
        (report.error if found.status in ERRORS else report.warn)(problem)
    if found.usable and settings["condition_warning"] < found.condition < np.inf:
        report.warn(f"measurement errors are amplified {found.condition:.3g} times")
    if found.usable and found.residual > settings["residual_warning"]:
        report.warn(f"loop-closure error of {found.residual:.3g}")
    if found.branch_doubtful:
        report.warn("after a singular configuration the branch is doubtful until ~/reset")


def problem_of(found: JointStateEstimate) -> str:
    """What is wrong with an estimate, or empty."""
    joints = ", ".join(found.joints)
    texts = {
        EstimationStatus.LOST: "the loops do not close with the measurements, among them",
        EstimationStatus.CONTRADICTING: "measurements contradict each other, most of all",
        EstimationStatus.SINGULAR: "singular: the measurements do not determine",
        EstimationStatus.JUMP: "jumped:",
    }
    return f"{texts[found.status]} {joints}" if found.status in texts else ""
