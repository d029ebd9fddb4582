"""References that no configuration of the machine meets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from uk_dynamics.checks.finding import Finding
from uk_dynamics.checks.subject import Subject
from uk_dynamics.mechanism.assembly import assemble_on_tasks
from uk_dynamics.mechanism.reference_specification import ReferenceSpec
from uk_dynamics.mechanism.tasks import Tasks

_TIMES = 21
_TOLERANCE = 1e-8  # m or rad


def reach(subject: Subject) -> Iterator[Finding]:
    """The first instant at which tasks ask for more than the loops and joint limits allow."""
    tasks = subject.tasks
    if tasks is None or not subject.closed or not tasks.constraints.position_rows.any():
        return
    facts = subject.mechanism.report(subject.assembly.q, tasks).tasks
    if facts is None or facts.independent_rows < facts.rows:
        return  # said as what tasks hold or contradict
    q = subject.assembly.q
    for t in np.linspace(0.0, _horizon(tasks), _TIMES).tolist():
        found = assemble_on_tasks(subject.mechanism, tasks, q, (), _TOLERANCE, t)
        if not found.closed:
            missed = {name: gap for name, gap in found.violations.items() if gap > _TOLERANCE}
            if set(missed) <= set(tasks.names):
                gaps = ", ".join(f"{name} {gap:.3g}" for name, gap in missed.items())
                yield Finding(
                    "task",
                    "error",
                    tuple(missed),
                    f"out of reach at t = {t:.4g} s; missing: {gaps} (m or rad)",
                    f"{found.reason}: move the reference, or begin on another branch of the loops",
                )
            return
        q = found.q


def _horizon(tasks: Tasks) -> float:
    """Until when references say something new, in s; 0 where nobody knows an end."""
    ends = [_end(task.reference) for task in tasks.spec.tasks if task.reference is not None]
    return max(ends, default=0.0)


def _end(reference: ReferenceSpec) -> float:
    if reference.type == "spline":
        return max(reference.times)
    slowest = min((rate for rate in reference.frequency if rate > 0.0), default=0.0)
    return 1.0 / slowest if slowest else 0.0
