# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The coordinated robots: the equations by their own properties, and what the recipe does."""

import numpy as np
import pytest

from uk_dynamics_studies.papers.servo import chain
from uk_dynamics_studies.papers.servo.recipe import follow, recipe

TIMES = [0.0, 0.4, 1.7, np.pi, 4.0]
STEP = 1e-5  # s; central differences of smooth functions of order 1: errors of about 1e-10


def difference(function, t):
    return (function(t + STEP) - function(t - STEP)) / (2.0 * STEP)


@pytest.mark.parametrize("t", TIMES)
def test_the_exact_motion_fulfils_the_task_and_keeps_the_loop(t):
    motion = chain.exact_motion(t)
    height = 0.5 * (1.0 - np.cos(t))
    assert chain.load_position(motion.angles) == pytest.approx([1.5, height, 0.0], abs=1e-14)
    assert chain.closure_error(motion.angles) == pytest.approx(np.zeros(2), abs=1e-14)
    rates = difference(lambda s: chain.exact_motion(s).angles, t)
    accelerations = difference(lambda s: chain.exact_motion(s).rates, t)
    assert motion.rates == pytest.approx(rates, abs=1e-9)
    assert motion.accelerations == pytest.approx(accelerations, abs=1e-9)
    for A, b in (
        chain.loop_rows(motion.angles, motion.rates),
        chain.task_rows(motion.angles, motion.rates, t),
    ):
        assert A @ motion.accelerations == pytest.approx(b, abs=1e-13)


def test_the_equations_of_the_chain_conserve_energy():
    """dE/dt = 0 without torques: M, the velocity terms and gravity fit each other."""
    rng = np.random.default_rng(0)
    angles, rates = rng.uniform(-3.0, 3.0, 5), rng.standard_normal(5)

    def energy(q, v):
        behind = 0.5 + np.arange(4, -1, -1)
        return 0.5 * v @ chain.terms(q, v)[0] @ v + 9.8 * behind @ np.sin(q)

    M, bias = chain.terms(angles, rates)
    acceleration = np.linalg.solve(M, -bias)
    power = difference(
        lambda s: energy(angles + s * rates, rates + s * acceleration),
        0.0,
    )
    assert power == pytest.approx(0.0, abs=1e-7)  # J/s, of energies of some 100 J
    # Stretched out it turns like a rod of five: about its end, (5 kg)(5 m)²/3 and what the given
    # moments have beyond those of rods, 1 − 1/12 each.
    inertia = np.ones(5) @ chain.terms(np.zeros(5), np.zeros(5))[0] @ np.ones(5)
    assert inertia == pytest.approx(5.0 * 25.0 / 3.0 + 5.0 * (1.0 - 1.0 / 12.0), abs=1e-12)


@pytest.mark.parametrize("t", TIMES)
def test_consistent_torques_leave_only_a_force_in_the_hinge(t):
    motion = chain.exact_motion(t)
    M, bias = chain.terms(motion.angles, motion.rates)
    torques = chain.consistent_torques(motion)
    missing = M @ motion.accelerations + bias - chain.B @ torques
    loop, _ = chain.loop_rows(motion.angles, motion.rates)
    force = np.linalg.lstsq(loop.T, missing, rcond=None)[0]
    assert loop.T @ force == pytest.approx(missing, abs=1e-11)
    # The machine and its task are symmetric, so the torques of least norm are as well.
    assert torques[3:] == pytest.approx(-torques[2::-1], abs=1e-12)


def test_torques_over_one_period_are_those_found_independently():
    torques = np.array(
        [chain.consistent_torques(chain.exact_motion(t)) for t in np.linspace(0.0, 2 * np.pi, 400)]
    )
    # Given with two decimals.
    assert torques.min(axis=0) == pytest.approx([0, 0, -8.23, 4.46, -4.49, -8.23], abs=0.01)
    assert torques.max(axis=0) == pytest.approx([8.23, 4.49, -4.46, 8.23, 0, 0], abs=0.01)


def test_the_recipe_serves_the_task_and_gives_up_the_loop():
    for t in TIMES:
        motion = chain.exact_motion(t)
        found = recipe(motion.angles, motion.rates, t)
        A, b = chain.task_rows(motion.angles, motion.rates, t)
        assert A @ found.accelerations == pytest.approx(b, abs=1e-11)
        loop, b_loop = chain.loop_rows(motion.angles, motion.rates)
        assert np.linalg.norm(loop @ found.accelerations - b_loop) > 0.5  # m/s²
    run = follow(0.25, 0.0, 5e-3)
    assert run.closure_errors[0] == pytest.approx(0.0, abs=1e-14)
    assert 0.09 < run.closure_errors[-1] < 0.11  # m
    assert follow(0.25, 50.0, 5e-3).closure_errors.max() < 2e-3
