# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Small positive semidefinite systems by elimination, over floats or symbols.

Only what is on and above the diagonal is read, so that the rest costs nothing in what is traced;
what is eliminated with the same matrix is computed once there.
"""

from uk_dynamics.arrays import Reals
from uk_dynamics.core.linalg.symbolic_functions import at_least

_DEPENDENT = 1e-9  # of a diagonal: smaller pivots are of rows that others determine
_SMALLEST = 1e-12  # of a pivot


def definite_solve(matrix: Reals, right: Reals) -> Reals:
    """Solution of a positive semidefinite system, (n,); dependent rows have none."""
    G, x, pivots = _eliminated(matrix, right)
    n = len(right)
    for k in reversed(range(n)):
        for i in range(k + 1, n):
            x[k : k + 1] = x[k : k + 1] - G[k, i : i + 1] * x[i : i + 1]
        x[k : k + 1] = x[k : k + 1] / pivots[k]
    return x


def metric_square(gram: Reals, s: Reals) -> Reals:
    """|s|² = sᵀ(T Tᵀ)⁻¹ s, (1,), of s (rows,); rows that depend on others make it large."""
    _, x, pivots = _eliminated(gram, s)
    found = 0.0 * s[:1]
    for k, pivot in enumerate(pivots):
        found = found + x[k : k + 1] * x[k : k + 1] / pivot
    return found


def mirrored(matrix: Reals) -> Reals:
    """The symmetric matrix, (n, n), of which what is on and above the diagonal is given."""
    found = matrix.copy()
    for k in range(len(found)):
        found[k + 1 :, k] = found[k, k + 1 :]
    return found


def _eliminated(matrix: Reals, right: Reals) -> tuple[Reals, Reals, list[Reals]]:
    """Rows above the diagonal, right-hand side and pivots after elimination."""
    G, x, pivots = matrix.copy(), right.copy(), []
    for k in range(len(right)):
        pivots.append(at_least(G[k : k + 1, k], _DEPENDENT * matrix[k, k] + _SMALLEST))
        for i in range(k + 1, len(right)):
            part = G[k : k + 1, i] / pivots[k]
            G[i : i + 1, i:] = G[i : i + 1, i:] - part * G[k, i:]
            x[i : i + 1] = x[i : i + 1] - part * x[k : k + 1]
    return G, x, pivots
