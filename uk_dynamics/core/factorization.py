"""One entry point to the forms of the fundamental equation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from uk_dynamics.core.fundamental_equation import Factorization
from uk_dynamics.core.hierarchical import Hierarchical
from uk_dynamics.core.mass_factor import MassFactor, SingularMass
from uk_dynamics.core.nullspace import NullSpace, UndeterminedCoordinatesError
from uk_dynamics.core.udwadia_kalaba import UdwadiaKalaba
from uk_dynamics.exceptions import InputError

__all__ = ["Factorization", "Method", "UndeterminedCoordinatesError", "factorize"]

Array = NDArray[np.float64]
Method = Literal["auto", "udwadia_kalaba", "nullspace", "hierarchical"]


def factorize(
    mass: MassFactor | SingularMass,
    A: Array,
    *,
    natural_scale: Array | None = None,
    rank_tolerance: float = 1e-4,
    method: Method = "auto",
    levels: Sequence[NDArray[np.intp]] | None = None,
    clearance: Array | None = None,
) -> Factorization:
    """Factor M and A for the fundamental equation.

    Args:
        mass: Factor of M, or M itself where it is singular.
        A: Constraint matrix, (m, nv); m may be 0 or larger than nv. It is not copied.
        natural_scale: How large each row is over the configurations, (m,), as the norm of
            A_i L⁻ᵀ, or of A_i diag(1/√M_jj) for the null space (per root kg). Give it where rows
            can vanish, as they do where a mechanism is singular. Default: as large as now, and
            rows below 1e-9 of the largest are zero.
        rank_tolerance: A row is dependent when what those before it leave of it is at most this
            part of its norm, or of a tenth of its natural scale if that is larger.
        method: ``auto`` takes the recursion where there are clearances, and the null space only
            where M is singular.
        levels: Of method ``hierarchical``: rows of each level, the first enforced first; None is
            one level.
        clearance: Of method ``hierarchical``: diagonal of R in A q̈ + Rλ = b, (m,); None is zero.

    Raises:
        InputError: A is not finite, M is singular and the method needs its inverse, or the method
            knows no clearances.
        UndeterminedCoordinatesError: [M; A] lacks full column rank.
    """
    if clearance is not None and method == "auto":
        method = "hierarchical"
    if clearance is not None and method != "hierarchical":
        raise InputError(f'method "{method}" knows no clearances; use "auto" or "hierarchical"')
    if isinstance(mass, SingularMass):
        if method in ("udwadia_kalaba", "hierarchical"):
            raise InputError(
                'the mass matrix is singular: use method "auto" or "nullspace", '
                "or give every link a mass and every joint an armature"
            )
        return NullSpace(mass, A, natural_scale, rank_tolerance)
    if method == "nullspace":
        return NullSpace(mass, A, natural_scale, rank_tolerance)
    if method == "hierarchical":
        return Hierarchical(mass, A, natural_scale, rank_tolerance, levels, clearance)
    return UdwadiaKalaba(mass, A, natural_scale, rank_tolerance)
