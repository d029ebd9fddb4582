# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Rotation vectors against SciPy's rotations, high-order differences and their own identities."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.transform import Rotation

from uk_dynamics.core.linalg import rotations as so3

vectors = arrays(float, 3, elements=st.floats(-3.0, 3.0))
ANGLES = [0.0, 1e-300, 1e-12, 1e-8, 1e-5, 1e-3, 0.1, 0.99, 1.0, 1.01, 2.0, 3.0, np.pi - 1e-3]
NEAR_PI = [np.pi - 1e-6, np.pi - 1e-9, np.pi - 1e-12]


def directions(count: int) -> np.ndarray:
    generator = np.random.default_rng(1)
    vector = generator.normal(size=(count, 3))
    return np.vstack(
        (vector / np.linalg.norm(vector, axis=1, keepdims=True), np.eye(3), -np.eye(3))
    )


def derivative(function, x: np.ndarray, direction: np.ndarray, h: float = 1e-2) -> np.ndarray:
    """Central difference of order eight: its error at this step is rounding, about 1e-13."""
    weights = (4 / 5, -1 / 5, 4 / 105, -1 / 280)
    return (
        sum(
            w * (function(x + k * h * direction) - function(x - k * h * direction))
            for k, w in enumerate(weights, start=1)
        )
        / h
    )


@pytest.mark.parametrize("angle", ANGLES + NEAR_PI)
def test_exp_and_log_agree_with_scipy_and_each_other(angle: float) -> None:
    phi = angle * directions(20)
    rotation = so3.exp(phi)
    # 1e-15 is a few units in the last place of entries of size one.
    np.testing.assert_allclose(rotation, Rotation.from_rotvec(phi).as_matrix(), atol=2e-15, rtol=0)
    np.testing.assert_allclose(so3.log(rotation), phi, atol=3e-15, rtol=0)


def test_log_keeps_relative_accuracy_of_tiny_rotations() -> None:
    phi = 1e-10 * directions(20)
    np.testing.assert_allclose(so3.log(so3.exp(phi)), phi, rtol=1e-14, atol=0)


def test_half_turn_gives_one_of_the_two_axes() -> None:
    axes = directions(20)
    phi = so3.log(2.0 * axes[:, :, None] * axes[:, None, :] - np.eye(3))
    assert np.linalg.norm(phi, axis=1) == pytest.approx(np.pi, abs=1e-14)
    np.testing.assert_allclose(np.abs(np.sum(phi * axes, axis=1)), np.pi, atol=1e-14)


@pytest.mark.parametrize("angle", [*ANGLES, np.pi, 4.0, 6.0])
def test_left_jacobian_is_the_derivative_of_exp(angle: float) -> None:
    generator = np.random.default_rng(2)
    for axis in directions(3):
        phi, rate = angle * axis, generator.normal(size=3)
        spin = derivative(so3.exp, phi, rate) @ so3.exp(phi).T
        np.testing.assert_allclose(so3.skew(so3.left_jacobian(phi) @ rate), spin, atol=1e-12)


@pytest.mark.parametrize("angle", [*ANGLES, np.pi, 4.0, 6.0])
def test_left_jacobian_inverse_inverts(angle: float) -> None:
    phi = angle * directions(5)
    product = so3.left_jacobian_inverse(phi) @ so3.left_jacobian(phi)
    # near 2π the inverse itself is about 10
    np.testing.assert_allclose(product, np.broadcast_to(np.eye(3), product.shape), atol=1e-14)


@pytest.mark.parametrize("angle", [*ANGLES, np.pi, 4.0, 6.0])
def test_left_jacobian_rate_is_the_derivative_of_the_left_jacobian(angle: float) -> None:
    generator = np.random.default_rng(3)
    for axis in directions(3):
        phi, rate = angle * axis, generator.normal(size=3)
        np.testing.assert_allclose(
            so3.left_jacobian_rate(phi, rate),
            derivative(so3.left_jacobian, phi, rate),
            atol=1e-12,
        )


def test_tiny_angles_keep_the_leading_terms() -> None:
    phi, rate = np.array([1e-9, -2e-9, 3e-9]), np.array([1.0, 2.0, -1.0])
    np.testing.assert_allclose(so3.left_jacobian(phi) - np.eye(3), so3.skew(phi) / 2, atol=1e-16)
    expected = so3.skew(rate) / 2
    np.testing.assert_allclose(so3.left_jacobian_rate(phi, rate), expected, atol=1e-8)


@given(vectors, vectors, vectors)
def test_skew_is_the_cross_product(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> None:
    np.testing.assert_allclose(so3.skew(a) @ b, np.cross(a, b), atol=1e-14)
    np.testing.assert_allclose(so3.exp(c) @ so3.exp(-c), np.eye(3), atol=1e-14)


def test_leading_dimensions_are_independent() -> None:
    generator = np.random.default_rng(4)
    phi, rate = generator.normal(size=(2, 2, 3, 3))
    rotation = so3.exp(phi)
    for index in np.ndindex(2, 3):
        np.testing.assert_array_equal(rotation[index], so3.exp(phi[index]))
        # Two formulas share the work, by the largest angle of the batch: equal up to rounding.
        np.testing.assert_allclose(
            so3.log(rotation)[index], so3.log(rotation[index]), rtol=0, atol=4e-16 * np.pi
        )
        np.testing.assert_array_equal(
            so3.left_jacobian_rate(phi, rate)[index],
            so3.left_jacobian_rate(phi[index], rate[index]),
        )
    assert so3.exp(np.zeros((0, 3))).shape == (0, 3, 3)
    assert so3.log(np.zeros((0, 3, 3))).shape == (0, 3)
