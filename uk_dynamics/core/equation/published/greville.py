# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Pseudoinverse by Greville's recursion over the rows, de Falco (22)."""

from __future__ import annotations

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.core.equation.published.orthogonal_factors import Pseudoinverse


def by_greville(A: Array, rank_tolerance: float, *, projections: int = 1) -> Pseudoinverse:
    """Each row aᵢ = dᵢ Aᵢ₋₁ + cᵢ adds a column bᵢ: Aᵢ⁺ = [Aᵢ₋₁⁺ − bᵢ dᵢ, bᵢ].

    Rows come in the order given, without pivoting, so every leading block is inverted on the way:
    where one of them is nearly singular, digits are lost that A itself would not lose.

    For a dependent row the paper writes dᵢ Aᵢ₋₁⁺ / (1 + dᵢ dᵢᵀ); the sizes fit only for the
    transpose, Aᵢ₋₁⁺ dᵢᵀ.

    Args:
        A: (m, n), with entries.
        rank_tolerance: A row is dependent when |cᵢ| is at most this part of the longest row.
        projections: How often a row is projected off those before it. The paper does so once; a
            second projection removes the rounding of the first and recovers most digits.
    """
    m, n = A.shape
    inverse = np.zeros((n, m))
    least = rank_tolerance**2 * float(np.einsum("ij,ij->i", A, A).max())
    independent: list[int] = []
    left = np.zeros((m, min(m, n)))  # rows in terms of the independent ones
    for i, a in enumerate(A):
        d = a @ inverse[:, :i]
        c = a - d @ A[:i]
        for _ in range(projections - 1):
            again = c @ inverse[:, :i]
            d += again
            c -= again @ A[:i]
        if c @ c > least and len(independent) < n:
            b = c / (c @ c)
            left[i, len(independent)] = 1.0
            independent.append(i)
        else:
            b = inverse[:, :i] @ d / (1.0 + d @ d)
            left[i] = d @ left[:i]
        inverse[:, :i] -= np.outer(b, d)
        inverse[:, i] = b
    return Pseudoinverse(inverse, left[:, : len(independent)], A[independent])
