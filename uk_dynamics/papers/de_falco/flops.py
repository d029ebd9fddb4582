"""Tables 1 to 6 of de Falco, Pennestrì and Vita: their formulas and counted operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from uk_dynamics.core.equation.published import by_gram_schmidt, by_greville
from uk_dynamics.papers.de_falco.operation_count import CountedArray, charge, counted, counting
from uk_dynamics.papers.output.study import Table

Inverse = Callable[[Any], Any]
Formula = Callable[[int, int], int]

SIZES = ((2, 3), (15, 18), (19, 28))
_TOLERANCE = 1e-10


def svd_flops(m: int, n: int) -> int:
    """Price of the singular value decomposition that the paper takes; it holds for m ≥ n."""
    return 4 * m * m * n + 8 * m * n * n + 9 * n**3


# Table 1.
TOTALS: dict[str, Formula] = {
    "(31)": lambda m, n: 12 * m * n**2 + 4 * m**2 * n + 9 * n**3 + 6 * n**2 + 4 * n,
    "(43)": lambda m, n: (
        4 * m**2 * n
        + 10 * m * n**2
        + 11 * n**3
        + 4 * (n + m) ** 2 * n
        + (n + m) * (8 * n**2 + 2 * n)
        + n
    ),
    "(35)": lambda m, n: 8 * n**2 * m + 21 * m**3 + 2 * m**2 * n + 6 * n**2 + 3 * n,
    "(41)": lambda m, n: 4 * m**2 * n + 12 * m * n**2 + 34 * n**3 + 3 * n + 4 * n**2,
}

# The lines of Tables 2, 5, 3 and 4.
LINES: dict[str, Formula] = {
    "(31)": lambda m, n: sum(
        (n, n, 2 * n**2 * m, svd_flops(m, n), 2 * n**2, 2 * n**2, n, 2 * n**2 * m, 2 * n**2, n)
    ),
    "(43)": lambda m, n: sum(
        (svd_flops(m, n), 2 * m * n**2, n, 2 * n**3, svd_flops(n + m, n), 2 * (n + m) * n)
    ),
    "(35)": lambda m, n: sum(
        (n, *[2 * n**2 * m] * 4, 21 * m**3, 2 * m**2 * n, n, *[2 * n**2] * 3, n)
    ),
    "(41)": lambda m, n: sum(
        (svd_flops(m, n), 2 * n**2 * m, n, 4 * n**3, 21 * n**3, n, 2 * n**2 * m, *[2 * n**2] * 2, n)
    ),
}  # fmt: skip

# Table 6.
PRINTED: dict[str, tuple[int, int, int]] = {
    "(31)": (573, 129_024, 421_568),
    "(43)": (1218, 294_102, 975_716),
    "(35)": (399, 119_853, 288_211),
    "(41)": (1227, 274_158, 968_772),
}


def by_priced_svd(A: Any) -> Any:
    """A pseudoinverse that costs what the paper says, whatever NumPy does."""
    charge(svd_flops(*A.shape))
    return np.linalg.pinv(np.asarray(A), _TOLERANCE).view(CountedArray)


def by_counted_greville(A: Any) -> Any:
    """Greville's recursion, which is plain array arithmetic and counts itself."""
    return by_greville(A, _TOLERANCE).matrix.view(CountedArray)


def by_counted_gram_schmidt(A: Any) -> Any:
    """Least squares by modified Gram–Schmidt; LAPACK's triangular solution is charged."""
    found = by_gram_schmidt(A, _TOLERANCE)
    charge(found.rank**2 * min(A.shape))
    return found.matrix.view(CountedArray)


def equation_31(mass: Any, A: Any, F: Any, b: Any, inverse: Inverse) -> Any:
    """(31) with a diagonal mass matrix, products as with a full one."""
    M_inverse = np.diag(1.0 / mass).view(CountedArray)
    root = np.diag(np.sqrt(np.diag(M_inverse))).view(CountedArray)
    D_plus = inverse(A @ root)
    free = M_inverse @ F
    return free + (root @ D_plus) @ (b - A @ free)


def equation_35(mass: Any, A: Any, F: Any, b: Any, inverse: Inverse) -> Any:
    """(35) with a diagonal mass matrix, products as with a full one."""
    M_inverse = np.diag(1.0 / mass).view(CountedArray)
    Q_plus = inverse(A @ (M_inverse @ A.T))
    H = M_inverse @ (A.T @ Q_plus)
    return (np.eye(len(mass)) - H @ A) @ (M_inverse @ F) + H @ b


def equation_41(mass: Any, A: Any, F: Any, b: Any, inverse: Inverse) -> Any:
    """(41)."""
    M = np.diag(mass).view(CountedArray)
    A_plus = inverse(A)
    E = np.eye(len(mass)) - A_plus @ A
    Q = inverse(E @ M @ E)
    return Q @ F + (A_plus - Q @ M @ A_plus) @ b


def equation_43(mass: Any, A: Any, F: Any, b: Any, inverse: Inverse) -> Any:
    """(43) without non-ideal forces."""
    M = np.diag(mass).view(CountedArray)
    E = np.eye(len(mass)) - inverse(A) @ A
    stacked = np.vstack((np.asarray(E @ M), np.asarray(A))).view(CountedArray)
    return inverse(stacked) @ np.concatenate((F, b)).view(CountedArray)


EQUATIONS: dict[str, Callable[..., Any]] = {
    "(31)": equation_31,
    "(43)": equation_43,
    "(35)": equation_35,
    "(41)": equation_41,
}


def count(equation: str, m: int, n: int, inverse: Inverse = by_priced_svd) -> int:
    """Operations for one acceleration of a random system with m rows, one of them redundant."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((m, n))
    A[-1] = A[:-1].sum(axis=0)
    mass, F, x = rng.uniform(1.0, 2.0, n), rng.standard_normal(n), rng.standard_normal(n)
    arguments = [counted(values) for values in (mass, A, F, A @ x)]
    with counting() as tally:
        EQUATIONS[equation](*arguments, inverse)
    return tally.flops


def tables() -> tuple[Table, ...]:
    """Published, by formula, and counted."""
    rows = []
    for equation, formula in TOTALS.items():
        for (m, n), printed in zip(SIZES, PRINTED[equation], strict=True):
            rows.append(
                (
                    equation, m, n, printed, formula(m, n), LINES[equation](m, n),
                    count(equation, m, n),
                    count(equation, m, n, by_counted_gram_schmidt),
                    count(equation, m, n, by_counted_greville),
                )
            )  # fmt: skip
    return (
        Table(
            "Floating point operations (Tables 1 to 6)",
            (
                "equation",
                "m",
                "n",
                "Table 6, printed",
                "formula of Table 1",
                "lines of Tables 2 to 5, added up",
                "counted, SVD at the paper's price",
                "counted, modified Gram–Schmidt",
                "counted, Greville",
            ),
            rows,
            "Counted: the equations on arrays that tally their operations, a product (m, n)(n, p)"
            " as 2mnp, M a full matrix in products as in the paper, m rows of rank m − 1.",
        ),
    )
