"""Coincident frames that no constraint connects, probably open loops."""

from __future__ import annotations

from collections.abc import Iterator

from uk_dynamics.checks.subject import Finding, Subject
from uk_dynamics.model import coincident_frames


def open_loops(subject: Subject) -> Iterator[Finding]:
    """Marker frames that coincide with others and can move apart."""
    if not subject.closed or subject.mechanism.local is not None:
        return
    mechanism = subject.mechanism
    mentioned = {
        frame.link
        for constraint in mechanism.spec.constraints
        for frame in (constraint.parent, constraint.child)
        if frame is not None
    }
    for pair in coincident_frames(mechanism.model, subject.assembly.q):
        links = {pair.parent, pair.child}
        if pair.marked and not links & mentioned:
            yield Finding(
                "open_loop",
                "warning",
                (pair.parent, pair.child),
                "coincide, and no constraint mentions either: is this a loop that is still open?",
                "close it under constraints, or ignore this if they coincide by chance",
            )
