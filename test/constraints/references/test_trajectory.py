# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Trajectories through waypoints: closed forms, what is met, how they begin and end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.polynomial import Polynomial

from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.constraints.references.spline_reference import Spline
from uk_dynamics.constraints.references.trajectory_reference import (
    Trajectory,
    Waypoints,
    cubic,
    quintic,
    sample_polynomial,
)
from uk_dynamics.exceptions import InputError

TIMES = np.array([0.5, 1.2, 2.0])
numbers = st.floats(-2.0, 2.0)


def state(polynomial, t):
    return ReferenceSample(*(np.array([polynomial.deriv(n)(t)]) for n in range(3)))


@given(
    coefficients=st.lists(numbers, min_size=4, max_size=6),
    duration=st.floats(0.1, 3.0),
    s=st.floats(0, 1),
)
def test_hermite_polynomials_are_the_polynomials_they_are_made_from(coefficients, duration, s):
    for degree, make in ((3, cubic), (5, quintic)):
        exact = Polynomial(coefficients[: degree + 1])
        found = make(state(exact, 0.0), state(exact, duration), duration)
        sample, expected = sample_polynomial(found, s * duration), state(exact, s * duration)
        # differences of values are divided by up to duration^5 = 1e-5
        for part, other in zip(sample, expected, strict=True):
            np.testing.assert_allclose(part, other, rtol=0, atol=1e-8)


def test_two_points_at_rest_with_accelerations_are_the_minimum_jerk_motion():
    rest = np.zeros((2, 1))
    waypoints = Waypoints(np.array([1.0, 3.0]), np.array([[0.2], [1.2]]), rest, rest)
    trajectory = Trajectory.through(waypoints)
    for s in np.linspace(0.0, 1.0, 11):
        sample = trajectory.sample(1.0 + 2.0 * s)
        assert abs(sample.value[0] - 0.2 - (10 * s**3 - 15 * s**4 + 6 * s**5)) < 1e-14
        assert abs(sample.rate[0] - 0.5 * (30 * s**2 - 60 * s**3 + 30 * s**4)) < 1e-14


def test_positions_alone_give_the_spline_that_ends_at_rest():
    positions = np.array([[0.0, 1.0], [0.5, -1.0], [0.3, 0.0]])
    trajectory = Trajectory.through(Waypoints(TIMES, positions))
    spline = Spline.through(TIMES, positions)  # clamped
    for t in np.linspace(0.4, 2.1, 19):
        for part, other in zip(trajectory.sample(t), spline.sample(t), strict=True):
            np.testing.assert_allclose(part, other, rtol=0, atol=1e-12)


@pytest.mark.parametrize("fields", [1, 2, 3])
def test_it_begins_in_the_present_state_of_motion_and_meets_the_points(fields):
    positions = np.array([[1.0, 0.0], [0.5, 0.4], [0.2, 0.6]])
    rates = np.array([[0.3, 0.1], [-0.2, 0.5], [0.0, 0.0]])
    given_fields = [positions, rates, 2.0 * rates][:fields]
    present = ReferenceSample(np.array([0.1, 0.2]), np.array([1.0, -1.0]), np.array([0.5, 2.0]))
    trajectory = Trajectory.through(Waypoints(TIMES, *given_fields), now=0.0, present=present)
    before = trajectory.sample(0.0)
    for part, expected in list(zip(before, present, strict=True))[: max(fields, 2)]:
        np.testing.assert_allclose(part, expected, rtol=0, atol=1e-12)
    for index, t in enumerate(TIMES[:-1]):
        found = trajectory.sample(t)
        for part, expected in zip(found, given_fields, strict=False):
            np.testing.assert_allclose(part, expected[index], rtol=0, atol=1e-12)
        just_before = trajectory.sample(t - 1e-9)
        np.testing.assert_allclose(just_before.value, found.value, rtol=0, atol=1e-7)
        np.testing.assert_allclose(just_before.rate, found.rate, rtol=0, atol=1e-6)
    after = trajectory.sample(5.0)
    np.testing.assert_allclose(after.value, positions[-1], rtol=0, atol=0)
    assert not after.rate.any()
    assert not after.acceleration.any()


def test_points_that_are_past_count_as_the_beginning_only():
    positions = np.array([[1.0], [2.0], [0.0]])
    waypoints = Waypoints(TIMES, positions, np.zeros((3, 1)))
    present = ReferenceSample(*np.full((3, 1), 9.0))
    whole = Trajectory.through(waypoints)
    late = Trajectory.through(waypoints, now=1.5, present=present)
    for t in (1.5, 1.7, 2.0):
        assert late.sample(t).value == whole.sample(t).value
    over = Trajectory.through(waypoints, now=2.5, present=present)
    assert over.sample(2.5).value == 0.0


@pytest.mark.parametrize(
    ("waypoints", "problem"),
    [
        (([], np.zeros((0, 1))), "no points"),
        (([0.0, 1.0, 1.0], np.zeros((3, 1))), "1 s follows 1 s"),
        (([0.0, np.nan], np.zeros((2, 1))), "increase"),
        (([0.0, 1.0], np.zeros((3, 1))), "one number"),
        (([0.0, 1.0], np.zeros((2, 1)), np.zeros((2, 2))), "one number"),
        (([0.0], np.array([[np.inf]])), "finite"),
        (([0.0], np.zeros((1, 1)), None, np.zeros((1, 1))), "no velocities"),
        (([0.0], np.zeros((1, 1)), np.ones((1, 1))), "zero at the last point"),
    ],
)
def test_malformed_waypoints(waypoints, problem):
    times, *fields = waypoints
    with pytest.raises(InputError, match=problem):
        Waypoints(np.array(times), *fields)
