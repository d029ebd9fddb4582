"""Rows that others imply, and machines that cannot move at all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from uk_dynamics.checks.duplicates import duplicates
from uk_dynamics.checks.finding import Finding
from uk_dynamics.checks.subject import Subject
from uk_dynamics.core.solution import Solution, Status


def redundancy(subject: Subject) -> Iterator[Finding]:
    """Loops that are there twice, redundant rows by name, contradictions, and mobility 0."""
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
            "remove the rows that are not meant, or let their references agree",
        )
    twice = [] if contradictory else duplicates(subject)
    for one, other in twice:
        yield Finding(
            "redundancy",
            "warning",
            (one, other),
            "say the same: this loop is there twice, and the two share its forces somehow",
            "remove one of them, in the URDF where it is the mimic of a joint",
        )
    doubled = {name for pair in twice for name in pair}
    constraints = subject.mechanism.constraints.constraints
    explained = {row for c in constraints if c.name in doubled for row in c.row_names}
    redundant = tuple(row for row in facts.redundant_rows if row not in explained)
    if redundant:
        shared = [name for name in _shared(solution, names) if name not in explained]
        yield Finding(
            "redundancy",
            "note",
            redundant,
            f"redundant beside the other rows; the forces of {', '.join(shared)} are not unique,"
            " what they do together is",
            "nothing, if motion and efforts are what you want. For single loop forces leave these"
            " rows out, or give the joint a compliance",
        )
    moves = np.any(subject.velocity) or (isinstance(solution, Solution) and _moves(solution))
    if facts.velocities and not facts.mobility and not moves:
        yield Finding(
            "mobility",
            "error",
            tuple(facts.constraints),
            f"{facts.rank} independent rows hold all {facts.velocities} velocities: it cannot move",
            "a joint of a loop is held more than it is (weld instead of hinge, hinge instead of"
            " point?), or a planar loop has axes that are not parallel",
        )


def _shared(solution: object, names: tuple[str, ...]) -> list[str]:
    if not isinstance(solution, Solution):
        return ["these rows"]
    flags = solution.determined
    return [name for name, unique in zip(names, flags, strict=True) if not unique]


def _moves(solution: Solution) -> bool:
    return float(np.abs(solution.qdd).max(initial=0.0)) > 1e-9  # m/s² or rad/s²: rounding
