# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Integrability of Pfaffian forms: the review's examples and machines in closed form."""

import numpy as np
import pytest

from uk_dynamics.core.equation.integrability import PfaffianSystem, integrability


def system(forms):
    """Forms in coordinates, given as a function from a point to rows."""
    return PfaffianSystem(
        forms=lambda p: np.atleast_2d(np.array(forms(*p), dtype=float)),
        move=np.add,
        bracket=lambda x, y: np.zeros_like(x),
    )


def points(n, count=5):
    return np.random.default_rng(n).uniform(-1.0, 1.0, (count, n))  # the same in any order of tests


def lemma_1(forms, point, h=1e-4):
    """Left side of (11), by central differences (error h² times third derivatives, and 1e-12)."""
    curl = np.zeros((3, 3))
    for axis in range(3):
        step = h * np.eye(3)[axis]
        curl[axis] = (np.array(forms(*(point + step))) - forms(*(point - step))) / (2 * h)
    a, b, c = forms(*point)
    d = curl  # d[i, j] = ∂ω_j/∂x_i
    return a * (d[2, 1] - d[1, 2]) + b * (d[0, 2] - d[2, 0]) + c * (d[1, 0] - d[0, 1])


def test_example_2_is_holonomic():
    for p in points(3):
        found = integrability(system(lambda x, y, z: [1.0, 2.0 * y, 1.0]), p)
        assert found.rank == 1
        assert found.holonomic.tolist() == [True]
        assert found.curvature[0] < 1e-10
        assert found.integrable_combinations == 1


def test_example_3_is_holonomic_with_time_as_a_coordinate():
    """ẋ + 2yẏ + ż = 1; with t·ẋ instead of ẋ it would not be."""
    for p in points(4):
        found = integrability(system(lambda x, y, z, t: [1.0, 2.0 * y, 1.0, -1.0]), p)
        assert found.holonomic.tolist() == [True]
        stretched = integrability(system(lambda x, y, z, t: [1.5 + t, 2.0 * y, 1.0, -1.0]), p)
        assert stretched.holonomic.tolist() == [False]


