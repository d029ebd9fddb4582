# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""One entry to the five pseudoinverse algorithms that de Falco, Pennestrì and Vita compare."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Literal

import numpy as np

from uk_dynamics.arrays import Array
from uk_dynamics.core.equation.published.gram_schmidt import by_gram_schmidt
from uk_dynamics.core.equation.published.greville import by_greville
from uk_dynamics.core.equation.published.orthogonal_factors import (
    Pseudoinverse,
    by_householder,
    by_singular_values,
    by_two_qr,
)
from uk_dynamics.exceptions import InputError

PseudoinverseMethod = Literal["svd", "varga", "greville", "householder", "gram_schmidt"]

ALGORITHMS: dict[PseudoinverseMethod, Callable[[Array, float], Pseudoinverse]] = {
    "svd": by_singular_values,
    "varga": by_two_qr,
    "greville": by_greville,
    "householder": by_householder,
    "gram_schmidt": by_gram_schmidt,
}


def pseudoinverse(
    A: Array, method: PseudoinverseMethod = "svd", *, rank_tolerance: float, projections: int = 1
) -> Pseudoinverse:
    """The Moore–Penrose inverse of A cut down to its rank.

    The algorithms measure small parts differently: singular values against the largest, pivots of
    QR against the first, Greville the residual norm of a row against the longest row. Rows of one
    length make the measures alike.

    Args:
        A: (m, n), of any rank; it is not changed.
        method: ``svd``, ``varga`` (two QR factorisations), ``greville`` (row by row),
            ``householder`` or ``gram_schmidt`` (least squares by that factorisation).
        rank_tolerance: Relative size up to which a part counts as zero, at least 0, below 1.
        projections: Of ``greville``, see :func:`by_greville`; the others need no second one.

    Raises:
        InputError: Unknown method, a tolerance out of range, or entries that are not finite.
    """
    if method not in ALGORITHMS:
        known = ", ".join(ALGORITHMS)
        raise InputError(f'no pseudoinverse "{method}"; there are: {known}')
    if not 0.0 <= rank_tolerance < 1.0:
        raise InputError(
            f"expected a rank tolerance of at least 0 and below 1, found {rank_tolerance}"
        )
    m, n = A.shape
    if A.size == 0:
        return Pseudoinverse(np.zeros((n, m)), np.zeros((m, 0)), np.zeros((0, n)))
    if not math.isfinite(float(np.abs(A).sum())):
        raise InputError("the matrix to invert is not finite")
    if method == "greville":
        return by_greville(A, rank_tolerance, projections=projections)
    return ALGORITHMS[method](A, rank_tolerance)
