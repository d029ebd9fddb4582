# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Methods of solution: the forms of the fundamental equation, and which of them ``auto`` takes."""

from collections.abc import Callable, Sequence
from typing import get_args

import numpy as np

from uk_dynamics.arrays import Array, Indices
from uk_dynamics.core.equation.fundamental_equation import Factorization
from uk_dynamics.core.equation.nullspace import ArticulatedNullSpace, NullSpace
from uk_dynamics.core.equation.published.explicit_pseudoinverse import (
    AugmentedPseudoinverse,
    RangeSpace,
    UdwadiaKalabaPseudoinverse,
    UdwadiaPhohomsiri,
)
from uk_dynamics.core.equation.published.kkt import Kkt
from uk_dynamics.core.equation.published.pseudoinverse import PseudoinverseMethod
from uk_dynamics.core.equation.solution import (
    FOR_SINGULAR_MASS,
    WHITENING,
    WITH_PSEUDOINVERSE,
    Method,
)
from uk_dynamics.core.equation.udwadia_kalaba import UdwadiaKalaba
from uk_dynamics.core.linalg.mass_factor import Mass, SingularMass, mass_factor
from uk_dynamics.core.linalg.rank_rule import DEFAULT_RANK_TOLERANCE
from uk_dynamics.core.recursion.hierarchical import Hierarchical
from uk_dynamics.core.tree.clusters import TreeInertia
from uk_dynamics.exceptions import InputError, expect_names

_FORMS: dict[str, Callable[..., Factorization]] = {
    form.method: form
    for form in (
        *(UdwadiaKalaba, NullSpace, Kkt, UdwadiaKalabaPseudoinverse, RangeSpace),
        *(AugmentedPseudoinverse, UdwadiaPhohomsiri, Hierarchical),
    )
}


class SingularMassError(InputError):
    """A form that divides by M was asked for where M is singular."""


def factorize(
    # factor of M, M itself where it is singular, or the bodies of a tree
    mass: Mass | TreeInertia,
    # constraint matrix, (m, nv); m may be 0 or larger than nv. It is not copied. A sparse one goes
    # with a tree, each row within one of its clusters: the motions it leaves are then eliminated by
    # articulated bodies
    A: Array,
    *,
    # how large each row is over the configurations, (m,), as the norm of A_i L⁻ᵀ, or of A_i
    # diag(1/√M_jj) for forms that do not divide by M (per root kg). Give it where rows can vanish,
    # as they do where a mechanism is singular. Default: as large as now; see ``rank_rule``
    natural_scale: Array | None = None,
    # a row is dependent when what those before it leave of it is at most this part of its scale,
    # see ``rank_rule``. For forms with an explicit pseudoinverse: of its own measure on rows of
    # that size. Or one for each row, (m,): rows with larger ones are then taken behind the others
    rank_tolerance: float | Array = DEFAULT_RANK_TOLERANCE,
    # form of the equation; ``auto`` takes ``udwadia_kalaba``, ``nullspace`` where M is singular,
    # and ``hierarchical`` where there are clearances. The factorisation has the name of its form
    method: Method = "auto",
    # algorithm of the forms that have an explicit pseudoinverse
    pseudoinverse: PseudoinverseMethod = "svd",
    # of method ``hierarchical``: rows of each level, the first enforced first; None is one level
    levels: Sequence[Indices] | None = None,
    # of method ``hierarchical``: diagonal of R in A q̈ + Rλ = b, (m,); None is zero
    clearance: Array | None = None,
) -> Factorization:
    """Factor M and A for the fundamental equation.

    Raises:
        SingularMassError: M is singular and the method needs its inverse.
        InputError: A is not finite, there is no such method, the rank tolerance is too small for
            the method, the method knows no clearances, or its pseudoinverse lost the inertia.
        UndeterminedCoordinatesError: [M; A] lacks full column rank.
    """
    given: object = A
    if not isinstance(given, np.ndarray):
        if not isinstance(mass, TreeInertia):
            raise InputError("a sparse constraint matrix goes with the bodies of a tree")
        return ArticulatedNullSpace(mass, A, natural_scale, float(rank_tolerance))
    if isinstance(mass, TreeInertia):
        mass = mass_factor(mass.dense())
    if method == "auto":
        method = "nullspace" if isinstance(mass, SingularMass) else "udwadia_kalaba"
        method = method if clearance is None else "hierarchical"
    if clearance is not None and method != "hierarchical":
        raise InputError(f'method "{method}" knows no clearances; use "auto" or "hierarchical"')
    if clearance is not None and isinstance(mass, SingularMass):
        raise SingularMassError(
            "the mass matrix is singular, and compliant constraints need its inverse: give every "
            "link a mass and every joint an armature, or leave the compliance out"
        )
    expect_names("method", [method], get_args(Method))
    if method in WHITENING and isinstance(mass, SingularMass):
        raise SingularMassError(
            f'the mass matrix is singular, and method "{method}" divides by it: use method '
            f'"auto" or "nullspace" (or {", ".join(FOR_SINGULAR_MASS[1:])}), or give every '
            "link a mass and every joint an armature"
        )
    options: tuple[object, ...] = (pseudoinverse,) if method in WITH_PSEUDOINVERSE else ()
    if method == "hierarchical":
        options = levels, clearance
    return _FORMS[method](mass, A, natural_scale, rank_tolerance, *options)