def test_example_4_is_nonholonomic():
    for p in points(3):
        found = integrability(system(lambda x, y, z: [1.0, 2.0 * z, 1.0]), p)
        assert found.holonomic.tolist() == [False]
        assert found.integrable_combinations == 0
        # (17): the left side of Lemma 1 is α β_z = 2 of the unit form 2/(2 + 4 z²) …
        unit = 2.0 / (2.0 + 4.0 * p[2] ** 2)
        assert abs(found.curvature[0] - unit) < 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_one_form_in_three_coordinates_is_lemma_1(seed):
    """ω([z₁, z₂]) is the triple product of (11), over |ω|² for unit vectors."""
    rng = np.random.default_rng(seed)
    c = rng.standard_normal((3, 4))

    def forms(x, y, z):
        return (c @ [np.sin(x + y), np.cos(z), x * z, 1.0]).tolist()

    p = rng.uniform(-1.0, 1.0, 3)
    found = integrability(system(forms), p)
    expected = abs(lemma_1(forms, p)) / np.sum(np.square(forms(*p)))
    assert abs(found.curvature[0] - expected) < 1e-6
    assert bool(found.holonomic[0]) == (expected < 1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_gradients_are_holonomic_whatever_multiplies_them(seed):
    """ω = μ df: an integrating factor does not matter, nor do mixtures of several of them."""
    rng = np.random.default_rng(seed)
    mix = np.array([[2.0, 0.5], [-1.0, 1.0]])

    def forms(x, y, z, w):
        first = np.array([y * z, x * z, x * y, np.cos(w)])
        second = np.array([np.exp(x), 2.0 * y, 0.0, 1.0])
        return np.exp(x * y) * (mix + np.diag([x * x, w * w])) @ [first, second]

    found = integrability(system(forms), rng.uniform(0.2, 1.0, 4))
    assert found.holonomic.all()
    assert found.integrable_combinations == 2


def test_rolling_disc_and_disc_on_a_line():
    """Upright disc (x, y, heading, roll): nonholonomic, unless held on the line y = 0."""
    r = 0.3

    def rolling(x, y, heading, roll):
        c, s = np.cos(heading), np.sin(heading)
        return [[c, s, 0.0, -r], [-s, c, 0.0, 0.0]]

    def on_a_line(x, y, heading, roll):
        return [*rolling(x, y, heading, roll), [0.0, 0.0, 1.0, 0.0]]

    for p in points(4):
        free = integrability(system(rolling), p)
        assert free.holonomic.tolist() == [False, False]
        assert free.integrable_combinations == 0
        held = integrability(system(on_a_line), p)
        assert held.holonomic.all()
        assert held.integrable_combinations == 3


def test_differential_drive_hides_a_holonomic_combination():
    """The difference of the wheels' turns is the heading; no single row says so."""
    r, b = 0.1, 0.4

    def forms(x, y, heading, left, right):
        c, s = np.cos(heading), np.sin(heading)
        return [
            [c, s, -b / 2, -r, 0.0],
            [c, s, b / 2, 0.0, -r],
            [-s, c, 0.0, 0.0, 0.0],
        ]

    for p in points(5):
        found = integrability(system(forms), p)
        assert found.holonomic.tolist() == [False, False, False]
        assert found.integrable_combinations == 1
        with_heading = integrability(
            system(lambda *q: [*forms(*q), [0.0, 0.0, b, r, -r]]), p
        )  # a dependent row, which is the hidden one
        assert with_heading.rank == 3
        assert with_heading.holonomic.tolist() == [False, False, False, True]


def test_brackets_of_brackets_count():
    """Engel: dy − z dx, dz − w dx. Lemma 1 clears the first form, the second step does not."""
    for p in points(4):
        found = integrability(system(lambda x, y, z, w: [[-z, 1, 0, 0], [-w, 0, 1, 0]]), p)
        assert found.curvature[0] < 1e-9
        assert found.curvature[1] > 0.1
        assert found.holonomic.tolist() == [False, False]


def tractor(trailers):
    """Axles that do not slide sideways: a tractor at x, y and trailers hitched behind it."""

    def forms(x, y, *heading):
        rows = np.zeros((trailers + 1, trailers + 3))
        for axle, row in enumerate(rows):
            s, c = np.sin(heading[axle]), np.cos(heading[axle])
            row[:2] = -s, c
            for hitch in range(1, axle + 1):
                row[2 + hitch] -= s * np.sin(heading[hitch]) + c * np.cos(heading[hitch])
        return rows

    return system(forms)


@pytest.mark.parametrize("trailers", [1, 2, pytest.param(3, marks=pytest.mark.slow)])
def test_a_tractor_backs_its_trailers_anywhere(trailers):
    """Each trailer takes one more bracket within brackets; no row is bound for good."""
    found = integrability(tractor(trailers), points(3 + trailers, 1)[0])
    assert not found.holonomic.any()
    assert found.integrable_combinations == 0
    assert found.complete
    assert found.curvature[0] > 0.1
    np.testing.assert_allclose(found.curvature[1:], 0.0, rtol=0, atol=1e-7)


@pytest.mark.slow
def test_more_trailers_than_can_be_tried_are_admitted():
    found = integrability(tractor(4), points(7, 1)[0])
    assert not found.complete
    assert not found.holonomic.any()


@pytest.mark.parametrize("size", [1e-2, 1.0, 1e2])
def test_the_step_adapts_to_the_size_of_a_machine(size):
    """A form that bends within a hundredth of a unit is judged as well as one of a unit."""

    def bent(x, y, z):
        return [np.cos(x / size), np.sin(x / size) * 1.0, 0.2 * np.cos(y / size) + 1.0]

    def gradient(x, y, z):
        k = np.exp(0.3 * np.sin(z / size))
        return [k * np.cos(x / size), k * np.exp(y / size), k]

    p = size * np.array([0.3, 0.2, -0.4])
    assert not integrability(system(bent), p).holonomic[0]
    assert integrability(system(gradient), p).holonomic[0]
