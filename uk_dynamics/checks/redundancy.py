# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Redundant rows, duplicate and contradictory constraints, and mobility 0."""

from collections.abc import Iterator
from itertools import compress

import numpy as np

from uk_dynamics.checks.references import references
from uk_dynamics.checks.subject import Finding, Subject, listed
from uk_dynamics.core.equation import Solution, Status


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
    later = list(references(subject))
    yield from later
    apart = {name for finding in later for name in finding.subject}
    groups = [] if contradictory else subject.duplicates
    for names_of_group in groups:
        if apart.issuperset(names_of_group):
            continue
        yield Finding(
            "redundancy",
            "warning",
            names_of_group,
            "are duplicates: they close the same loop, and share its forces arbitrarily",
            "keep one of them, and remove the others, in the URDF where it is the mimic of a joint",
        )
    doubled = {name for group in groups for name in group}
    constraints = subject.mechanism.constraints.constraints
    open_ = subject.mechanism.hierarchy.one_sided  # whose rows are zero
    explained = {row for c in constraints if c.name in doubled | open_ for row in c.row_names}
    if facts.vanishing_rows:
        yield Finding(
            "redundancy",
            "warning",
            facts.vanishing_rows,
            "vanish at the start: there they constrain nothing, and do not say which motion begins",
            "start with an initial_velocity that they admit",
        )
    redundant = tuple(sorted(set(facts.redundant_rows) - explained, key=names.index))
    if redundant:
        shared = ["these rows"]
        if isinstance(solution, Solution):
            shared = [
                name for name in compress(names, ~solution.determined) if name not in explained
            ]
        yield Finding(
            "redundancy",
            "note",
            redundant,
            f"redundant rows; the forces of {listed(shared)} are not unique, but their sum is",
            "none is needed for motion and efforts. For unique loop forces omit these rows, or give"
            " the joint a compliance",
        )
    moves = np.any(subject.velocity) or (
        isinstance(solution, Solution)
        and np.abs(solution.qdd).max(initial=0.0) > 1e-9  # m/s² or rad/s²: rounding
    )
    if facts.velocities and not facts.mobility and not moves:
        yield Finding(
            "mobility",
            "error",
            tuple(facts.constraints),
            f"{facts.rank} independent rows fix all {facts.velocities} velocities: it cannot move",
            "check for an overconstrained joint (weld instead of hinge, hinge instead of point?),"
            " or for axes of a planar loop that are not parallel",
        )
