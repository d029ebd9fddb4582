# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Derivatives by masses, lengths, springs, friction and gravity."""

from __future__ import annotations

import numpy as np
import pytest
from support.many_digits import ManyDigits, at_random, independent_rows
from support.mechanism_builder import shipped

from uk_dynamics import Inputs
from uk_dynamics.derivatives.motion_derivatives import MotionDerivatives
from uk_dynamics.exceptions import UnknownNameError

TOLERANCE = 1e-11  # as of the derivatives by the state


def size(values: np.ndarray) -> float:
    return max(1.0, float(np.abs(values).max(initial=0.0)))


@pytest.mark.parametrize(
    "name", ["five_bar", "slider_crank", "landing_leg", "five_bar_maximal", "flexible_joint_arm"]
)
def test_every_parameter_against_many_digits(name: str) -> None:
    """All parameters of a mechanism at once, redundant rows included, along a random direction."""
    mechanism = shipped(name)
    state, tau, rng = at_random(mechanism, 3)
    names = sorted(mechanism.parameters)
    found = MotionDerivatives(mechanism, "interpreted").by_parameters(names, state, Inputs(tau))
    rows, direction = independent_rows(mechanism, state), rng.normal(size=len(names))
    oracle = ManyDigits(mechanism.with_parameters(names))
    qdd, multipliers = oracle.slope_of_parameters(state, tau, direction, rows)
    assert np.abs(found.acceleration @ direction - qdd).max() < TOLERANCE * size(qdd)
    if len(rows) == len(mechanism.constraints):
        along = (found.multipliers @ direction)[rows]
        assert np.abs(along - multipliers).max(initial=0.0) < TOLERANCE * size(multipliers)


@pytest.mark.parametrize("name", ["five_bar", "five_bar_maximal"])
def test_redundant_multipliers_and_forces(name: str) -> None:
    """Against central differences of mechanisms with other numbers, which share no trace."""
    mechanism = shipped(name)
    state, tau, _ = at_random(mechanism, 5)
    known = mechanism.parameters
    masses = [x for x in known if x.endswith(".mass")][:2]
    names = [*masses, "gravity.z", *[x for x in known if x.endswith(".damping")][:1]]
    found = MotionDerivatives(mechanism, "interpreted").by_parameters(names, state, Inputs(tau))
    assert found.names == tuple(names)
    h = 1e-5
    for k, parameter in enumerate(names):
        ends = [
            mechanism.with_parameters({parameter: known[parameter].value + shift})
            .dynamics("interpreted")
            .evaluate(state, Inputs(tau))
            for shift in ((2 * h, 0.0) if known[parameter].value == 0.0 else (h, -h))
        ]
        for slopes, quantity in (
            (found.acceleration, "qdd"),
            (found.multipliers, "multipliers"),
            (found.force, "ideal_force"),
        ):
            difference = (getattr(ends[0], quantity) - getattr(ends[1], quantity)) / (2.0 * h)
            # off by h² times third derivatives (mass: of order 1000), and by rounding over h
            assert np.abs(slopes[:, k] - difference).max() < 1e-6 * size(difference), parameter


def test_unknown_parameters_are_told() -> None:
    mechanism = shipped("five_bar")
    with pytest.raises(UnknownNameError, match="no_such"):
        MotionDerivatives(mechanism, "interpreted").by_parameters(["no_such"], mechanism.start())
