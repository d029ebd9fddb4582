"""Rows that others imply, and machines that cannot move at all."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from uk_dynamics.checks.finding import Finding
from uk_dynamics.checks.subject import Subject
from uk_dynamics.core.solution import Solution, Status


def redundancy(subject: Subject) -> Iterator[Finding]:
    """Redundant rows by name, contradictions, and mobility 0."""
    if not subject.closed:
        return
    facts, solution, names = subject.report, subject.solution, subject.mechanism.row_names
    if isinstance(solution, Solution) and solution.status is Status.INCONSISTENT:
        yield Finding(
            "redundancy",
            "error",
            tuple(names[row] for row in solution.offending),
            "contradict the other rows: no motion satisfies them all",
            "remove the rows that are not meant, or let their references agree",
        )
    if facts.redundant_rows:
        shared = _shared(solution, names)
        yield Finding(
            "redundancy",
            "note",
            facts.redundant_rows,
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
