"""The forms of the fundamental equation by name, and what each of them needs."""

from __future__ import annotations

from typing import Literal

Method = Literal[
    "auto",
    "udwadia_kalaba",
    "nullspace",
    "hierarchical",
    "udwadia_kalaba_pseudoinverse",
    "range_space",
    "augmented_pseudoinverse",
    "udwadia_phohomsiri",
    "kkt",
]

#: Forms that divide by M and look at rows whitened by it; the others scale coordinates by 1/√M_jj.
WHITENING: frozenset[str] = frozenset(
    {"auto", "udwadia_kalaba", "hierarchical", "udwadia_kalaba_pseudoinverse", "range_space"}
)
#: Forms whose result depends on the choice of a pseudoinverse algorithm.
WITH_PSEUDOINVERSE: frozenset[str] = frozenset(
    {
        "udwadia_kalaba_pseudoinverse",
        "range_space",
        "augmented_pseudoinverse",
        "udwadia_phohomsiri",
    }
)
#: Forms for any positive semi-definite M, ``auto`` aside.
FOR_SINGULAR_MASS: tuple[str, ...] = (
    "nullspace",
    "augmented_pseudoinverse",
    "udwadia_phohomsiri",
    "kkt",
)
