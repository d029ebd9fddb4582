# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Baumgarte's gains: what a violated constraint does when nothing else moves it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from uk_dynamics.core.equation.stabilization import (
    position_gains,
    row_gains,
    velocity_gain,
)
from uk_dynamics_studies.papers.de_falco.machine import from_alpha_beta


def test_critical_damping_returns_like_its_closed_form() -> None:
    damping, stiffness = position_gains(5.0, 1.0)
    omega = 2.0 * np.pi * 5.0
    times = np.linspace(0.0, 0.3, 7)
    motion = solve_ivp(
        lambda _, y: (y[1], -damping * y[1] - stiffness * y[0]),
        (0.0, 0.3),
        (1.0, 0.0),
        t_eval=times,
        rtol=1e-10,
        atol=1e-12,
    )
    expected = (1.0 + omega * times) * np.exp(-omega * times)
    np.testing.assert_allclose(motion.y[0], expected, rtol=0, atol=1e-8)


def test_velocity_level_decays_with_the_angular_frequency() -> None:
    assert velocity_gain(2.0) == pytest.approx(4.0 * np.pi, abs=1e-12)


def test_gains_of_de_falco_come_back() -> None:
    """The paper uses α = 1000, β = 100."""
    damping, stiffness = position_gains(*from_alpha_beta(1000.0, 100.0))
    assert damping == pytest.approx(2 * 1000.0, abs=1e-9)
    assert stiffness == pytest.approx(100.0**2, abs=1e-9)


def test_each_row_has_its_own_gains_and_none_where_the_frequency_is_zero() -> None:
    damping, stiffness = position_gains(np.array([0.0, 1.0]), np.array([1.0, 0.5]))
    np.testing.assert_allclose(damping, [0.0, 2.0 * np.pi], rtol=0, atol=1e-14)
    np.testing.assert_allclose(stiffness, [0.0, 4.0 * np.pi**2], rtol=0, atol=1e-13)


def test_rows_have_the_gains_of_their_order():
    """ψ̈ + 2ζω ψ̇ + ω²ψ = 0, φ̇ + ωφ = 0, and nothing on accelerations; exact to rounding."""
    position, motion = np.array([True, False, False]), np.array([True, True, False])
    damping, stiffness = row_gains(2.0, 0.7, position, motion)
    omega = 4.0 * np.pi
    np.testing.assert_allclose(damping, [1.4 * omega, omega, 0.0], rtol=0.0, atol=1e-13)
    np.testing.assert_allclose(stiffness, [omega**2, 0.0, 0.0], rtol=0.0, atol=1e-13)
