# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Draws the pictures of idea.md and tuning_stabilisation.md into ``images/``.

Run it:  python docs/diagrams.py
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import uk_dynamics as ukd
from uk_dynamics.colours import COLOURS
from uk_dynamics.mechanism.files.specification import MechanismSpec
from uk_dynamics.resources import shipped_files

IMAGES = Path(__file__).resolve().parent / "images"
BLUE, ORANGE, GREEN = COLOURS[:3]
GREY = "0.35"


def bar(axis: Any, start: Any, end: Any, colour: str) -> None:
    """A bar between two pins."""
    axis.plot(*np.array([start, end]).T, color=colour, lw=7, solid_capstyle="round", alpha=0.85)
    axis.plot(*np.array([start, end]).T, "o", color="white", mec="0.1", ms=6, linestyle="none")


def draw_tree(figure: Figure) -> None:
    """A four-bar linkage: as a tree with one pin cut, and closed."""
    figure.set_size_inches(7.6, 2.9)
    ground, far = np.array([0.0, 0.0]), np.array([0.4, 0.0])
    crank = 0.1 * np.array([np.cos(1.2), np.sin(1.2)])
    closed = far + 0.25 * np.array([np.cos(1.766), np.sin(1.766)])
    opened = crank + 0.35 * np.array([np.cos(0.16), np.sin(0.16)])
    leaning = far + 0.25 * np.array([np.cos(1.45), np.sin(1.45)])
    left, right = figure.subplots(1, 2)
    for axis, tip, top in ((left, opened, leaning), (right, closed, closed)):
        bar(axis, ground, crank, ORANGE)
        bar(axis, crank, tip, GREY)
        bar(axis, far, top, BLUE)
        for pivot in (ground, far):
            axis.plot(*pivot, "^", color="0.1", ms=13, zorder=0)
        axis.set_aspect("equal")
        axis.set(xlim=(-0.07, 0.56), ylim=(-0.05, 0.32))
        axis.axis("off")
    left.plot(*np.array([opened, leaning]).T, ":", color="0.1", lw=1.5)
    left.annotate(
        "two rows of A, b: x and z\nof the loop-closure error",
        (0.404, 0.2),
        (0.05, 0.25),
        arrowprops=ARROW,
    )
    left.set_title("the tree of the URDF, one pin cut", fontsize="medium")
    right.annotate("Aᵀλ, the force of the pin", closed, (0.02, 0.28), arrowprops=ARROW)
    right.set_title("what moves: the loop is closed", fontsize="medium")


ARROW = {"arrowstyle": "->", "color": "0.3"}


def draw_nearest(figure: Figure) -> None:
    """Among the accelerations that the constraints allow, the closest in the metric of M."""
    figure.set_size_inches(5.2, 3.6)
    axis = figure.subplots()
    M = np.array([[1.0, 0.55], [0.55, 1.6]])
    A, b = np.array([[0.5, 1.0]]), 1.9
    free = np.array([0.6, 0.5])
    inverse = np.linalg.inv(M)
    step = inverse @ A.T @ np.linalg.inv(A @ inverse @ A.T) @ (b - A @ free)
    taken = free + step
    x = np.linspace(-0.6, 2.2, 2)
    axis.plot(x, (b - A[0, 0] * x) / A[0, 1], color=BLUE, lw=2.5, label="A q̈ = b: allowed")
    factor = np.linalg.cholesky(inverse)
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    circle = np.array([np.cos(angle), np.sin(angle)])
    radius = np.sqrt(step @ M @ step)
    for part, style in ((1.0, "-"), (0.66, "--"), (0.33, "--")):
        ellipse = free[:, None] + part * radius * factor @ circle
        label = "equally far, measured by M" if part == 1.0 else None
        axis.plot(*ellipse, style, color=GREY, lw=1.0, label=label)
    axis.annotate("", taken, free, arrowprops={"arrowstyle": "-|>", "color": ORANGE, "lw": 2})
    axis.plot(*free, "o", color=ORANGE)
    axis.plot(*taken, "o", color=ORANGE)
    axis.annotate("a, free", free, (8, -4), textcoords="offset points")
    axis.annotate("q̈", taken, (6, 6), textcoords="offset points")
    axis.annotate("M⁻¹ Q_c", free + 0.5 * step, (14, -4), textcoords="offset points", color=ORANGE)
    axis.set_aspect("equal")
    axis.set(xlabel="acceleration of joint 1 [rad/s²]", ylabel="of joint 2 [rad/s²]")
    axis.legend(
        edgecolor="none", fontsize="small", loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2
    )
    axis.set(xlim=(-1.2, 2.5), ylim=(-0.9, 2.3))


FREQUENCIES = (0.0, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 300.0, 500.0)  # Hz
STEPS = (1e-3, 2e-3, 4e-3)  # s


def largest_error(frequency: float, step: float) -> float:
    """Largest loop-closure error of the four-bar in 10 s of RK4 without projection, in m."""
    text = shipped_files("mechanism")["four_bar"].read_text(encoding="utf-8")
    defaults = f"\ndefaults: {{stabilization: {{frequency: {frequency}, damping_ratio: 1.0}}}}\n"
    mechanism = ukd.Mechanism.from_spec(MechanismSpec.from_text(text + defaults))
    start, count = mechanism.start(), round(10.0 / step)
    runs = mechanism.dynamics("compiled").rollout(
        start.q[None], start.v[None], steps=count, dt=step, project=False, every=count // 250
    )
    if runs.stopped:
        return float("nan")
    dynamics = mechanism.dynamics()
    states = (ukd.State(0.0, q, v) for q, v in zip(runs.q[0], runs.v[0], strict=True))
    return max(float(np.abs(dynamics.residual(state).position).max()) for state in states)


def draw_stabilisation(figure: Figure) -> None:
    """Stabilisation that is too weak, right, and too strong for the step."""
    figure.set_size_inches(6.4, 3.4)
    axis = figure.subplots()
    for step, colour, style in zip(STEPS, (BLUE, ORANGE, GREEN), ("o-", "s--", "^:"), strict=True):
        errors = [largest_error(frequency, step) for frequency in FREQUENCIES]
        axis.plot(FREQUENCIES, errors, style, color=colour, ms=4, label=f"step {1e3 * step:g} ms")
    axis.set_xscale("symlog", linthresh=0.5, linscale=0.4)
    axis.set_yscale("log")
    axis.set_xticks([0, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500])
    axis.set_xticklabels(["0", "0.5", "1", "2", "5", "10", "20", "50", "100", "200", "500"])
    axis.set(xlabel="stabilisation frequency [Hz]", ylabel="largest loop-closure error [m]")
    axis.grid(True, alpha=0.3)
    axis.legend(edgecolor="none")


DRAWN = {"tree_and_cut": draw_tree, "nearest": draw_nearest, "stabilisation": draw_stabilisation}


def main() -> None:
    """Draw all of them."""
    for name, draw in DRAWN.items():
        figure = Figure(layout="constrained")
        draw(figure)
        figure.savefig(IMAGES / f"{name}.png", dpi=110)


if __name__ == "__main__":
    main()
