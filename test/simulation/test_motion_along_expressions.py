# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Motions along expressions that have no value everywhere."""

from __future__ import annotations

import numpy as np
import pytest
from support.mechanism_builder import joint, link, mechanism

from uk_dynamics import simulate
from uk_dynamics.exceptions import ExpressionValueError
from uk_dynamics.mechanism_class import Mechanism

PARTS = (
    link("base")
    + link("carrier", mass=0.0)
    + link("bead", mass=2.0)
    + joint("x", "base", "carrier", kind="prismatic", axis="1 0 0")
    + joint("y", "carrier", "bead", kind="prismatic", axis="0 1 0")
)


def bead(curve: str) -> Mechanism:
    """A bead on a curve; a spring pulls it to y = 0."""
    return mechanism(
        PARTS,
        "joints: {y: {spring: {stiffness: 100.0}}}\n"
        f"constraints: {{curve: {{type: expression, expression: {curve}}}}}",
    )


@pytest.mark.parametrize("method", ["DOP853", "RK45", "RK23"])
def test_a_trial_beyond_the_curve_is_taken_again_shorter(method: str) -> None:
    """With steps this coarse trials land where x < 0 and the logarithm has no value."""
    machine = bead("y - log(x)")
    start = machine.start({"x": 1.0}, {"x": -30.0})
    moved = simulate(machine, start, 0.6, method=method, rtol=1e-3, atol=1e-1, sample_period=0.005)
    # The bead turns where all energy is in the spring: ½ k y² = ½ m (ẋ² + ẏ²), ẏ = ẋ at x = 1.
    turning_point = np.exp(-np.sqrt(2.0 * 2.0 * 30.0**2 / 100.0))
    assert moved.position("x").min() > 0.9 * turning_point
    assert moved.position("x").min() < 2.0 * turning_point
    assert moved.position("x")[-1] > 0.1


def test_the_end_of_a_curve_ends_the_motion_there() -> None:
    """√x ends at x = 0, whatever the tolerance of the steps."""
    machine = bead("y - sqrt(x)")
    start = machine.start({"x": 1.0}, {"x": -3.0})
    times = []
    for rtol in (1e-9, 1e-3):
        with pytest.raises(ExpressionValueError, match=r"curve: .*x\*\*-|curve: .*sqrt") as caught:
            simulate(machine, start, 5.0, rtol=rtol)
        times.append(caught.value.time)
    assert 0.1 < times[0] < 1.0
    assert abs(times[1] - times[0]) < 1e-2


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "error"), [("rk4", 1e-10), ("semi_implicit_euler", 3e-3), ("DOP853", 1e-8)]
)
def test_a_force_acts_at_its_time_in_every_step_between_samples(method: str, error: float) -> None:
    """A bead of 2 kg under 6 cos 3t from rest: x = (1 − cos 3t)/3, ẋ = sin 3t."""
    free = mechanism(
        PARTS, "forces: {push: {type: expression, joints: {x: 1}, expression: 6*cos(3*t)}}"
    )
    moved = simulate(free, free.start(), 1.0, method=method, step=1e-3, sample_period=0.1)
    t = moved.t
    # half a step of 1 ms times the acceleration for Euler; h⁴ for Runge and Kutta
    assert np.abs(moved.v[:, 0] - np.sin(3.0 * t)).max() < error
    assert np.abs(moved.position("x") - (1.0 - np.cos(3.0 * t)) / 3.0).max() < error
