# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Five pseudoinverse algorithms against what defines a pseudoinverse: Moore and Penrose."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.five_bar_arrays import FiveBar

from uk_dynamics.core.equation.published.pseudoinverse import (
    ALGORITHMS,
    Pseudoinverse,
    pseudoinverse,
)
from uk_dynamics.exceptions import InputError

EPS = float(np.finfo(float).eps)
STABLE = [name for name in ALGORITHMS if name != "greville"]


def condition(matrix: np.ndarray, rank: int) -> float:
    """Largest over smallest singular value that counts."""
    sigma = np.linalg.svd(matrix, compute_uv=False)
    return float(sigma[0] / sigma[rank - 1])


def leading_condition(matrix: np.ndarray) -> float:
    """Worst condition of the first 1, 2, … rows, which Greville inverts one after the other."""
    worst = 1.0
    for rows in range(1, len(matrix) + 1):
        sigma = np.linalg.svd(matrix[:rows], compute_uv=False)
        sigma = sigma[sigma > 1e-10 * sigma[0]]
        worst = max(worst, sigma[0] / sigma[-1])
    return worst


def defect(A: np.ndarray, G: np.ndarray) -> float:
    """How far (1a)–(1d) are violated, relative to the matrix that each should equal."""

    def size(X: np.ndarray) -> float:
        return float(np.abs(X).max())

    return max(
        size(A @ G - (A @ G).T),
        size(G @ A - (G @ A).T),
        size(A @ G @ A - A) / size(A),
        size(G @ A @ G - G) / size(G),
    )


def rank_deficient(rng: np.random.Generator, m: int, n: int, rank: int) -> np.ndarray:
    return rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n))


sizes = st.tuples(st.integers(1, 9), st.integers(1, 9), st.integers(0, 9))


@pytest.mark.parametrize("method", STABLE)
@given(sizes, st.integers(0, 2**32 - 1))
def test_moore_penrose_conditions_for_every_rank(method, drawn, seed) -> None:
    m, n, rank = drawn
    rank = min(rank, m, n)
    A = rank_deficient(np.random.default_rng(seed), m, n, rank)
    found = pseudoinverse(A, method, rank_tolerance=1e-9)
    if rank == 0:
        assert found.rank == 0
        assert not found.matrix.any()
        return
    if condition(A, rank) > 1e6:
        return  # too near to a lower rank to have one rank for all measures
    assert found.rank == rank
    kappa = condition(found.truncated, rank)
    assert defect(found.truncated, found.matrix) <= 10.0 * kappa * EPS
    assert np.abs(found.truncated - A).max() <= 100.0 * EPS * np.abs(A).max()


@given(sizes, st.integers(0, 2**32 - 1))
def test_greville_pays_for_every_leading_block(drawn, seed) -> None:
    """Without pivoting the worst leading block counts, and it counts with its square.

    Rows of unit length: a short row before a long one costs digits as well.
    """
    m, n, rank = drawn
    rank = max(1, min(rank, m, n))
    A = rank_deficient(np.random.default_rng(seed), m, n, rank)
    A /= np.linalg.norm(A, axis=1)[:, None]
    worst = leading_condition(A)
    if worst > 1e4:
        return
    found = pseudoinverse(A, "greville", rank_tolerance=1e-9)
    assert found.rank == rank
    assert defect(found.truncated, found.matrix) <= 100.0 * worst**2 * EPS


def five_bar_rows(angle: float, drift: float) -> np.ndarray:
    """Rows of unit length of the asymmetric five-bar, whitened."""
    machine = FiveBar(asymmetric=True)
    q = machine.at(angle) + drift * np.random.default_rng(0).standard_normal(12)
    rows = machine.factor.whiten(machine.rows(q)[0].T).T
    return rows / np.linalg.norm(rows, axis=1)[:, None]


def of_five_bar(method, angle: float, drift: float) -> tuple[Pseudoinverse, float]:
    found = pseudoinverse(five_bar_rows(angle, drift), method, rank_tolerance=1e-4)
    return found, condition(found.truncated, found.rank)


