"""Redundant rows, duplicate and contradictory constraints, and mobility 0."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, compress

import numpy as np

from uk_dynamics.checks.subject import Finding, Subject
from uk_dynamics.core.equation import Solution, Status
from uk_dynamics.model.urdf import Array

_ROUNDING = 1e-8  # of rows at unit norm


def redundancy(subject: Subject) -> Iterator[Finding]:
    """Contradictions, duplicate constraints, redundant rows by name, and mobility 0."""
    if not subject.closed:
        return
    facts, solution, names = subject.report, subject.solution, subject.mechanism.row_names
    contradictory = isinstance(solution, Solution) and solution.status is Status.INCONSISTENT
    if isinstance(solution, Solution) and contradictory:
        yield Finding(
            "redundancy",
            "error",
            tuple(names[row] for row in solution.offending),
            "contradict the other rows: no motion satisfies them all",
            "remove the rows that are not intended, or make their references consistent",
        )
    duplicates = [] if contradictory else _duplicates(subject)
    for one, other in duplicates:
        yield Finding(
            "redundancy",
            "warning",
            (one, other),
            "are duplicates: they close the same loop, and share its forces arbitrarily",
            "remove one of them, in the URDF where it is the mimic of a joint",
        )
    doubled = {name for pair in duplicates for name in pair}
    constraints = subject.mechanism.constraints.constraints
    explained = {row for c in constraints if c.name in doubled for row in c.row_names}
    redundant = tuple(row for row in facts.redundant_rows if row not in explained)
    if redundant:
        shared = [name for name in _shared(solution, names) if name not in explained]
        yield Finding(
            "redundancy",
            "note",
            redundant,
            f"redundant rows; the forces of {', '.join(shared)} are not unique, but their sum is",
            "none is needed for motion and efforts. For unique loop forces omit these rows, or give"
            " the joint a compliance",
        )
    moves = np.any(subject.velocity) or (isinstance(solution, Solution) and _moves(solution))
    if facts.velocities and not facts.mobility and not moves:
        yield Finding(
            "mobility",
            "error",
            tuple(facts.constraints),
            f"{facts.rank} independent rows fix all {facts.velocities} velocities: it cannot move",
            "check for an overconstrained joint (weld instead of hinge, hinge instead of point?),"
            " or for axes of a planar loop that are not parallel",
        )


def _shared(solution: object, names: tuple[str, ...]) -> list[str]:
    if not isinstance(solution, Solution):
        return ["these rows"]
    return list(compress(names, ~solution.determined))


def _moves(solution: Solution) -> bool:
    return float(np.abs(solution.qdd).max(initial=0.0)) > 1e-9  # m/s² or rad/s²: rounding


def _duplicates(subject: Subject) -> list[tuple[str, str]]:
    """Pairs of constraints whose rows span the same space at the closed configuration.

    Constraints that fix every velocity, or none, are not compared.
    """
    mechanism = subject.mechanism
    workspace = subject.workspace
    workspace.update(subject.assembly.q, subject.velocity)
    rows = mechanism.constraints.evaluate(
        workspace, 0.0, subject.assembly.q, subject.velocity, mechanism.references.sample(0.0)
    )
    acts = mechanism.hierarchy.acting()
    spans = {}
    for name, where in mechanism.constraints.slices.items():
        basis = _basis(rows.A[where])
        if acts[where].all() and 0 < len(basis) < mechanism.model.nv:
            spans[name] = basis
    return [
        (one, other)
        for (one, first), (other, second) in combinations(spans.items(), 2)
        if len(first) == len(second) == len(_basis(np.vstack((first, second))))
    ]


def _basis(A: Array) -> Array:
    """Orthonormal rows that span those of A."""
    lengths = np.linalg.norm(A, axis=1, keepdims=True)
    acting = lengths[:, 0] > 0.0
    unit: Array = A[acting] / lengths[acting]
    if not len(unit):
        return unit
    _, values, basis = np.linalg.svd(unit, full_matrices=False)
    found: Array = basis[values > _ROUNDING * np.sqrt(len(unit))]
    return found
