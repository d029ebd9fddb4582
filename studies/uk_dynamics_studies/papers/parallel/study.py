# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Udwadia–Kalaba dynamics of a redundantly actuated parallel manipulator: direct and inverse."""

from __future__ import annotations

import numpy as np

from uk_dynamics import Mechanism, ServoController, Tasks, Trajectory, simulate
from uk_dynamics_studies.papers.output.study import Bound, Figure, Study, Table
from uk_dynamics_studies.papers.parallel import arms
from uk_dynamics_studies.papers.parallel.arms import Array
from uk_dynamics_studies.papers.parallel.figures import (
    draw_angles,
    draw_machine,
    draw_path,
    draw_torques,
)
from uk_dynamics_studies.papers.parallel.runs import Program, Torques, state_of, torques_along

TITLE = (
    "Udwadia–Kalaba approach for redundant parallel manipulator dynamics"
    " (Advances in Mechanical Engineering)"
)
_SHORT = 0.2  # s, of a quick study
_RTOL = 1e-10


def study(*, quick: bool = False) -> Study:
    """Redo direct and inverse dynamics on the straight line; quick shortens the motions."""
    mechanism = Mechanism.from_file("parallel_2dof")
    servo = ServoController(mechanism, Tasks.from_file("parallel_2dof_line", mechanism))
    torques = torques_along(servo, 40 if quick else 200)
    duration = _SHORT if quick else arms.PERIOD
    start = state_of(mechanism, arms.exact_motion(0.0), 0.0)

    def consistent(t: float) -> Array:
        return arms.consistent_torques(arms.exact_motion(t))

    def stacked(t: float) -> Array:
        return arms.stacked_force(arms.exact_motion(t))[arms.ACTIVE]

    served = simulate(mechanism, start, duration, controller=servo, rtol=_RTOL)
    programmed, misled = (
        simulate(mechanism, start, duration, controller=Program(servo, program), rtol=_RTOL)
        for program in (consistent, stacked)
    )
    return Study(
        paper="parallel",
        title=TITLE,
        tables=(_torque_table(torques), _motion_table(served, programmed, misled)),
        figures=(
            Figure("parallel_2dof", "The manipulator at both ends of the line", draw_machine),
            Figure(
                "torques",
                "Torques of active and passive joints (Figs. 14 to 16): consistent ones of least"
                " norm, and what stacking task rows on loop rows gives",
                lambda figure: draw_torques(figure, torques),
            ),
            Figure(
                "path",
                "The point O (Figs. 3 and 4): under feedback, and under torques computed"
                " beforehand and applied to the closed machine",
                lambda figure: draw_path(figure, served, programmed, misled),
            ),
            Figure(
                "angles",
                "Angles, rates and accelerations of the three chains (Figs. 5 to 13)",
                lambda figure: draw_angles(figure, served),
            ),
        ),
        findings=_findings(torques, misled),
        bounds=_bounds(torques, served, programmed),
    )


def _torque_table(torques: Torques) -> Table:
    rows: list[tuple[str, str, float, float]] = []
    for chain in range(3):
        rows += [
            (
                f"active joint a{chain + 1}",
                "periodic",
                _largest(torques.motors[:, chain]),
                _largest(torques.stacked[:, arms.ACTIVE[chain]]),
            ),
            (
                f"passive joint b{chain + 1}",
                "close to zero",
                0.0,
                _largest(torques.stacked[:, arms.PASSIVE[chain]]),
            ),
        ]
    return Table(
        "Largest torques on the line",
        ("joint", "published", "consistent, least norm [N·m]", "loops and task stacked [N·m]"),
        rows,
        note="The paper's curves and masses are not in the text. Chosen here: uniform rods of"
        " 0.25 kg; O goes from (0.24, 0.25) m to (0.34, 0.25) m and back in 2 s, from rest. Bases"
        " and lengths are the paper's.",
    )


def _motion_table(served: Trajectory, programmed: Trajectory, misled: Trajectory) -> Table:
    runs = (
        ("servo law, with feedback", served),
        ("consistent torques, as a programme of time", programmed),
        ("stacked recipe's active torques, as a programme of time", misled),
    )
    rows = [
        (law, "coincides", _largest(run.tracking_error), _largest(run.residual))
        for law, run in runs
    ]
    return Table(
        "Motion of the point O",
        (
            "torques",
            "published",
            "largest distance from the line's motion [m]",
            "closure error [m]",
        ),
        rows,
        note=f"Over {served.t[-1]:.4g} s, in the closed machine, whose passive joints take no"
        " torque.",
    )


def _largest(values: Array) -> float:
    return float(np.abs(values).max())


def _bounds(torques: Torques, served: Trajectory, programmed: Trajectory) -> tuple[Bound, ...]:
    difference = _largest(torques.motors - torques.closed_form)
    return (
        Bound("|M q̈ + h − A_sᵀλ − S u| [N·m]", _largest(torques.balance), 1e-9),
        Bound(
            "torques from the least-norm solution of (ZᵀS) u = Zᵀ(M q̈ + h) [N·m]", difference, 1e-12
        ),
        Bound("accelerations from the closed form [rad/s²]", _largest(torques.missed), 1e-9),
        Bound("O from its line's motion, with feedback [m]", _largest(served.tracking_error), 1e-9),
        Bound("O, with the programme of torques [m]", _largest(programmed.tracking_error), 1e-7),
        Bound("opening of the loops [m]", _largest(served.residual), 1e-12),
    )


def _findings(torques: Torques, misled: Trajectory) -> tuple[str, ...]:
    passive = _largest(torques.stacked[:, arms.PASSIVE])
    active = _largest(torques.stacked[:, arms.ACTIVE])
    off = 1000.0 * _largest(misled.tracking_error)
    agreement = (
        "Direct dynamics: we agree. Three open chains and the rows that join their tips move as"
        " one manipulator with two freedoms; O follows its line to rounding."
    )
    recipe = (
        "Inverse dynamics: we do not agree. The paper stacks the task's rows on those of the loops"
        " and reads the constraint force (32) off as torques of active and passive joints. The"
        " six rows fix all six joints, so this force is M q̈ + h: what each chain would need if"
        " it moved alone, nothing carried through O. It asks the passive joints for up to"
        f" {passive:.2g} N·m, against {active:.2g} N·m in the active ones. That is close to zero"
        " only as far as the outer bars are light, and no motor applies it."
    )
    consequence = (
        "Applied to the machine, the recipe's active torques alone miss the motion: after"
        f" {misled.t[-1]:.3g} s O is up to {off:.0f} mm off its line's motion, while the"
        " consistent torques, equally without feedback, keep it."
    )
    redundancy = (
        "Three motors drive two freedoms, so the torques are not unique. Those of least norm solve"
        " (ZᵀS) u = Zᵀ(M q̈ + h), with Z the motions the loops leave; the servo law finds the"
        " same ones from the other side, by C = A_t N S."
    )
    missing = (
        "Not compared: masses, initial position and length of the line are not in the text, nor"
        " are the curves. That the second and third chain go at twice the frequency of the first"
        " we cannot confirm: on our line all chains repeat with O."
    )
    return agreement, recipe, consequence, redundancy, missing
