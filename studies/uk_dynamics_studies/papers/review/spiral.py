# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Section 8.1 of the review: a particle on a logarithmic spiral."""

from __future__ import annotations

from typing import Any

import numpy as np

from uk_dynamics import Mechanism, Trajectory, simulate
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics_studies.papers.output.drawing import lines
from uk_dynamics_studies.papers.output.study import Bound, Figure, Study, Table
from uk_dynamics_studies.papers.review.motion import Motion, integrate

DURATION = 60.0  # s
_SHORT = 6.0  # s, of a quick study
_GRAVITY = 9.81
_START_ANGLE = 30.0  # rad
_GROWTH = 0.1  # of r = exp(0.1 θ)
_SMALLEST = 1e-17  # what is below counts as zero in pictures

_FINDINGS = (
    (
        "Spiral, motion: we agree with Figs. 2 to 4 as described. The constraints together"
        " leave no freedom, so the motion is their closed form, θ = 30 − t, r = exp(0.1 θ),"
        " whatever the mass and the force; what the equation finds is the constraint force."
        " After 20 s r is e = 2.7 m, of 20.1 m at the start, and 0.05 m after a minute: it"
        " falls by one factor per second rather than settling."
    ),
    (
        "Spiral, errors: Fig. 5 has no numbers in the text. Integrated alone, (57) leaves the"
        " spiral by the error of the integrator; with projection after every step ε₁ and ε₂ stay"
        " at rounding."
    ),
    (
        "Spiral, coordinates: (9) divides the θ equation by r² and keeps the mass matrix"
        " diag(m, m), so its F^c is an angular acceleration times a mass. The particle of the"
        " URDF has the mass matrix diag(m, m r²), and the θ component of its constraint force"
        " is a torque, r² times that of the paper; the r components are equal."
    ),
)


def study(*, quick: bool = False) -> Study:
    """The spiral, redone; quick shortens the motion from a minute to six seconds."""
    mechanism = Mechanism.from_file("spiral_particle")
    start = mechanism.start()
    duration = _SHORT if quick else DURATION
    moved = simulate(mechanism, start, duration, sample_period=0.05)
    alone = {
        "equation (57) alone, RK45, rtol 1e-3": integrate(
            mechanism, start, moved.t, stabilize=False, method="RK45", rtol=1e-3, atol=1e-6
        ),
        "equation (57) alone, DOP853, rtol 1e-10": integrate(
            mechanism, start, moved.t, stabilize=False
        ),
    }
    worst_force = _force_error(mechanism, moved.t)
    first, second = errors(moved)
    return Study(
        paper="review",
        title="Section 8.1: a particle on a logarithmic spiral",
        tables=(_start_table(start), _error_table(moved, alone), _force_table(mechanism, duration)),
        figures=(
            Figure(
                "spiral_trajectory",
                "The particle in its vertical plane (Fig. 4); it starts at G and goes inwards",
                lambda figure: draw_trajectory(figure, moved),
            ),
            Figure(
                "spiral_histories",
                "r and θ over time (Fig. 3), and r over θ (Fig. 2)",
                lambda figure: _draw_histories(figure, moved),
            ),
            Figure(
                "spiral_errors",
                "ε₁ and ε₂ of (58), (59) (Fig. 5), with projection after every step and without",
                lambda figure: _draw_errors(figure, moved, alone),
            ),
        ),
        findings=_FINDINGS,
        bounds=(
            Bound(f"spiral, ε₁ over {duration:g} s", float(first.max()), 1e-10),
            Bound(f"spiral, ε₂ over {duration:g} s", float(second.max()), 1e-10),
            Bound("spiral, force from its closed form, relative", worst_force, 1e-9),
        ),
    )


def errors(motion: Trajectory | Motion) -> tuple[Array, Array]:
    """ε₁ and ε₂ of (58) and (59), (K,) each; m and rad, m/s and rad/s, added as the paper does."""
    theta, r = motion.q.T
    theta_rate, r_rate = motion.v.T
    radius = np.exp(_GROWTH * theta)
    first: Array = np.hypot(r - radius, theta + motion.t - _START_ANGLE)
    second: Array = np.hypot(r_rate - _GROWTH * radius * theta_rate, theta_rate + 1.0)
    return first, second


def exact_state(t: float) -> State:
    """The state on both constraints, in closed form."""
    theta = _START_ANGLE - t
    r = float(np.exp(_GROWTH * theta))
    return State(t, np.array([theta, r]), np.array([-1.0, -_GROWTH * r]))


