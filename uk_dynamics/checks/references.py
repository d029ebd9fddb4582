# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""References of the structure: where they lead the mechanism after the start."""

from collections.abc import Iterator, Sequence

import numpy as np

from uk_dynamics.checks.subject import Finding, Subject
from uk_dynamics.constraints.references import Reference, Sinusoid, Spline
from uk_dynamics.mechanism.assembly import Assembly

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
