# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The way to a target: smooth, within its limits, at rest at the end."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from uk_dynamics.constraints.references.references import ReferenceSample
from uk_dynamics.constraints.references.trajectory_reference import Pace, approach

LINEAR, ANGULAR = np.array([1, 1, 0], bool), np.array([0, 0, 1], bool)
PACES = [Pace(LINEAR, 0.3, 1.0), Pace(ANGULAR, 0.5, 2.0)]
places = st.lists(st.floats(-2.0, 2.0), min_size=3, max_size=3).map(np.array)


def within(trajectory, times, speed_slack=1e-6, accelerations=True):
    for t in times:
        sample = trajectory.sample(t)
        for pace in PACES:
            assert np.linalg.norm(sample.rate[pace.rows]) <= pace.speed * (1 + speed_slack)
            if accelerations:
                found = np.linalg.norm(sample.acceleration[pace.rows])
                assert found <= pace.acceleration * (1 + 1e-9)


@given(begin=places, target=places)
def test_from_rest_limits_hold_and_one_of_them_is_reached(begin, target):
    rest = ReferenceSample(begin, np.zeros(3), np.zeros(3))
    way = approach(rest, target, PACES, 5.0)
    times = np.linspace(5.0, way.knots[-1], 201)
    within(way, times)
    np.testing.assert_allclose(way.sample(5.0).value, begin, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(way.sample(1e3).value, target)
    if np.abs(target - begin).max() > 0.01:
        samples = [way.sample(t) for t in times]
        used = [
            max(np.linalg.norm(getattr(s, field)[p.rows]) for s in samples) / getattr(p, limit)
            for p in PACES
            for field, limit in (("rate", "speed"), ("acceleration", "acceleration"))
        ]
        assert max(used) > 0.99, "no slower than it has to be"


@given(begin=places, first=places, second=places, part=st.floats(0.05, 0.95))
def test_another_target_on_the_way_is_taken_up_smoothly(begin, first, second, part):
    rest = ReferenceSample(begin, np.zeros(3), np.zeros(3))
    way = approach(rest, first, PACES, 0.0)
    now = part * way.knots[-1]
    present = way.sample(now)
    new = approach(present, second, PACES, now)
    for found, expected in zip(new.sample(now), present, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    joint = new.knots[1]
    before, after = new.sample(joint - 1e-9), new.sample(joint)
    for found, expected in zip(before, after, strict=True):
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)
    # sampled as finely as the braking was
    within(new, np.linspace(now, new.knots[-1], 301), speed_slack=1e-3, accelerations=False)
    np.testing.assert_array_equal(new.sample(1e3).value, second)
