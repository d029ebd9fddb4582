# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Tables 7 to 12 of de Falco, Pennestrì and Vita as printed."""

from __future__ import annotations

from typing import Any, NamedTuple

from uk_dynamics.core.equation.published import PseudoinverseMethod


class Row(NamedTuple):
    """One row of a table; a dash of the paper is None."""

    result: str
    violation: float | None  # Σ Ψᵢ², m²
    evaluations: int | None  # NFUNC


class Printed(NamedTuple):
    """One table."""

    tolerance: float  # TOL, of the integrator and of the rank
    stabilized: bool  # with α = 1000, β = 100
    rows: dict[PseudoinverseMethod, Row]  # by algorithm


NAMES: dict[PseudoinverseMethod, str] = {
    "svd": "SVD",
    "varga": "Varga",
    "greville": "Greville",
    "householder": "LS-Householder",
    "gram_schmidt": "LS-Modified GS",
}


def _printed(tolerance: float, stabilized: bool, *rows: tuple[Any, ...]) -> Printed:
    return Printed(tolerance, stabilized, dict(zip(NAMES, map(Row._make, rows), strict=True)))


PRINTED: dict[int, Printed] = {
    7: _printed(
        1e-10, False,
        ("fails after 9.1 s", 3.7e-7, None),
        ("fails after 8.0 s", 9.9e-2, None),
        ("correct up to 17.5 s", 4.5e-5, 2_961_955),
        ("correct up to 16.5 s", 2.3e-4, 6_131_159),
        ("correct up to 17.0 s", 1.1e-4, 3_749_766),
    ),
    8: _printed(
        1e-8, False,
        ("fails after 12.07 s", 3.4e-6, None),
        ("fails after 8.06 s", 9.9e-2, None),
        ("correct up to 17.5 s", 1.86e-4, 1_648_055),
        ("correct up to 18.0 s", 7.9e-4, 1_641_751),
        ("correct up to 18.0 s", 5.2e-4, 1_644_341),
    ),
    9: _printed(
        1e-6, False,
        ("correct up to 17.5 s", 4.1e-4, 1_033_381),
        ("fails after 7.3 s", 9.9e-2, None),
        ("correct up to 19.0 s", 9.7e-4, 1_017_558),
        ("correct", 7.9e-4, 1_641_751),
        ("correct", 6.9e-4, 1_013_795),
    ),
    10: _printed(
        1e-10, True,
        ("fails after 1.17 s", None, None),
        ("correct", 4.5e-5, 78_491_398),
        ("correct", 2.1e-7, 74_043_990),
        ("correct", 3.3e-7, 73_707_588),
        ("correct", 4.1e-7, 73_910_268),
    ),
    11: _printed(
        1e-8, True,
        ("fails after 0.17 s", None, None),
        ("fails after 14.97 s", None, None),
        ("correct", 4.90e-7, 80_109_155),
        ("correct", 3.5e-7, 80_197_458),
        ("correct", 4.9e-7, 80_112_706),
    ),
    12: _printed(
        1e-6, True,
        ("fails after 0.46 s", None, None),
        ("fails after 9.7 s", None, None),
        ("correct", 1.9e-6, 80_483_163),
        ("correct", 1.14e-6, 80_689_071),
        ("correct", 1.06e-6, 80_636_983),
    ),
}  # fmt: skip
