# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""The equation against exact rational arithmetic: Gauss's principle as a linear system, solved."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.forms import METHODS

from uk_dynamics.core.equation.solution import FOR_SINGULAR_MASS, Status
from uk_dynamics.core.linalg.mass_factor import (
    SingularMass,
    UndeterminedCoordinatesError,
    mass_factor,
)
from uk_dynamics.core.solver_methods import Method, factorize

small = st.integers(-3, 3)


def reduced(matrix: np.ndarray) -> tuple[list[list[Fraction]], list[int]]:
    """Reduced row echelon form of a matrix of floats taken at their word, and its pivots."""
    rows = [[Fraction(float(x)) for x in row] for row in matrix]
    pivots: list[int] = []
    for column in range(matrix.shape[1]):
        place = len(pivots)
        below = [i for i in range(place, len(rows)) if rows[i][column] != 0]
        if not below:
            continue
        rows[place], rows[below[0]] = rows[below[0]], rows[place]
        rows[place] = [x / rows[place][column] for x in rows[place]]
        for i in range(len(rows)):
            if i != place and rows[i][column] != 0:
                factor = rows[i][column]
                rows[i] = [x - factor * y for x, y in zip(rows[i], rows[place], strict=True)]
        pivots.append(column)
    return rows, pivots


def independent_rows(A: np.ndarray) -> list[int]:
    return reduced(A.T)[1] if A.size else []


def exact_motion(M, A, F, b) -> tuple[np.ndarray, np.ndarray] | None:
    """q̈ and constraint force of [M Aᵀ; A 0] with the dependent rows left out; None if singular."""
    rows = independent_rows(A)
    n, r = len(M), len(rows)
    system = np.zeros((n + r, n + r + 1))
    system[:n, :n], system[:n, n:-1], system[n:, :n] = M, A[rows].T, A[rows]
    system[:, -1] = np.concatenate((F, b[rows]))
    form, pivots = reduced(system)
    if pivots != list(range(n + r)):
        return None
    solution = np.array([float(row[-1]) for row in form])
    return solution[:n], -A[rows].T @ solution[n:]


def systems(singular: bool):
    """Integer M (semi-definite), A of any rank with any number of rows, F, and an attainable b."""

    def build(n: int, m: int, k: int):
        return st.tuples(
            arrays(float, (k, n), elements=small),
            arrays(float, (m, n), elements=small),
            arrays(float, n, elements=small),
            arrays(float, n, elements=small),
        )

    return st.integers(1, 4).flatmap(
        lambda n: st.tuples(
            st.integers(0, 6), st.integers(0, n - 1) if singular else st.just(n)
        ).flatmap(lambda sizes: build(n, sizes[0], sizes[1]))
    )


def well_conditioned(M: np.ndarray, A: np.ndarray) -> bool:
    """Whether rounding stays far below the bound that the tests set."""
    norms = np.linalg.norm(A, axis=1, keepdims=True)
    unit = A / np.where(norms > 0.0, norms, 1.0)
    values = np.linalg.svd(unit, compute_uv=False)
    rank = len(independent_rows(A))
    if rank and values[rank - 1] < 0.05:
        return False
    Z = np.linalg.svd(A)[2][rank:].T if len(A) else np.eye(len(M))
    return Z.shape[1] == 0 or bool(np.linalg.eigvalsh(Z.T @ M @ Z)[0] > 1e-2)


def amplifies_rounding(M: np.ndarray) -> bool:
    """Whether rounding may leave more of a vanishing pivot than the rank rule takes for zero."""
    lost, left = [], M.copy()
    for j in range(len(M)):
        if left[j, j] <= 1e-9 * M[j, j]:
            break
        lost.append(M[j, j] / left[j, j])
        left -= np.outer(left[:, j], left[j]) / left[j, j]
    return max(lost, default=0.0) > 100.0


def check(method: str, M, A, F, b, tolerance: float = 1e-10) -> None:
    expected = exact_motion(M, A, F, b)
    assert expected is not None
    qdd, force = expected
    solution = factorize(mass_factor(M), A, method=method).solve(F, b)
    assert solution.rank == len(independent_rows(A))
    assert solution.status is Status.OK
    size = 1.0 + np.abs(qdd).max() + np.abs(force).max()
    np.testing.assert_allclose(solution.qdd, qdd, rtol=0, atol=tolerance * size)
    np.testing.assert_allclose(solution.constraint_force, force, rtol=0, atol=tolerance * size)


@pytest.mark.slow
@pytest.mark.parametrize("method", METHODS)
@given(systems(singular=False))
def test_regular_mass(method: str, drawn) -> None:
    G, A, F, x = drawn
    M = G.T @ G + np.eye(G.shape[1])
    assume(well_conditioned(M, A))
    check(method, M, A, F, A @ x)


@pytest.mark.parametrize("method", ["auto", *FOR_SINGULAR_MASS])
@given(systems(singular=True))
def test_singular_mass(method: Method, drawn) -> None:
    """Solved where [M; A] has full column rank, refused exactly where it has not."""
    G, A, F, x = drawn
    M = G.T @ G
    assume(not amplifies_rounding(M))
    mass = mass_factor(M)
    assert isinstance(mass, SingularMass)
    motion = exact_motion(M, A, F, A @ x)
    if motion is None:
        with pytest.raises(UndeterminedCoordinatesError) as caught:
            factorize(mass, A, method=method)
        undetermined = np.linalg.svd(np.vstack((M, A)))[2][
            len(independent_rows(np.vstack((M, A)))) :
        ]
        involved = np.flatnonzero(np.abs(undetermined).max(axis=0) > 1e-9)
        assert caught.value.coordinates == tuple(involved)
        return
    assume(well_conditioned(M, A))
    check(method, M, A, F, A @ x)


@pytest.mark.parametrize("method", METHODS)
def test_masses_over_seven_decades(method: str) -> None:
    """A crane of 1000 kg, a load of 1 kg and two bodies of 0.1 g; one of the rows is redundant."""
    M = np.diag([1024.0, 1.0, 2.0**-13, 2.0**-13])
    M[0, 1] = M[1, 0] = 0.5
    A = np.array(
        [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, -1.0, 0.0], [0.0, 0.0, 1.0, -1.0], [0.0, 1.0, 0.0, -1.0]]
    )
    F = np.array([-10240.0, -9.75, -(2.0**-10), 2.0**-9])
    check(method, M, A, F, np.array([0.0, 0.5, -0.25, 0.25]), tolerance=1e-13)


@pytest.mark.parametrize("part", [1e-1, 1e-2, 1e-3])
@pytest.mark.parametrize("method", METHODS)
def test_error_grows_no_faster_than_the_condition_number(method: str, part: float) -> None:
    """Two rows that differ by a part of themselves, with a right-hand side that does not match."""
    M, F = np.diag([1.0, 2.0, 3.0]), np.array([1.0, -2.0, 0.5])
    A = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, part]])
    b = np.array([1.0, 2.0])
    qdd = exact_motion(M, A, F, b)[0]
    solution = factorize(mass_factor(M), A, method=method).solve(F, b)
    assert 1.0 / part < solution.condition < 10.0 / part
    squared = method == "range_space"  # A M⁻¹ Aᵀ has the square of it
    error = 1e-15 * (1.0 / part) ** (2 if squared else 1)
    assert np.abs(solution.qdd - qdd).max() < 10.0 * error * np.abs(qdd).max()
