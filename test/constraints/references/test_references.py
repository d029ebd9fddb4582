# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""References: rates are derivatives of values, waypoints are met, ends are what was declared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from uk_dynamics.constraints.references.references import Live
from uk_dynamics.constraints.references.spline_reference import Spline
from uk_dynamics.constraints.references.trajectory_reference import Polynomial
from uk_dynamics.exceptions import InputError

STEP = 1e-5
TIMES = [0.0, 0.4, 1.1, 2.0, 2.2, 3.5, 4.0]
VALUES = np.array([[0.0, 1.0], [0.5, 0.2], [-0.3, 0.4], [0.1, 0.1], [0.6, 0.0], [0.2, 0.9], [0, 1]])
SPLINES = [
    (degree, boundary) for degree in (3, 5) for boundary in ("clamped", "natural", "periodic")
]


def assert_consistent(reference, t):
    """Central differences: step² times third derivatives of up to 1e3, and rounding 1e-16/step.

    At a knot the third derivative of a cubic jumps, by up to 1e2 here, which counts step times.
    """
    before, now, after = (reference.sample(t + h) for h in (-STEP, 0.0, STEP))
    slope = (after.value - before.value) / (2 * STEP)
    bend = (after.rate - before.rate) / (2 * STEP)
    np.testing.assert_allclose(now.rate, slope, rtol=0, atol=1e-6)
    np.testing.assert_allclose(now.acceleration, bend, rtol=0, atol=1e-3)


@given(t=st.floats(-3.0, 3.0))
def test_polynomial(t):
    reference = Polynomial.of([[1.0, -2.0, 0.5, 0.25], [0.3]])
    assert_consistent(reference, t)
    sample = reference.sample(t)
    assert abs(sample.value[0] - (1.0 - 2.0 * t + 0.5 * t**2 + 0.25 * t**3)) < 1e-12
    assert sample.value[1] == 0.3
    assert sample.rate[1] == sample.acceleration[1] == 0.0


@pytest.mark.parametrize(("degree", "boundary"), SPLINES)
def test_spline_meets_its_waypoints(degree, boundary):
    spline = Spline.through(TIMES, VALUES, degree=degree, boundary=boundary)
    for t, value in zip(TIMES, VALUES, strict=True):
        np.testing.assert_allclose(spline.sample(t).value, value, rtol=0, atol=1e-12)
    for t in np.linspace(0.013, 3.987, 40):
        assert_consistent(spline, t)


@pytest.mark.parametrize("degree", [3, 5])
def test_clamped_spline_begins_and_ends_at_rest(degree):
    spline = Spline.through(TIMES, VALUES, degree=degree, boundary="clamped")
    for t in (TIMES[0], TIMES[-1]):
        sample = spline.sample(t)
        assert np.max(np.abs(sample.rate)) < 1e-12
        if degree == 5:
            assert np.max(np.abs(sample.acceleration)) < 1e-11


@pytest.mark.parametrize(("degree", "boundary"), SPLINES)
def test_outside_its_times_a_spline_holds_or_repeats(degree, boundary):
    spline = Spline.through(TIMES, VALUES, degree=degree, boundary=boundary)
    if boundary == "periodic":
        for t in (0.7, 3.9):
            for there, here in zip(spline.sample(t + 8.0), spline.sample(t), strict=True):
                np.testing.assert_allclose(there, here, rtol=0, atol=1e-10)
        assert_consistent(spline, TIMES[-1])  # smooth across the seam
        return
    for t, end in ((-1.0, 0), (9.0, -1)):
        sample = spline.sample(t)
        np.testing.assert_allclose(sample.value, VALUES[end], rtol=0, atol=1e-12)
        assert not sample.rate.any()
        assert not sample.acceleration.any()


def test_two_waypoints_of_a_clamped_quintic_are_the_minimum_jerk_motion():
    spline = Spline.through([0.0, 2.0], [[0.0], [1.0]], degree=5)
    for t in np.linspace(0.0, 2.0, 11):
        s = t / 2.0
        expected = 10 * s**3 - 15 * s**4 + 6 * s**5
        assert abs(spline.sample(t).value[0] - expected) < 1e-13


@pytest.mark.parametrize(
    ("times", "values", "options", "place", "said"),
    [
        ([0.0, 1.0, 1.0], [[0], [1], [2]], {}, "times", "must increase"),
        ([0.0, 1.0], [[0], [1], [2]], {}, "values", "3 values for 2 times"),
        ([0.0], [[0]], {}, "times", "at least 2"),
        ([0, 1, 2], [[0], [1], [0]], {"degree": 5, "boundary": "periodic"}, "times", "at least 6"),
        ([0, 1, 2], [[0], [1], [0.5]], {"boundary": "periodic"}, "values", "ends where it begins"),
        ([0, 1], [[0], [np.nan]], {}, "values", "finite"),
        ([0, 1], [[0], [1]], {"degree": 4}, "degree", "3 or 5"),
    ],
)
def test_what_is_no_spline_is_refused(times, values, options, place, said):
    with pytest.raises(InputError, match=said) as caught:
        Spline.through(times, values, **options)
    assert caught.value.place == place


def test_live_reference_rests_at_its_initial_value():
    sample = Live(np.array([0.4, -1.0])).sample(3.0)
    assert sample.value.tolist() == [0.4, -1.0]
    assert not sample.rate.any()
    assert not sample.acceleration.any()
