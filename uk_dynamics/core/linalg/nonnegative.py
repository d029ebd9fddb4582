# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Non-negative least squares: Lawson's and Hanson's active set (1974, chapter 23).

``scipy.optimize`` has them, too, but importing it takes longer than writing a servo law in C.
"""

import numpy as np
from scipy.linalg.lapack import dgeqrf, dormqr, dtrtrs

from uk_dynamics.arrays import Array, Flags
from uk_dynamics.core.linalg.rank_rule import TINY

#: Columns of which the others leave less are one.
DEPENDENT = 1e-10
#: Of what it would be if nothing cancelled: a gradient below is rounding.
NO_GRADIENT = 1e-13


def nonnegative(A: Array, b: Array) -> tuple[Array, bool]:
    """The y ≥ 0 of least |A y − b|, (n,), and whether it was found; with A (m, n), b (m,)."""
    columns, sizes = np.ascontiguousarray(A.T), np.linalg.norm(A, axis=0)
    least = NO_GRADIENT * np.linalg.norm(b) * sizes
    y, rest, inside = np.zeros(len(sizes)), b, list[int]()
    barred: Flags = np.zeros(len(sizes), dtype=bool)
    for _ in range(10 * len(sizes) + 1):
        slopes = columns @ rest
        slopes[barred | (slopes <= least)] = 0.0
        slopes[inside] = 0.0
        if not slopes.any() or len(inside) == len(b):  # which leave nothing
            return y, True
        new = int(slopes.argmax())
        inside.append(new)
        while count := len(inside):
            factors, tau, _, _ = dgeqrf(columns[inside].T)
            if abs(factors[count - 1, -1]) <= DEPENDENT * sizes[inside[-1]]:
                barred[inside.pop()] = True  # nothing that the others do not give
                break
            rest = dormqr("L", "T", factors, tau, b, 1)[0]
            found, before = dtrtrs(factors[:count], rest[:count])[0], y[inside]
            if found.min() > 0.0:
                y[inside], rest[:count] = found, 0.0
                rest = dormqr("L", "N", factors, tau, rest, 1)[0]  # more exact than b − A y
                barred &= new not in inside
                break
            ways = np.where(found > 0.0, np.inf, before / np.maximum(before - found, TINY))
            out = int(ways.argmin())
            y[inside] += ways[out] * (found - before)
            barred[new] |= inside[out] == new and not before[out]  # rounding said it would help
            y[inside.pop(out)] = 0.0
    return y, False
