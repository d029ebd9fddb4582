# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What a simulated inertial unit measures, against what there is to be measured."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from support.floating_five_bar import floating_five_bar, random_state

from uk_dynamics import Mechanism, simulate
from uk_dynamics.exceptions import StateError, UnknownNameError
from uk_dynamics.simulation import InertialNoise, InertialUnit


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Mechanism:
    return Mechanism.from_file(floating_five_bar(tmp_path_factory.mktemp("machine")))


def test_its_samples_integrate_to_the_motion(machine: Mechanism) -> None:
    """Attitude and velocity of a tumbling machine in free fall follow from samples alone."""
    begin = random_state(machine, np.random.default_rng(8))
    motion = simulate(machine, begin, 0.5, sample_period=0.002)
    unit, base = InertialUnit(machine, "ground"), machine.model.bases[0]
    rotation, velocity, elapsed = None, None, 0.002
    for t, q, v in zip(motion.t, motion.q, motion.v, strict=True):
        sample = unit.sample(type(begin)(float(t), q, v))
        now = Rotation.from_quat(base.pose(q)[3:])
        if rotation is None:
            rotation, velocity = now, now.apply(base.twist(v)[:3])
            continue
        middle = rotation * Rotation.from_rotvec(0.5 * elapsed * sample.angular_velocity)
        rotation = rotation * Rotation.from_rotvec(elapsed * sample.angular_velocity)
        velocity = velocity + elapsed * (
            middle.apply(sample.specific_force) + machine.model.gravity
        )
        # sums of rounding: a unit integrates exactly
        assert (rotation.inv() * now).magnitude() < 1e-11
        expected = now.apply(base.twist(v)[:3])
        np.testing.assert_allclose(velocity, expected, atol=1e-10, rtol=0)


@pytest.mark.slow
def test_noise_and_bias_are_as_declared(machine: Mechanism) -> None:
    noise = InertialNoise(1e-3, 2e-2, (0.1, 0.2, 0.3), (1.0, 2.0, 3.0), seed=4)
    unit, again = (InertialUnit(machine, "ground", noise) for _ in range(2))
    start = machine.start()
    rates, forces = [], []
    for k in range(4001):
        sample = unit.sample(type(start)(0.01 * k, start.q, 0.0 * start.v))
        if k:
            rates.append(sample.angular_velocity)
            forces.append(sample.specific_force)
    same = [again.sample(type(start)(0.01 * k, start.q, 0.0 * start.v)) for k in range(3)]
    assert (same[2].specific_force == forces[1]).all(), "a seed repeats"
    # density over the root of the period; means and deviations of 4,000 numbers
    for values, bias, density in (
        (np.array(rates), [0.1, 0.2, 0.3], 1e-3),
        (np.array(forces) - [0.0, 0.0, 9.81], [1.0, 2.0, 3.0], 2e-2),
    ):
        deviation = density / 0.1
        np.testing.assert_allclose(values.mean(0), bias, atol=5 * deviation / 63.0, rtol=0)
        np.testing.assert_allclose(values.std(0), deviation, atol=0.08 * deviation, rtol=0)


def test_mistakes_are_named(machine: Mechanism) -> None:
    with pytest.raises(UnknownNameError, match="grond"):
        InertialUnit(machine, "grond")
    unit = InertialUnit(machine, "ground")
    unit.sample(machine.start())
    with pytest.raises(StateError, match="expected a time after 0 s"):
        unit.sample(machine.start())
