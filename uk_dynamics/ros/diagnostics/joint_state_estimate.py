# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A joint state that loops complete, in the diagnostics of joint_state_completer."""

import numpy as np

from uk_dynamics.arrays import largest
from uk_dynamics.control.estimation import EstimationStatus, JointStateEstimate
from uk_dynamics.ros.diagnostics.publisher import Report
from uk_dynamics.ros.parameters.parameter import Parameters

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
