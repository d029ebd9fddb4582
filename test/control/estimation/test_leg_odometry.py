# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Leg odometry of Chebyshev's walking machine: one encoder, loops, an inertial unit, its feet."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.walking_machine import Step, floating_plantigrade, walk

from uk_dynamics import Mechanism, State
from uk_dynamics.control.estimation import AttitudeFilter, LegOdometry, StateCompletion
from uk_dynamics.exceptions import InputError, UnknownNameError
from uk_dynamics.simulation import InertialNoise, InertialUnit

PERIOD, REST, WALKS = 0.004, 1.0, 2.0  # s
ENCODER = 1e-4  # rad
FILTER = 0.01  # s, of the encoder's differences
GYROSCOPE, ACCELEROMETER = 1.7e-4, 2.5e-3  # rad/s/√Hz and m/s²/√Hz, as data sheets of phones' units
GYROSCOPE_BIAS, ACCELEROMETER_BIAS = 5e-3, 0.1  # rad/s and m/s², standard deviation of each axis


@functools.cache
def machine() -> Mechanism:
    return floating_plantigrade()


@functools.cache
def steps() -> tuple[Step, ...]:
    return tuple(walk(machine(), REST + WALKS, PERIOD, REST))


def errors(seed: int | None, ground: float | None = None) -> tuple[np.ndarray, np.ndarray, float]:
    """Error of the position at rest and at the end, (2, 3), its deviation, and the way walked."""
    rng = np.random.default_rng(seed)
    noise, encoder = InertialNoise(), 0.0
    if seed is not None:
        encoder = ENCODER
        noise = InertialNoise(
            GYROSCOPE,
            ACCELEROMETER,
            tuple(GYROSCOPE_BIAS * rng.standard_normal(3)),
            tuple(ACCELEROMETER_BIAS * rng.standard_normal(3)),
            seed,
        )
    base = machine().model.bases[0]
    unit, completion = InertialUnit(machine(), base.link, noise), StateCompletion(machine())
    odometry = LegOdometry(machine(), ground=ground)
    begin = base.pose(steps()[0].state.q)[:3]
    odometry.reset(begin.tolist())
    before, rate, found = None, 0.0, []
    for step in steps():
        at = step.state.q[completion.encoders.places[0]] + encoder * rng.standard_normal()
        if before is not None:
            rate += (1.0 - np.exp(-PERIOD / FILTER)) * ((at - before) / PERIOD - rate)
        before = at
        sample = unit.sample(step.state)
        joints = completion.complete([at], [rate], step.state.t)
        odometry.update(
            State(step.state.t, joints.q, joints.v),
            sample.angular_velocity,
            sample.specific_force,
            step.standing,
            completion.sensitivity(),
        )
        found.append(odometry.pose[:3] - base.pose(step.state.q)[:3])
    way = float(np.linalg.norm(base.pose(steps()[-1].state.q)[:3] - begin))
    resting = round(REST / PERIOD)
    deviation = np.sqrt(np.diag(odometry.covariances[0])[:3])
    return np.array([found[resting], found[-1]]), deviation, way


@pytest.mark.slow
def test_without_noise_the_way_is_that_of_the_feet() -> None:
    (_, end), _, way = errors(None)
    assert way > 0.35
    # the filter of the encoder lags by 10 ms, and gravity pulls at the attitude while it walks
    assert np.abs(end).max() < 5e-4


@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_drift_with_the_noise_of_a_consumer_unit(seed: int) -> None:
    (rest, end), deviation, way = errors(seed, ground=0.0)
    assert np.abs(rest).max() < 5e-4, "it stands where it stood"
    assert np.linalg.norm(end) < 0.02 * way
    assert (np.abs(end) < 3.0 * deviation).all(), "the covariance says so"


def test_what_it_cannot_work_with_is_refused() -> None:
    with pytest.raises(InputError, match="needs one floating base, found 0"):
        LegOdometry(Mechanism.from_file("five_bar"))
    odometry = LegOdometry(machine())
    with pytest.raises(UnknownNameError, match=r"foot_left\.toe"):
        odometry.update(steps()[0].state, np.zeros(3), np.ones(3), ["foot_left.toe"])


@pytest.mark.slow
def test_gravity_gives_roll_and_pitch_and_rest_the_bias() -> None:
    rng = np.random.default_rng(3)
    for number in range(50):
        attitude = AttitudeFilter()
        rotation = Rotation.random(random_state=rng).as_matrix()
        if number == 0:  # on its tail
            rotation = Rotation.from_euler("y", -90.0, degrees=True).as_matrix()
        up, heading, bias = rotation.T[:, 2], rng.uniform(-3.0, 3.0), 0.01 * rng.standard_normal(3)
        attitude.start(9.81 * up, heading)
        np.testing.assert_allclose(attitude.rotation @ up, [0.0, 0.0, 1.0], atol=1e-12, rtol=0)
        began = attitude.rotation.copy()
        for _ in range(500):
            attitude.update(0.01, bias, 9.81 * up, known=np.zeros(3))
        np.testing.assert_allclose(attitude.bias, bias, atol=1e-5, rtol=0)  # exp(-10) of it
        turned = Rotation.from_matrix(began.T @ attitude.rotation).magnitude()
        assert turned < 0.02, "0.5 s of the bias, at most"
