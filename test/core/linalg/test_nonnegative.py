# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Non-negative least squares: optimal, also where columns are alike or of very different size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import nnls

from uk_dynamics.core.linalg.nonnegative import DEPENDENT, nonnegative


@pytest.mark.parametrize("alike", [None, 0.0, 1e-9], ids=["any", "copies", "nearly copies"])
@pytest.mark.parametrize("last", [1.0, 1e7])  # of a search with steps that are nearly free
def test_no_admissible_step_comes_closer(alike: float | None, last: float) -> None:
    rng = np.random.default_rng(7)
    for _ in range(200):
        m, n = rng.integers(1, 14), rng.integers(1, 40)
        A, b = rng.standard_normal((m, n)), rng.standard_normal(m)
        if alike is not None:
            half = n // 2
            noise = alike * rng.standard_normal((m, half))
            A[:, n - half :] = A[:, :half] * (1.0 + noise)
        A[-1] *= last
        y, found = nonnegative(A, b)
        assert found
        assert (y >= 0.0).all()
        # up to rounding of the largest row, and columns that are one where others leave less
        within = 1e-14 * last + DEPENDENT * np.linalg.norm(b)
        assert np.linalg.norm(A @ y - b) <= np.linalg.norm(A @ nnls(A, b)[0] - b) + within


def test_nothing_to_do() -> None:
    """Where all columns point away, and where there is none."""
    assert nonnegative(-np.eye(3), np.ones(3))[0].tolist() == [0.0, 0.0, 0.0]
    assert nonnegative(np.zeros((2, 0)), np.ones(2))[0].shape == (0,)
