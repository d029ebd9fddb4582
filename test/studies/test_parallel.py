# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The parallel manipulator in plain formulas, by their own properties and against the mechanism."""

import numpy as np
import pytest

from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics_studies.papers.parallel import arms
from uk_dynamics_studies.papers.parallel.runs import state_of

TIMES = [0.0, 0.3, 0.8, 1.2]
STEP = 1e-5  # s; central differences, errors of about 1e-9 where a circle of 3 rad/s is passed


def tips(q):
    angles = q.reshape(3, 2)
    both = angles.sum(axis=1)
    reach = np.column_stack(
        (np.cos(angles[:, 0]) + np.cos(both), np.sin(angles[:, 0]) + np.sin(both))
    )
    return arms.BASES + arms.LENGTH * reach


@pytest.mark.parametrize("t", TIMES)
def test_the_exact_motion_brings_all_tips_to_the_point(t):
    motion = arms.exact_motion(t)
    assert tips(motion.q) == pytest.approx(np.tile(arms.point(t)[0], (3, 1)), abs=1e-15)
    later, earlier = arms.exact_motion(t + STEP), arms.exact_motion(t - STEP)
    assert motion.v == pytest.approx((later.q - earlier.q) / (2 * STEP), abs=1e-8)
    assert motion.a == pytest.approx((later.v - earlier.v) / (2 * STEP), abs=1e-8)
    # Z holds the joint rates of a moving point.
    assert motion.Z @ arms.point(t)[1] == pytest.approx(motion.v, abs=1e-13)


def test_the_arms_are_those_of_the_mechanism():
    mechanism = Mechanism.from_file("parallel_2dof")
    for t in TIMES:
        motion = arms.exact_motion(t)
        M, F, A, _ = mechanism.terms(state_of(mechanism, motion, t))
        expected_M, expected_h = arms.terms(motion.q, motion.v)
        assert np.abs(M - expected_M).max() <= 1e-15
        assert np.abs(-F - expected_h).max() <= 1e-15
        assert np.abs(A @ motion.Z).max() <= 1e-14


@pytest.mark.parametrize("t", TIMES)
def test_stacking_gives_what_separate_chains_would_need(t):
    """Not what the motors of the closed machine need, and not without the passive joints."""
    motion = arms.exact_motion(t)
    M, h = arms.terms(motion.q, motion.v)
    stacked = arms.stacked_force(motion)
    assert stacked == pytest.approx(M @ motion.a + h, abs=1e-14)
    assert np.abs(stacked[arms.PASSIVE]).max() > 2e-3  # N·m
    # Virtual work: the consistent torques alone do what all six did; the three active ones do not.
    torques = arms.consistent_torques(motion)
    power = motion.Z.T @ stacked
    assert motion.Z[arms.ACTIVE].T @ torques == pytest.approx(power, abs=1e-14)
    assert np.abs(motion.Z[arms.ACTIVE].T @ stacked[arms.ACTIVE] - power).max() > 1e-2  # N