@pytest.mark.parametrize("drift", [0.0, 1e-9, 1e-6])
@pytest.mark.parametrize("angle", [-1.0, 0.6, 0.1, 1e-2, 1e-3, 0.0])
@pytest.mark.parametrize("method", STABLE)
def test_five_bar_at_and_near_and_off_its_manifold(method, angle, drift) -> None:
    found, kappa = of_five_bar(method, angle, drift)
    assert found.rank == (11 if angle else 10)
    assert defect(found.truncated, found.matrix) <= 10.0 * kappa * EPS
    # Drift makes the redundant row look independent by about its own size; that was cut off.
    cut = np.abs(found.truncated - five_bar_rows(angle, drift)).max()
    assert cut <= 10.0 * drift + 100.0 * EPS


@pytest.mark.parametrize("drift", [0.0, 1e-9, 1e-6])
def test_greville_far_from_a_rank_change(drift) -> None:
    found, kappa = of_five_bar("greville", 0.6, drift)
    assert found.rank == 11
    assert defect(found.truncated, found.matrix) <= 10.0 * kappa * EPS


def test_greville_loses_digits_near_the_rank_change() -> None:
    """The flat five-bar at θ → 0: the loss grows like 1/θ³ where the others' grows like 1/θ."""
    lost = {}
    for angle in (1e-1, 1e-2, 1e-3):
        found, kappa = of_five_bar("greville", angle, 0.0)
        assert found.rank == 11
        lost[angle] = defect(found.truncated, found.matrix)
        others = [
            defect((one := of_five_bar(m, angle, 0.0)[0]).truncated, one.matrix) for m in STABLE
        ]
        assert max(others) <= 10.0 * kappa * EPS
    assert lost[1e-2] > 10.0 * lost[1e-1]
    assert lost[1e-3] > 10.0 * lost[1e-2]
    assert 1e-10 < lost[1e-3] < 1e-6  # eight digits; the others keep twelve


def test_greville_believes_in_drift_that_the_others_cut_off() -> None:
    """Its remainder of a dependent row is measured against rows that are nearly dependent."""
    assert of_five_bar("greville", 1e-3, 1e-6)[0].rank == 12
    assert {of_five_bar(method, 1e-3, 1e-6)[0].rank for method in STABLE} == {11}


@pytest.mark.parametrize("method", ALGORITHMS)
@pytest.mark.parametrize("shape", [(3, 5), (5, 3), (4, 4), (1, 3), (3, 1)])
def test_solves_least_squares_with_the_shortest_vector(method, shape) -> None:
    rng = np.random.default_rng(4)
    A = rank_deficient(rng, *shape, min(2, *shape))
    b = rng.standard_normal(shape[0])
    x = pseudoinverse(A, method, rank_tolerance=1e-9).matrix @ b
    expected = np.linalg.lstsq(A, b, rcond=1e-9)[0]
    np.testing.assert_allclose(x, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", ALGORITHMS)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (2, 3)])
def test_nothing_inverts_to_nothing(method, shape) -> None:
    found = pseudoinverse(np.zeros(shape), method, rank_tolerance=1e-4)
    assert found.rank == 0
    assert found.matrix.shape == shape[::-1]
    assert not found.matrix.any()
    assert found.truncated.shape == shape


@pytest.mark.parametrize("method", ALGORITHMS)
def test_the_tolerance_decides_the_rank(method) -> None:
    A = np.diag([1.0, 1e-3, 1e-7])
    A[2, :2] = 1.0  # a row of unit length that is 1e-7 off the others
    A[1] /= 1e-3
    for tolerance, rank in ((1e-4, 2), (1e-9, 3)):
        found = pseudoinverse(A, method, rank_tolerance=tolerance)
        assert found.rank == rank
        assert np.abs(found.truncated - A).max() <= 2.0 * tolerance


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_matrices_that_are_not_finite_are_refused(bad) -> None:
    with pytest.raises(InputError, match="not finite"):
        pseudoinverse(np.array([[1.0, bad]]), rank_tolerance=1e-4)


def test_unknown_methods_and_tolerances_are_refused() -> None:
    with pytest.raises(InputError, match=r'"lu".*svd, varga, greville'):
        pseudoinverse(np.eye(2), "lu", rank_tolerance=1e-4)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"1\.5"):
        pseudoinverse(np.eye(2), rank_tolerance=1.5)
