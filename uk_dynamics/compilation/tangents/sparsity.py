# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which derivatives of the acceleration vanish whatever the state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from uk_dynamics.compilation.tangents.equation_tangents import EquationTangents
from uk_dynamics.compilation.tangents.parameter_tangents import tangents_of
from uk_dynamics.compilation.trace.sparse_vectors import is_zero
from uk_dynamics.compilation.trace.terms import trace
from uk_dynamics.mechanism.resolution import ResolvedMechanism


def acceleration_sparsity(
    mechanism: ResolvedMechanism, traced: EquationTangents | None = None
) -> NDArray[np.bool_]:
    """Where derivatives of q̈ by q, v, t and generalized forces may differ from zero.

    Inertia and constraints couple coordinates; what acts on one of a coupled set moves the whole
    set, and nothing else. So a column is there for the sets that the equations' own derivatives
    touch.

    Args:
        mechanism: Which one.
        traced: Derivatives of its equations, where they are known already.

    Returns:
        Columns as in C: q, v, t, forces, (nv, 3 nv + 1); parameters, forces, (nv, P + nv), where
        the mechanism varies parameters.
    """
    return motion_sparsity(mechanism, traced).acceleration


class MotionSparsity(NamedTuple):
    """Where derivatives may differ from zero; columns as of :func:`acceleration_sparsity`.

    Attributes:
        acceleration: nv rows.
        multipliers: A row's depend on what moves the set that it holds, m rows.
        force: Of Aᵀλ: as of the acceleration, in sets that some row holds, nv rows.
    """

    acceleration: NDArray[np.bool_]
    multipliers: NDArray[np.bool_]
    force: NDArray[np.bool_]


def motion_sparsity(
    mechanism: ResolvedMechanism, traced: EquationTangents | None = None
) -> MotionSparsity:
    """The same for multipliers and constraint force too; see :func:`acceleration_sparsity`."""
    traced = traced or tangents_of(mechanism)
    terms = trace(mechanism)
    nv, columns = mechanism.model.nv, traced.directions
    rows = [[i for i, x in enumerate(row) if not is_zero(x)] for row in terms.A]
    masses = [(i, j) for i in range(nv) for j in range(i) if not is_zero(terms.M[i, j])]
    links = [*masses, *((row[0], other) for row in rows for other in row[1:])]
    first, second = np.array(links, dtype=np.intp).reshape(-1, 2).T
    graph = coo_array((np.ones(len(first)), (first, second)), shape=(nv, nv))
    sets = connected_components(graph, directed=False)[1]
    touched: NDArray[np.bool_] = np.zeros((nv, columns + nv), dtype=bool)

    def touch(members: Iterable[int], places: Iterable[int]) -> None:
        for i in members:
            touched[np.ix_(sets == sets[i], list(places))] = True

    for i, row in enumerate(traced.motion):
        touch([i], row)
    for support, slopes in zip(rows, traced.rows, strict=True):
        touch(support[:1], slopes)
    for i in range(nv):
        touch([i], [columns + i])
    held = np.zeros(nv, dtype=bool)
    multipliers = np.zeros((len(rows), columns + nv), dtype=bool)
    for r, support in enumerate(rows):
        for i in support[:1]:
            multipliers[r] = touched[i]
            held |= sets == sets[i]
    return MotionSparsity(touched, multipliers, touched & held[:, None])
