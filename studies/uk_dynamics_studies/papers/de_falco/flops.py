# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Tables 1 to 6 of de Falco, Pennestrì and Vita: formulas, and operations that arrays count."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from uk_dynamics.core.equation.published import by_gram_schmidt, by_greville
from uk_dynamics_studies.papers.output.study import Table

_ELEMENTWISE = {np.add, np.subtract, np.multiply, np.divide, np.sqrt}
Inverse = Callable[[Any], Any]
Formula = Callable[[int, int], int]
SIZES = ((2, 3), (15, 18), (19, 28))
_TOLERANCE = 1e-10
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
# Table 6.
PRINTED: dict[str, tuple[int, int, int]] = {
    "(31)": (573, 129_024, 421_568),
    "(43)": (1218, 294_102, 975_716),
    "(35)": (399, 119_853, 288_211),
    "(41)": (1227, 274_158, 968_772),
}


@dataclass
class Tally:
    """Number of floating point operations so far."""

    flops: int = 0  # additions, multiplications, divisions and roots


_current: ContextVar[Tally | None] = ContextVar("tally", default=None)


@contextmanager
def counting() -> Iterator[Tally]:
    """Count what happens to counted arrays inside the block."""
    tally = Tally()
    token = _current.set(tally)
    try:
        yield tally
    finally:
        _current.reset(token)


def charge(flops: int) -> None:
    """Add operations that cannot be seen, such as those of a library, at a known price."""
    tally = _current.get()
    if tally is not None:
        tally.flops += flops


class CountedArray(np.ndarray):
    """An array whose arithmetic is counted; a product (m, n)(n, p) is 2 m n p, as in the paper.

    Comparisons, copies, signs and absolute values cost nothing.
    """

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: Any = None, **options: Any
    ) -> Any:
        """Do it on plain arrays, and count."""
        plain = [np.asarray(x) if isinstance(x, CountedArray) else x for x in inputs]
        if out is not None:
            options["out"] = tuple(np.asarray(x) for x in out)
        result = getattr(ufunc, method)(*plain, **options)
        charge(_price(ufunc, method, plain, result))
        if out is not None:
            return out[0]
        return result.view(CountedArray) if isinstance(result, np.ndarray) else result

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        """NumPy's outer product forgets whose product it is."""
        if func is np.outer:
            return np.multiply(np.ravel(args[0])[:, None], np.ravel(args[1])[None, :])
        return super().__array_function__(func, types, args, kwargs)


def counted(values: ArrayLike) -> Any:
    """A counted copy of an array."""
    return np.array(values, dtype=float).view(CountedArray)


def _price(ufunc: np.ufunc, method: str, inputs: list[Any], result: Any) -> int:
    if ufunc is np.matmul:
        return 2 * int(np.size(result)) * int(np.shape(inputs[0])[-1])
    if ufunc not in _ELEMENTWISE:
        return 0
    if method == "reduce":
        return int(np.size(inputs[0])) - int(np.size(result))
    return int(np.size(result))


def svd_flops(m: int, n: int) -> int:
    """Price of the singular value decomposition that the paper takes; it holds for m ≥ n."""
    return 4 * m * m * n + 8 * m * n * n + 9 * n**3


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
