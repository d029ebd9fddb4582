# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""References that the structure cannot follow, or that are out of reach of the tasks."""

from collections.abc import Iterator, Sequence

import numpy as np

from uk_dynamics.checks.subject import Finding, Subject
from uk_dynamics.constraints.references import Reference, Sinusoid, Spline
from uk_dynamics.mechanism.assembly import Assembly, assemble_on_tasks
from uk_dynamics.mechanism.dynamics import InterpretedDynamics
from uk_dynamics.mechanism.resolution import State
from uk_dynamics.simulation import SingularPassages

_TIMES = 8
_USUAL = 1.0  # s, where references do not say how long they last
_SHARE = 0.1  # of the largest loop-closure error: constraints with less are only affected


def references(subject: Subject) -> Iterator[Finding]:
    """The first instant at which constraints cannot follow their references."""
    mechanism = subject.mechanism
    if not (mechanism.driven_by_time and subject.closed):
        return
    followed = [c.reference for c in mechanism.spec.constraints if c.reference is not None]
    q = subject.assembly.q
    for t in np.linspace(0.0, horizon(followed) or _USUAL, _TIMES + 1)[1:].tolist():
        found = mechanism.assembly(q, t=t)
        if not found.closed:
            yield _finding(subject, found, t)
            return
        q = found.q


def _finding(subject: Subject, found: Assembly, t: float) -> Finding:
    largest = max(found.violations.values())
    blamed = {name for name, error in found.violations.items() if error > _SHARE * largest}
    groups = [group for group in subject.duplicates if len(blamed.intersection(group)) > 1]
    if groups:
        return Finding(
            "redundancy",
            "error",
            tuple(sorted({name for group in groups for name in group})),
            f"contradict each other: at t = {t:.3g} s their references are apart by"
            f" {largest:.3g} m or rad",
            "remove the ones that are not intended, or let all follow the same reference",
        )
    return Finding(
        "reference",
        "warning",
        tuple(sorted(blamed)),
        f"cannot all hold at t = {t:.3g} s ({largest:.3g} m or rad are missing): {found.reason}",
        "end the motion before, or choose references that the mechanism can follow",
    )


def horizon(references: Sequence[Reference]) -> float:
    """End of references, or of their slowest period, in s; 0 if unknown."""
    return max(map(_end, references), default=0.0)


def _end(reference: Reference) -> float:
    if isinstance(reference, Spline):
        return reference.end
    if not isinstance(reference, Sinusoid):
        return 0.0
    slowest = min(reference.frequency[reference.frequency > 0.0], default=0.0)
    return 1.0 / float(slowest) if slowest else 0.0


_TASK_TIMES = 21


def reach(subject: Subject) -> Iterator[Finding]:
    """The first instant at which the tasks cannot be met; singular configurations on their way."""
    tasks = None if subject.tasks is None else subject.tasks.served
    if tasks is None or not subject.closed or not tasks.constraints.position_rows.any():
        return
    facts = subject.mechanism.report(subject.assembly.q, tasks).tasks
    if facts is None or facts.independent_rows < facts.rows:
        return  # reported by the check of actuation
    q = subject.assembly.q
    mechanism = subject.mechanism
    dynamics, watch = InterpretedDynamics(mechanism), SingularPassages(mechanism)
    still = np.zeros(mechanism.model.nv)
    followed = [task.reference for task in tasks.spec.tasks if task.reference is not None]
    for t in np.linspace(0.0, horizon(followed), _TASK_TIMES).tolist():
        found = assemble_on_tasks(subject.mechanism, tasks, q, (), t)
        if not found.closed:
            missed = {
                name: error
                for name, error in found.violations.items()
                if error > subject.mechanism.closure_tolerance
            }
            if set(missed) <= set(tasks.names):
                errors = ", ".join(f"{name} {error:.3g}" for name, error in missed.items())
                yield Finding(
                    "task",
                    "error",
                    tuple(missed),
                    f"out of reach at t = {t:.4g} s by {errors} (m or rad)",
                    f"{found.reason}: move the reference, or start on another assembly branch",
                )
            return
        q = found.q
        solution = dynamics.evaluate(State(t, q, still))
        for passage in watch.add(t, q, solution.rank, solution.condition):
            yield Finding(
                "singular_passage",
                "warning",
                tasks.names,
                f"near t = {passage.t:.4g} s {passage.text}",
                "lead the references around it, or release the tasks near it and let speed carry"
                " the machine through",
            )
