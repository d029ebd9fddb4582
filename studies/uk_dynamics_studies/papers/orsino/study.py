# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Orsino's recursive modular modelling: the 3RRR manipulator in levels, slack, digits kept."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from uk_dynamics import Trajectory
from uk_dynamics_studies.papers.orsino import accuracy as digits_kept
from uk_dynamics_studies.papers.orsino import figures
from uk_dynamics_studies.papers.orsino import motion as runs
from uk_dynamics_studies.papers.output.study import Bound, Figure, Study, Table

TITLE = (
    "Orsino, Recursive modular modelling methodology for lumped-parameter dynamic systems"
    " (Proc. R. Soc. A 473, 2017)"
)
_MODELS = ("no constraint", "pivots", "arms", "manipulator")


def study(*, quick: bool = False) -> Study:
    """Redo the 3RRR example and measure the recursion; quick shortens the motions."""
    moved = runs.motion(1.0 if quick else runs.DURATION)
    times = np.linspace(0.0, runs.PERIOD, 4 if quick else 40, endpoint=False) + 0.1
    hierarchy = runs.levels(times.tolist())
    compliances = (1e-3, 1e-5) if quick else (1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
    loose = [runs.slack(compliance, 0.2 if quick else 2.0) for compliance in compliances]
    digits = (0, 3, 6) if quick else range(9)
    measured = [digits_kept.accuracy(10.0**digit, 5 if quick else 50) for digit in digits]
    return Study(
        paper="orsino",
        title=TITLE,
        tables=(
            _motion_table(moved),
            _level_table(hierarchy),
            _slack_table(loose),
            _accuracy_table(measured),
        ),
        figures=(
            Figure(
                "rrr3",
                "The 3RRR manipulator on its way (dashed)",
                lambda figure: figures.draw_machine(figure, moved),
            ),
            Figure(
                "rrr3_motion",
                "Pose of the platform and torques of the motors",
                lambda figure: figures.draw_motion(figure, moved),
            ),
            Figure(
                "rrr3_slack",
                "Compliant pins of the platform: displacement over compliance",
                lambda figure: figures.draw_slack(figure, loose),
            ),
            Figure(
                "recursion_accuracy",
                "Errors over the condition of the constraints: of the acceleration by the form of"
                " the recursion, of the projector by the way to it; thin lines rise with the"
                " condition (dotted) and with its square (dash-dotted)",
                lambda figure: figures.draw_accuracy(figure, measured),
            ),
        ),
        findings=_findings(hierarchy, loose, measured),
        bounds=_bounds(moved, hierarchy, measured),
    )


def _motion_table(moved: Trajectory) -> Table:
    rows: list[tuple[str, str, float]] = [
        ("largest error of the platform [m or rad]", "follows", _tracking(moved)),
        ("largest opening of a pin [m]", "closed", _largest(moved.residual)),
    ]
    for motor, torque in zip(moved.names.motors, moved.efforts.T, strict=True):
        rows += [
            (f"{motor}, least torque [N·m]", "in appendix S1", float(torque.min())),
            (f"{motor}, largest torque [N·m]", "in appendix S1", float(torque.max())),
        ]
    return Table(
        "The motion, inverse and direct dynamics in one",
        ("what", "published", "measured"),
        rows,
        note=f"Over {moved.t[-1]:g} s: x = -sin(πt/2), z = sin(πt/4), angle = (π/6) sin⁴(πt/4), in"
        " an upright plane with g = 9.8 m/s². The appendix with the paper's numbers is not in the"
        " text; all elbows bend the same way round.",
    )


def _level_table(hierarchy: runs.Levels) -> Table:
    rows: list[tuple[int, str, int, str, float]] = []
    for level, model in enumerate(_MODELS):
        sizes = ", ".join(map(str, hierarchy.blocks[level - 1])) if level else "none"
        rows.append((level, model, hierarchy.rows[level], sizes, hierarchy.fall[level]))
    return Table(
        "Levels of the model in modules",
        ("level", "model", "rows", "coordinates solved together", "platform's fall [m/s²]"),
        rows,
        note="21 coordinates, three for each of seven bodies. Until level 3 the platform knows"
        " nothing of the arms and falls freely; motors off, velocities those of the motion.",
    )


def _slack_table(loose: Sequence[runs.Slack]) -> Table:
    return Table(
        "Clearance as measurement noise, (4.17)",
        (
            "compliance [m/N]",
            "published",
            "largest displacement [m]",
            "C × force [m]",
            "tracking error [m]",
        ),
        [
            (run.compliance, "suggested", run.displacement, run.expected, run.tracking_error)
            for run in loose
        ],
        note="The pins of the platform with R = ω²C at 5 Hz, servo law on the same model.",
    )


def _accuracy_table(measured: Sequence[digits_kept.Accuracy]) -> Table:
    return Table(
        "Digits that the recursion keeps",
        ("condition", *digits_kept.FORMS, *digits_kept.WAYS),
        [
            (run.condition, *(_cell(error) for error in (*run.accelerations, *run.kernels)))
            for run in measured
        ],
        note="Largest relative errors: of the acceleration by the form of the recursion, of the"
        f" projector by the way to it. Random whitened rows, {digits_kept.ROWS} of them in"
        f" {digits_kept.LEVELS} levels on {digits_kept.SIZE} coordinates, all independent. The"
        " paper leaves numerical stability out of its scope.",
    )


def _cell(error: float) -> float | str:
    return error if np.isfinite(error) else "breaks down"


def _bounds(
    moved: Trajectory, hierarchy: runs.Levels, measured: Sequence[digits_kept.Accuracy]
) -> tuple[Bound, ...]:
    well = [run for run in measured if run.condition <= 1e6]
    return (
        Bound("platform from its motion [m or rad]", _tracking(moved), 1e-8),
        Bound("opening of the pins [m]", _largest(moved.residual), 1e-10),
        Bound("three levels against one, q̈ [m/s² or rad/s²]", hierarchy.acceleration, 1e-9),
        Bound("three levels against one, Q_c [N or N·m]", hierarchy.force, 1e-9),
        Bound("torques of modules and of tree [N·m]", hierarchy.efforts, 1e-9),
        Bound(
            "recursion up to condition 1e6, relative [1]",
            max(run.accelerations[0] for run in well),
            1e-9,
        ),
    )


def _findings(
    hierarchy: runs.Levels, loose: Sequence[runs.Slack], measured: Sequence[digits_kept.Accuracy]
) -> tuple[str, ...]:
    worst = max(measured, key=lambda run: run.condition if run.condition <= 1e6 else 0.0)
    repeated, answer = digits_kept.redundant()
    softest = loose[0]
    agreement = (
        "Levels: we agree. The model of each level is that of its modules, blocks stay apart until"
        " a row ties them together, and three levels give the motion and the constraint forces of"
        f" one to {max(hierarchy.acceleration, hierarchy.force):.1g}."
    )
    filtering = (
        "Equality with the Kalman filter: exact in algebra, not in floating point. The printed"
        " form (4.16) inverts H̃PH̃ᵀ, whose singular values are squares. At condition"
        f" {worst.condition:.0e} it is wrong by {worst.accelerations[1]:.0e} (Joseph's form"
        f" {worst.accelerations[2]:.0e}), where carrying Z with P = ZZᵀ and deciding rank on the"
        f" singular values of H̃Z errs by {worst.accelerations[0]:.0e}."
    )
    dependent = (
        "Dependent rows: (4.16) needs rows that are independent, as the paper says; where a row"
        f" repeats an earlier one it has {answer}. The form carried here leaves that row out and"
        f" errs by {repeated:.0e}."
    )
    kernel = (
        "Kernel operators: orthonormalisation and orthogonal complement keep what the condition"
        " leaves. The generalised inverse of Corollary 3.3 keeps half as much: an error of the"
        " projector at one level is divided by the small singular values of the next."
    )
    clearance = (
        "Clearance as noise: it works, once R has a meaning. A q̈ + Rλ = b rests at ψ = -Rλ/ω², so"
        " R = ω²C for a compliance C, and without stabilisation there is nothing to rest at. The"
        f" displacement of the pins is C times their force (at {softest.compliance:g} m/N:"
        f" {softest.displacement:.3g} m and {softest.expected:.3g} m), and the servo law, which"
        " knows the same model, follows its motion. It is a compliance, not a dead band: a pin with"
        " play moves"
        " freely within it, and no equality says so."
    )
    missing = (
        "Not redone: the appendix S1, where the paper's own equations and curves of the example"
        " are. The torques here agree with Lagrange's equations in the three coordinates of the"
        " platform, differentiated numerically (in the tests)."
    )
    return (agreement, filtering, dependent, kernel, clearance, missing)


def _tracking(moved: Trajectory) -> float:
    wanted = np.array([runs.pose(t) for t in moved.t])
    names = ("platform_x", "platform_z", "platform_angle")
    return _largest(np.column_stack([moved.position(name) for name in names]) - wanted)


def _largest(values: np.ndarray) -> float:
    return float(np.abs(values).max())
