# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What encoders tell, against what rounding, differences and a filter of first order do."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from uk_dynamics.core.servo import reading

POSITIONS = st.floats(-3.0, 3.0)
STEPS = st.floats(1e-6, 1e-2)
PERIOD = 1e-3  # s


def told(
    position: float, last: float, rate: float, *, noise=0.0, h=PERIOD, step=0.0, filter_time=0.0
):
    """Position and velocity that are told; the true velocity is 7."""
    numbers = (position, 7.0, noise, last, rate, h, step, filter_time)
    return reading(*(np.array([x]) for x in numbers))[:, 0]


@given(POSITIONS, POSITIONS, STEPS, st.floats(-0.1, 0.1))
def test_a_position_is_the_nearest_step(
    position: float, last: float, step: float, noise: float
) -> None:
    found, rate = told(position, last, 0.0, noise=noise, step=step)
    # rounding of numbers is 1e-16 of up to 3e6 steps
    assert abs(found - position - noise) <= step * (0.5 + 1e-8)
    assert abs(found / step - round(found / step)) <= 1e-8
    assert rate == (found - last) / PERIOD


def test_without_a_resolution_nothing_is_rounded_and_the_first_velocity_is_true() -> None:
    assert told(0.123456789, 0.0, 0.0, noise=1e-5, h=0.0).tolist() == [0.123456789 + 1e-5, 7.0]


@given(st.floats(1e-4, 1e-2), st.integers(1, 20))
def test_a_filter_nears_a_constant_velocity_exponentially(filter_time: float, periods: int) -> None:
    position = rate = 0.0
    for k in range(periods):
        position, rate = told(2.0 * (k + 1) * PERIOD, position, rate, filter_time=filter_time)
    # differences of positions below 0.04 rad are off by 1e-17 rad, in 1 ms
    assert abs(rate - 2.0 * (1.0 - np.exp(-periods * PERIOD / filter_time))) <= 1e-11
