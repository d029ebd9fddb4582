# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Section 8.2 of the review: robots that swarm."""

from __future__ import annotations

from typing import Any

import numpy as np

from uk_dynamics import Mechanism, Trajectory, simulate
from uk_dynamics.colours import COLOURS
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics_studies.papers.output.drawing import lines, plane
from uk_dynamics_studies.papers.output.study import Bound, Figure, Study, Table
from uk_dynamics_studies.papers.review.motion import Motion, integrate

DURATION = 3.0  # s
_SHORT = 0.5  # s, of a quick study
_SMALL = 0.01  # the paper's "very small magnitude" of β, in m/s
_SMALLEST = 1e-17  # m/s: what is below counts as zero in pictures

_FINDINGS = (
    (
        "Swarm, motion: we agree with Fig. 7 as it is described. Robots that are far apart"
        " come together, those too close move apart, none collide; their centre rests, since"
        " the law is antisymmetric. Table 1, the initial conditions, is missing in the text;"
        " the places are chosen here."
    ),
    (
        "Swarm, ‖β‖: Fig. 8 cannot come from (64). It sets q̈ = φ, so that the derivative of β"
        " vanishes and ‖β‖ keeps its initial magnitude for ever, as the run without"
        " stabilisation shows. A ‖β‖ that falls rapidly needs a feedback that (63), (64) do not"
        " contain, such as the b −= ω β used here, under which β decays as exp(−ω t)."
    ),
    (
        "Swarm, kind: each robot's two rows prescribe its velocity, so all 2 N rows together"
        " leave no freedom, and with time as a coordinate they are holonomic: the swarm moves"
        " along the solution of an ordinary differential equation of first order."
    ),
)


def study(*, quick: bool = False) -> Study:
    """The swarm, redone; quick shortens the motion."""
    mechanism = Mechanism.from_file("swarm")
    duration = _SHORT if quick else DURATION
    moved = simulate(mechanism, mechanism.start(), duration)
    resting = mechanism.state()
    corrected = integrate(mechanism, resting, moved.t, stabilize=True)
    literal = integrate(mechanism, resting, moved.t, stabilize=False)
    frequency = mechanism.constraints.constraints[0].frequency
    omega = 2.0 * np.pi * frequency
    expected = beta(corrected)[0] * np.exp(-omega * moved.t)
    decay_error = float(np.abs(beta(corrected) - expected).max())
    runs: dict[str, Trajectory | Motion] = {
        "consistent start, projected": moved,
        f"from rest, stabilised at {frequency:g} Hz": corrected,
        "from rest, (64) as it stands": literal,
    }
    centre = places(moved).mean(axis=1)
    return Study(
        paper="review",
        title="Section 8.2: a swarm of robots",
        tables=(_place_table(moved), _beta_table(runs), _distance_table(moved, corrected)),
        figures=(
            Figure(
                "swarm_trajectories",
                "Paths of the robots (Fig. 7), dots at their start; from velocities that agree"
                " with (61)",
                lambda figure: draw_paths(figure, moved),
            ),
            Figure(
                "swarm_beta",
                "‖β‖ (Fig. 8): from a consistent start, from rest with stabilisation, and from"
                " rest with (64) alone",
                lambda figure: _draw_beta(figure, runs),
            ),
        ),
        findings=_FINDINGS,
        bounds=(
            Bound("swarm, ‖β‖ from a consistent start [m/s]", float(beta(moved).max()), 1e-12),
            Bound("swarm, ‖β‖ from rest, distance to exp(−ω t) [m/s]", decay_error, 1e-6),
            Bound("swarm, motion of the centre [m]", float(np.abs(centre - centre[0]).max()), 1e-9),
        ),
    )


def places(motion: Trajectory | Motion) -> Array:
    """Places of the N robots, (K, N, 2), in m."""
    return motion.q.reshape(len(motion.t), -1, 2)


def law(at: Array) -> Array:
    """Velocities that (61) with (62) wants, (N, 2), of robots at (N, 2)."""
    d = at[:, None, :] - at[None, :, :]
    length = np.linalg.norm(d, axis=2)
    np.fill_diagonal(length, np.inf)
    np.fill_diagonal(d[:, :, 0], 0.0)
    wanted: Array = -(d * (1.0 - 0.5 / length)[:, :, None]).sum(axis=1)
    return wanted


def beta(motion: Trajectory | Motion) -> Array:
    """‖β‖ of (65), (K,), in m/s."""
    wanted = np.array([law(at) for at in places(motion)])
    norm: Array = np.linalg.norm(motion.v - wanted.reshape(len(motion.t), -1), axis=1)
    return norm


def _distances(at: Array) -> Array:
    upper = np.triu_indices(len(at), 1)
    found: Array = np.linalg.norm(at[:, None, :] - at[None, :, :], axis=2)[upper]
    return found


def _place_table(moved: Trajectory) -> Table:
    return Table(
        "Start of the swarm",
        ("robot", "published", "x chosen [m]", "y chosen [m]", "speed that (61) wants [m/s]"),
        [
            (index, None, float(x), float(y), float(np.hypot(*velocity)))
            for index, ((x, y), velocity) in enumerate(
                zip(places(moved)[0], law(places(moved)[0]), strict=True), start=1
            )
        ],
        "Table 1 of the paper is missing in the text. Each robot has 2 kg; no other forces.",
    )


def _beta_table(runs: dict[str, Trajectory | Motion]) -> Table:
    rows: list[tuple[str | float | None, ...]] = [
        ("published (Fig. 8)", "large", "below 0.01", "rapidly")
    ]
    for name, motion in runs.items():
        values = beta(motion)
        small = np.flatnonzero(values < _SMALL)
        reached = float(motion.t[small[0]]) if len(small) else None
        rows.append((name, float(values[0]), float(values[-1]), reached))
    return Table(
        "Error of the swarm",
        ("run", "‖β‖ at the start [m/s]", "at the end [m/s]", "below 0.01 after [s]"),
        rows,
        f"Over {next(iter(runs.values())).t[-1]:g} s.",
    )


def _distance_table(moved: Trajectory, corrected: Motion) -> Table:
    rows: list[tuple[str | float, ...]] = []
    for name, motion in (("consistent start", moved), ("from rest", corrected)):
        distances = np.array([_distances(at) for at in places(motion)])
        ends = (distances[0].min(), distances[0].max(), distances[-1].min(), distances[-1].max())
        rows.append((name, *map(float, ends), float(distances.min())))
    return Table(
        "Distances in the swarm",
        (
            "run",
            "least at the start [m]",
            "largest [m]",
            "least at the end [m]",
            "largest [m] ",
            "least on the way [m]",
        ),
        rows,
    )


def draw_paths(figure: Any, moved: Trajectory) -> None:
    """Fig. 7."""
    figure.set_size_inches(5.5, 4.5)
    axis = plane(figure)
    for index, path in enumerate(places(moved).transpose(1, 0, 2)):
        colour = COLOURS[index % len(COLOURS)]
        axis.plot(path[:, 0], path[:, 1], color=colour, label=f"robot {index + 1}")
        axis.plot(*path[0], "o", color=colour)
    axis.legend(fontsize="small", edgecolor="none")


def _draw_beta(figure: Any, runs: dict[str, Trajectory | Motion]) -> None:
    figure.set_size_inches(8.0, 4.0)
    axis = figure.subplots()
    series = {name: np.maximum(beta(motion), _SMALLEST) for name, motion in runs.items()}
    lines(axis, next(iter(runs.values())).t, series, "‖β‖ [m/s]")
    axis.set_yscale("log")