def published_force(t: float) -> tuple[float, float]:
    """F^c of (57), r component in N and θ component in kg/s², by F^c = q̈ − a₀ with (52)."""
    theta, r = exact_state(t).q
    in_r = _GROWTH**2 * r - r + _GRAVITY * np.sin(theta)
    in_theta = 2.0 * _GROWTH + _GRAVITY * np.cos(theta) / r
    return float(in_r), float(in_theta)


def _force(mechanism: Mechanism, t: float) -> tuple[float, float]:
    """Constraint force of the URDF's particle on the exact motion: r in N, θ in N·m."""
    in_theta, in_r = InterpretedDynamics(mechanism).evaluate(exact_state(t)).constraint_force
    return float(in_r), float(in_theta)


def _force_error(mechanism: Mechanism, times: Array) -> float:
    worst = 0.0
    for t in times[:: max(1, len(times) // 100)]:
        r = exact_state(float(t)).q[1]
        expected = np.array(published_force(float(t))) * [1.0, r * r]
        error = np.abs(np.array(_force(mechanism, float(t))) - expected)
        worst = max(worst, float(error.max() / (1.0 + np.abs(expected).max())))
    return worst


def _start_table(start: State) -> Table:
    (theta, r), (theta_rate, r_rate) = start.q, start.v
    e3 = float(np.exp(3.0))
    return Table(
        "Start of the spiral",
        ("what", "published", "measured"),
        [
            ("r [m]", e3, float(r)),
            ("θ [rad]", 30.0, float(theta)),
            ("rate of r [m/s]", -0.1 * e3, float(r_rate)),
            ("rate of θ [rad/s]", -1.0, float(theta_rate)),
        ],
        "Measured: what the two constraints of the mechanism file leave at t = 0.",
    )


def _error_table(moved: Trajectory, alone: dict[str, Motion]) -> Table:
    ours: list[tuple[str, Trajectory | Motion, int]] = [
        ("with projection, DOP853, rtol 1e-9", moved, moved.statistics.evaluations)
    ]
    ours += [(name, motion, motion.evaluations) for name, motion in alone.items()]
    return Table(
        "Errors on the spiral",
        ("integration", "largest ε₁", "largest ε₂", "evaluations"),
        [
            (name, float(errors(motion)[0].max()), float(errors(motion)[1].max()), evaluations)
            for name, motion, evaluations in ours
        ],
        f"Over {moved.t[-1]:g} s; the paper shows them in Fig. 5, without numbers. Its integrator"
        " is MATLAB's, RK45 at rtol 1e-3 being the default of ode45.",
    )


def _force_table(mechanism: Mechanism, duration: float) -> Table:
    rows = []
    for t in np.linspace(0.0, duration, 4):
        in_r, in_theta = _force(mechanism, float(t))
        published_r, published_theta = published_force(float(t))
        rows.append((float(t), published_r, in_r, published_theta, in_theta))
    return Table(
        "Forces on the spiral",
        ("t [s]", "F_r of (57) [N]", "F_r [N]", "F_θ of (57) [kg/s²]", "torque about O [N·m]"),
        rows,
        "Of (57): its closed form on the exact motion. The torque is r² times F_θ.",
    )


def draw_trajectory(figure: Any, moved: Trajectory) -> None:
    """Fig. 4."""
    figure.set_size_inches(5.0, 5.0)
    theta, r = moved.q.T
    x, y = r * np.cos(theta), r * np.sin(theta)
    axis = figure.subplots()
    lines(axis, x, {"particle": y}, "y [m]", "x [m]")
    axis.plot(x[0], y[0], "o", color="black")
    axis.annotate("G", (x[0], y[0]), textcoords="offset points", xytext=(7, 3))
    axis.set_aspect("equal")
    axis.margins(0.08)


def _draw_histories(figure: Any, moved: Trajectory) -> None:
    figure.set_size_inches(8.0, 3.2)
    theta, r = moved.q.T
    left, middle, right = figure.subplots(1, 3)
    lines(left, moved.t, {"r": r}, "r [m]")
    lines(middle, moved.t, {"θ": theta}, "θ [rad]")
    lines(right, theta, {"r": r}, "r [m]", "θ [rad]")


def _draw_errors(figure: Any, moved: Trajectory, alone: dict[str, Motion]) -> None:
    figure.set_size_inches(8.0, 5.0)
    runs: dict[str, Trajectory | Motion] = {"with projection": moved, **alone}
    for index, axis in enumerate(figure.subplots(2, 1, sharex=True)):
        series = {
            name: np.maximum(errors(motion)[index], _SMALLEST) for name, motion in runs.items()
        }
        lines(axis, moved.t, series, ("ε₁ [m, rad]", "ε₂ [m/s, rad/s]")[index])
        axis.set_yscale("log")
        axis.label_outer()
        axis.legend(
            loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize="small", frameon=False
        ).set_visible(index == 0)
