# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The rank rule against plain Gram–Schmidt, and in the situations it was made for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.forms import METHODS

from uk_dynamics.core.linalg.mass_factor import mass_factor
from uk_dynamics.core.linalg.row_basis import RowBasis
from uk_dynamics.core.solver_methods import factorize
from uk_dynamics.exceptions import InputError

TOLERANCE = 1e-4


def basis_of(rows: np.ndarray, natural_scale=None) -> RowBasis:
    return RowBasis(np.asfortranarray(rows.T), natural_scale, TOLERANCE)


def left_of(row: np.ndarray, taken: np.ndarray) -> float:
    """Part of a row's norm that is orthogonal to others, by least squares."""
    if len(taken) == 0:
        return 1.0
    unit = taken / np.linalg.norm(taken, axis=1, keepdims=True)
    fit = np.linalg.lstsq(unit.T, row, rcond=None)[0]
    return float(np.linalg.norm(row - fit @ unit) / np.linalg.norm(row))


@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.integers(1, 9), st.integers(1, 7))
def test_remainders_are_those_of_gram_schmidt(seed: int, n: int, m: int, rank: int) -> None:
    """Also where rows outnumber coordinates, and with row norms over twelve decades."""
    rng = np.random.default_rng(seed)
    rank = min(rank, n, m)
    rows = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))
    rows *= 10.0 ** rng.uniform(-6, 6, (m, 1))
    basis = basis_of(rows, np.linalg.norm(rows, axis=1))
    taken = rows[basis.independent]
    for place, row in enumerate(basis.order):
        # The handicap that decides ties is 1e-6 per row.
        expected = left_of(rows[row], taken[: min(place, basis.rank)])
        assert basis.residual_norm[row] == pytest.approx(expected, rel=2e-5, abs=1e-9)
        assert basis.residual_norm[row] > TOLERANCE or place >= basis.rank
    sizes = basis.residual_norm[basis.independent]
    assert (sizes[1:] <= sizes[:-1] * (1 + 1e-9)).all()
    others = basis.residual_norm[basis.dependent]
    assert (others <= min(TOLERANCE, *sizes) * (1 + 1e-9)).all()


def test_ties_go_to_the_earlier_row_whatever_the_rounding() -> None:
    """Three rows in a plane, all alike by symmetry: noise must not choose."""
    angles = np.radians([0.0, 120.0, 240.0])
    rows = np.column_stack((np.cos(angles), np.sin(angles), np.zeros(3)))
    rng = np.random.default_rng(0)
    for _ in range(50):
        basis = basis_of(rows + 1e-9 * rng.standard_normal(rows.shape))
        assert basis.order.tolist() == [0, 1, 2]


def test_a_vanishing_row_is_measured_against_its_natural_scale() -> None:
    """At 1e-7 of its usual size a row is mostly drift; without the scale it passes for sound."""
    rows = np.array([[1.0, 0.0, 0.0], [0.0, 1e-7, 1e-10]])
    assert basis_of(rows).rank == 2
    assert basis_of(rows, np.array([1.0, 1.0])).rank == 1
    assert basis_of(rows, np.array([1.0, 1e-7])).rank == 2


def test_rows_of_light_bodies_survive_beside_heavy_ones() -> None:
    rows = np.array([[0.03, 0.0, 0.0], [0.0, 100.0, -100.0]])
    assert basis_of(rows).rank == 2
    assert basis_of(rows, np.array([0.03, 141.0])).rank == 2


@pytest.mark.parametrize("count", [1, 3])
def test_no_row_at_all_and_only_zero_rows(count: int) -> None:
    empty = basis_of(np.zeros((0, 4)))
    assert (empty.rank, empty.condition) == (0, 1.0)
    assert empty.determined().shape == (0,)
    zero = basis_of(np.zeros((count, 4)))
    assert zero.rank == 0
    assert not zero.determined().any()
    np.testing.assert_array_equal(zero.multipliers(np.empty(0)), np.zeros(count))


def test_full_rank_leaves_no_freedom() -> None:
    basis = basis_of(np.diag([1.0, 2.0, 3.0]))
    assert basis.rank == 3
    assert basis.complement().shape == (3, 0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("row", [0, 1, 2, 3])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_rows_that_are_not_finite_are_refused(method: str, row: int, value: float) -> None:
    """More rows than coordinates: none may hide among those that are not taken."""
    A = np.random.default_rng(0).standard_normal((4, 3))
    A[row, 1] = value
    with pytest.raises(InputError, match="not finite"):
        factorize(mass_factor(np.eye(3)), A, natural_scale=np.ones(4), method=method)


def test_rows_of_small_tolerance_are_taken_before_the_others() -> None:
    """Two rows 1e-7 apart differ; what repeats their sum but for 1e-6 does not."""
    rows = np.array([[1.0, 1e-6, 1e-6], [1.0, 0.0, 0.0], [1.0, 1e-7, 0.0]])
    basis = RowBasis(np.asfortranarray(rows.T), None, np.array([1e-4, 1e-10, 1e-10]))
    assert sorted(basis.independent) == [1, 2]
    assert basis.residual_norm[0] == pytest.approx(1e-6, rel=1e-6)
    assert not basis.determined().any()
    once = RowBasis(np.asfortranarray(rows.T), None, 1e-4)
    assert list(once.independent) == [0]


def test_the_condition_number_is_that_of_scaled_rows() -> None:
    rows = np.array([[1000.0, 0.0], [0.001, 0.001]])
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    assert basis_of(rows).condition == pytest.approx(np.linalg.cond(unit), rel=1e-5)
