# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The two coordinated robots as the package moves them, in the coordinates of the paper."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from uk_dynamics import Mechanism, ServoController, State, Trajectory
from uk_dynamics_studies.papers.servo import chain
from uk_dynamics_studies.papers.servo.chain import Array, Motion
from uk_dynamics_studies.papers.servo.recipe import recipe

MOTORS = ("u1", "u2", "u3", "u4", "u5", "u6")
# Figs. 9 to 14, as the text describes them, in N·m.
PUBLISHED = ((0.0, 10.0), (3.0, 5.0), (-8.0, -5.5), (4.5, 10.0), (-4.5, 0.5), (-5.0, 0.0))


class Torques(NamedTuple):
    """Torques along the exact motion, (K, 6) each, in N·m."""

    t: Array  # times, (K,), in s
    package: Array  # by the servo law on the mechanism
    closed_form: Array  # least norm, from the paper's own equations of the closed chain
    recipe: Array  # by the paper's steps, with the frozen loop force


def state_of(mechanism: Mechanism, t: float) -> State:
    """The exact motion at a time, as a state of the mechanism."""
    motion = chain.exact_motion(t)
    angles = mechanism.model.to_positions(joint_values(motion.angles))
    return State(t, angles, mechanism.model.to_velocities(joint_values(motion.rates)))


def joint_values(absolute: Array) -> dict[str, float]:
    """Joint angles (or rates) from those of the links; the right robot faces the other way."""
    first, second, load, fourth, fifth = absolute.tolist()
    return {
        "left_shoulder": first,
        "left_elbow": second - first,
        "left_wrist": load - second,
        "right_shoulder": -fifth,
        "right_elbow": fifth - fourth,
        "right_wrist": fourth - load,
    }


def torques_along(controller: ServoController, count: int) -> Torques:
    """All three at count + 1 times of one period."""
    times = np.linspace(0.0, chain.PERIOD, count + 1)
    motions = [chain.exact_motion(t) for t in times]
    states = [state_of(controller.mechanism, t) for t in times]
    return Torques(
        times,
        np.array([controller.command(state).requested for state in states]),
        np.array([chain.consistent_torques(motion) for motion in motions]),
        np.array([_recipe(motion, t) for motion, t in zip(motions, times, strict=True)]),
    )


def _recipe(motion: Motion, t: float) -> Array:
    return recipe(motion.angles, motion.rates, t).torques


def closure_errors_of(moved: Trajectory) -> Array:
    """How far the two halves of the load are apart, (K,), in m."""
    closure_errors: Array = np.linalg.norm(moved.residual[:, :2], axis=1)
    return closure_errors


def link_angles(moved: Trajectory) -> Array:
    """Absolute angles of the five links, (K, 5), in rad."""
    left = [moved.position(f"left_{joint}") for joint in ("shoulder", "elbow", "wrist")]
    right = [moved.position(f"right_{joint}") for joint in ("shoulder", "elbow")]
    return np.column_stack((left[0], left[0] + left[1], sum(left), -right[0] - right[1], -right[0]))
