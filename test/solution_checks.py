"""Whether two solutions of the fundamental equation say the same."""

from __future__ import annotations

import numpy as np

from uk_dynamics.core.solution import Solution

# Rounding times the conditions of M and A, some 1e3 in random systems.
NEAR = {"rtol": 0.0, "atol": 1e-10}


def assert_same_solution(found: Solution, expected: Solution, A, b) -> None:
    """Everything that a solution of A q̈ = b without non-ideal forces can be asked."""
    size = 1.0 + np.abs(expected.multipliers).max()
    np.testing.assert_allclose(found.qdd, expected.qdd, **NEAR)
    np.testing.assert_allclose(found.multipliers / size, expected.multipliers / size, **NEAR)
    for name in ("ideal_force", "constraint_force", "loads"):
        force, wanted = getattr(found, name), getattr(expected, name)
        np.testing.assert_allclose(force / size, wanted / size, **NEAR)
    np.testing.assert_allclose(found.residual, A @ found.qdd - b, **NEAR)
    np.testing.assert_allclose(found.coordinates, expected.coordinates, **NEAR)
    np.testing.assert_allclose(found.condition, expected.condition, rtol=1e-9)
    np.testing.assert_array_equal(found.determined, expected.determined)
    assert (found.rank, found.status, found.method) == (
        expected.rank,
        expected.status,
        expected.method,
    )
    np.testing.assert_array_equal(found.offending, expected.offending)
