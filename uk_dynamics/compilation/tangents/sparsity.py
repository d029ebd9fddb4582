# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which derivatives of the acceleration vanish whatever the state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from uk_dynamics.compilation.tangents.equation_tangents import EquationTangents, equation_tangents
from uk_dynamics.compilation.tangents.parameter_tangents import tangents_of
from uk_dynamics.compilation.tangents.task_tangents import task_tangents
from uk_dynamics.compilation.trace.sparse_vectors import is_zero
from uk_dynamics.compilation.trace.symbols import Objects, Symbol
from uk_dynamics.compilation.trace.terms import SymbolicTerms, trace, trace_tasks
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.resolution import Array, ResolvedMechanism


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
    rows = _supports(terms.A)
    sets = _sets(terms, rows)
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


def projection_sparsity(
    mechanism: ResolvedMechanism, traced: EquationTangents | None = None
) -> NDArray[np.bool_]:
    """Where derivatives of the projected q, then v, by q, v, t may differ from zero at any state.

    Coordinates in sets that no row of the kind holds stay what they are.

    Args:
        mechanism: Which one.
        traced: Derivatives of its equations, where they are known already.

    Returns:
        (2 nv, 2 nv + 1).
    """
    traced = traced or equation_tangents(mechanism)
    terms, constraints = trace(mechanism), mechanism.constraints
    nv, rows = mechanism.model.nv, _supports(terms.A)
    sets = _sets(terms, rows)
    alike = sets[:, None] == sets
    whole: NDArray[np.bool_] = np.zeros((2 * nv, 2 * nv + 1), dtype=bool)
    place, velocity = whole[:nv], whole[nv:]
    held = np.zeros(nv, dtype=bool)
    for part, kind in (
        (place[:, :nv], constraints.position_rows),
        (velocity[:, nv:-1], constraints.motion_rows),
    ):
        part[:] = np.eye(nv, dtype=bool)
        for on, support in zip(kind, rows, strict=True):
            for i in support[:1] if on else ():
                part[alike[i]] |= alike[i]
                held |= alike[i]
    moved: NDArray[np.bool_] = np.zeros((nv, nv + 1), dtype=bool)  # by the projected q, and t

    def move(i: int, slopes: Iterable[int]) -> None:
        for j in slopes:
            if j < nv or j == 2 * nv:
                moved[alike[i] & held, min(j, nv)] = True

    for r, slopes in enumerate(traced.rates):
        for i in rows[r][:1]:
            if constraints.motion_rows[r]:
                move(i, slopes)
            if constraints.position_rows[r] and _drifts([terms.residual[r], terms.rate[r]]):
                place[alike[i], -1] = True
    for i, slopes in enumerate(traced.motion):
        move(i, [j for j in slopes if j < nv])  # references and t are held
    velocity[:, :nv] = moved[:, :nv] @ place[:, :nv]
    velocity[:, -1] = moved[:, nv] | (moved[:, :nv] @ place[:, -1])
    return whole


def effort_sparsity(tasks: Tasks) -> NDArray[np.bool_]:
    """Where derivatives of the servo law's efforts may differ from zero at any state.

    Motors and tasks couple what they touch as constraints do; a motor depends on what its set does.

    Args:
        tasks: Which ones.

    Returns:
        Columns q, v, t, values, rates, accelerations, (motors, 2 nv + 1 + 3 mt).
    """
    mechanism = tasks.mechanism
    traced, asked = equation_tangents(mechanism), task_tangents(tasks)
    terms = trace(mechanism)
    rows, wanted = _supports(terms.A), _supports(trace_tasks(tasks).A)
    motors = _supports(mechanism.actuators.matrix.T)
    sets = _sets(terms, [*rows, *wanted, *motors])
    columns = traced.directions + 3 * len(wanted)
    touched: NDArray[np.bool_] = np.zeros((len(terms.F), columns), dtype=bool)
    for support, slopes in (
        *(([i], row) for i, row in enumerate(traced.motion)),
        *(([i], row) for i, row in enumerate(asked.force)),
        *zip(rows, traced.rows, strict=True),
        *zip(wanted, asked.rows, strict=True),
    ):
        for i in support[:1]:
            touched[np.ix_(sets == sets[i], list(slopes))] = True
    return np.array([touched[support[0]] for support in motors]).reshape(-1, columns)


def _drifts(values: Iterable[Any]) -> bool:
    """Whether they depend on time, or on what rows follow."""
    stack, seen = list(values), set()
    while stack:
        x = stack.pop()
        if not isinstance(x, Symbol) or x in seen:
            continue
        if x.operation == "input" and x.operands[0].startswith(("t", "followed")):
            return True
        seen.add(x)
        stack += x.operands
    return False


def _supports(A: Objects | Array) -> list[list[int]]:
    """Columns of each row that are not zero by structure."""
    return [[i for i, x in enumerate(row) if not is_zero(x)] for row in A]


def _sets(terms: SymbolicTerms, rows: Sequence[Sequence[int]]) -> NDArray[np.intp]:
    """Which of the coupled sets each velocity is in: by inertia, and by what has such supports."""
    nv = len(terms.F)
    masses = [(i, j) for i in range(nv) for j in range(i) if not is_zero(terms.M[i, j])]
    links = [*masses, *((row[0], other) for row in rows for other in row[1:])]
    first, second = np.array(links, dtype=np.intp).reshape(-1, 2).T
    graph = coo_array((np.ones(len(first)), (first, second)), shape=(nv, nv))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)
