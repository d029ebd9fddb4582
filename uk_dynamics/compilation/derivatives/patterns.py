# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Which derivatives of motion, projection and efforts vanish whatever the state."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from uk_dynamics.compilation.derivatives.equation_derivatives import equation_derivatives
from uk_dynamics.compilation.derivatives.task_derivatives import task_derivatives
from uk_dynamics.compilation.trace.sparse_vectors import is_zero
from uk_dynamics.compilation.trace.symbols import Objects, in_order
from uk_dynamics.compilation.trace.terms import SymbolicTerms, trace, trace_tasks
from uk_dynamics.mechanism import Tasks
from uk_dynamics.mechanism.dynamics import column_count, effort_columns
from uk_dynamics.mechanism.resolution import Array, Flags, Indices, ResolvedMechanism


class MotionPatterns(NamedTuple):
    """Where derivatives of the motion may differ from zero, at any state.

    Columns are those of the traced derivatives, then generalized forces.
    """

    acceleration: Flags  # nv rows
    multipliers: Flags  # of a row what moves the set that it holds, m rows
    force: Flags  # of Aᵀλ: as of the acceleration, in sets that some row holds, nv rows


def motion_patterns(mechanism: ResolvedMechanism) -> MotionPatterns:
    """Find where derivatives of q̈, λ and Aᵀλ may differ from zero.

    Inertia and constraints couple coordinates; what acts on one of a coupled set moves the whole
    set, and nothing else. So a column is there for the sets that the equations' own derivatives
    touch.
    """
    traced, terms = equation_derivatives(mechanism), trace(mechanism)
    nv, columns = mechanism.model.nv, traced.directions
    rows = _supports(terms.A)
    sets = _sets(terms, rows)
    touched: Flags = np.zeros((nv, columns + nv), dtype=bool)

    def touch(members: Iterable[int], places: Iterable[int]) -> None:
        for i in members:
            touched[np.ix_(sets == sets[i], list(places))] = True

    for i, row in enumerate(traced.motion):
        touch([i], row)
    for support, found in zip(rows, traced.rows, strict=True):
        touch(support[:1], found)
    for i in range(nv):
        touch([i], [columns + i])
    held = np.zeros(nv, dtype=bool)
    multipliers = np.zeros((len(rows), columns + nv), dtype=bool)
    for r, support in enumerate(rows):
        for i in support[:1]:
            multipliers[r] = touched[i]
            held |= sets == sets[i]
    return MotionPatterns(touched, multipliers, touched & held[:, None])


def projection_pattern(mechanism: ResolvedMechanism) -> Flags:
    """Find where derivatives of the projected q, then v, may differ from zero, (2 nv, 2 nv + 1).

    By q, v, t; coordinates in sets that no row of the kind holds stay what they are.
    """
    traced, terms = equation_derivatives(mechanism), trace(mechanism)
    constraints = mechanism.constraints
    nv, rows = mechanism.model.nv, _supports(terms.A)
    sets = _sets(terms, rows)
    alike = sets[:, None] == sets
    whole: Flags = np.zeros((2 * nv, 2 * nv + 1), dtype=bool)
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
    moved: Flags = np.zeros((nv, nv + 1), dtype=bool)  # by the projected q, and t

    def move(i: int, found: Iterable[int]) -> None:
        for j in found:
            if j < nv or j == 2 * nv:
                moved[alike[i] & held, min(j, nv)] = True

    for r, found in enumerate(traced.rates):
        for i in rows[r][:1]:
            if constraints.motion_rows[r]:
                move(i, found)
            if constraints.position_rows[r] and _drifts([terms.residual[r], terms.rate[r]]):
                place[alike[i], -1] = True
    for i, found in enumerate(traced.motion):
        move(i, [j for j in found if j < nv])  # references and t are held
    velocity[:, :nv] = moved[:, :nv] @ place[:, :nv]
    velocity[:, -1] = moved[:, nv] | (moved[:, :nv] @ place[:, -1])
    return whole


def effort_pattern(tasks: Tasks) -> Flags:
    """Find where derivatives of the servo law's efforts may differ from zero, (motors, n).

    Motors and tasks couple what they touch as constraints do; a motor depends on what its set does.
    Columns are those of :func:`~uk_dynamics.mechanism.dynamics.effort_columns`.
    """
    mechanism = tasks.mechanism
    traced, asked = equation_derivatives(mechanism), task_derivatives(tasks)
    terms = trace(mechanism)
    rows, wanted = _supports(terms.A), _supports(trace_tasks(tasks).A)
    motors = _supports(mechanism.actuators.matrix.T)
    sets = _sets(terms, [*rows, *wanted, *motors])
    columns = column_count(effort_columns(len(terms.F), len(wanted), len(motors)))
    touched: Flags = np.zeros((len(terms.F), columns), dtype=bool)
    for support, found in (
        *(([i], row) for i, row in enumerate(traced.motion)),
        *(([i], row) for i, row in enumerate(asked.force)),
        *zip(rows, traced.rows, strict=True),
        *zip(wanted, asked.rows, strict=True),
        *zip(motors, asked.wish, strict=True),
    ):
        for i in support[:1]:
            touched[np.ix_(sets == sets[i], list(found))] = True
    return np.array([touched[support[0]] for support in motors]).reshape(-1, columns)


def _drifts(values: Iterable[Any]) -> bool:
    """Tell whether values depend on time, or on what rows follow."""
    found = (x.operands[0] for x in in_order(values, inputs=True) if x.operation == "input")
    return any(name.startswith(("t", "followed")) for name in found)


def _supports(A: Objects | Array) -> list[list[int]]:
    """List the columns of each row that are not zero by structure."""
    return [[i for i, x in enumerate(row) if not is_zero(x)] for row in A]


def _sets(terms: SymbolicTerms, rows: Sequence[Sequence[int]]) -> Indices:
    """Number the coupled set of each velocity: by inertia, and by what has such supports."""
    from scipy.sparse import coo_array  # takes long to import
    from scipy.sparse.csgraph import connected_components

    nv = len(terms.F)
    masses = [(i, j) for i in range(nv) for j in range(i) if not is_zero(terms.M[i, j])]
    links = [*masses, *((row[0], other) for row in rows for other in row[1:])]
    first, second = np.array(links, dtype=np.intp).reshape(-1, 2).T
    graph = coo_array((np.ones(len(first)), (first, second)), shape=(nv, nv))
    return np.asarray(connected_components(graph, directed=False)[1], dtype=np.intp)
