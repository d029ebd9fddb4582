# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Constraints and springs between two frames of one body, which do nothing."""

from __future__ import annotations

from collections.abc import Iterator

from uk_dynamics.checks.subject import Finding, Subject


def idle_entries(subject: Subject) -> Iterator[Finding]:
    """Entries whose two frames never move relative to each other: a forgotten or wrong link."""
    mechanism = subject.mechanism
    pairs = [(c.name, c.parent, c.child) for c in mechanism.spec.constraints]
    for force in mechanism.spec.forces:
        frames = dict(force.frames)
        pairs.append((force.name, frames.get("parent"), frames.get("child")))
    for name, parent, child in pairs:
        if parent is None or child is None:
            continue
        if _carrier(subject, parent.link) != _carrier(subject, child.link):
            continue
        yield Finding(
            "idle",
            "warning",
            (name,),
            f"does nothing: {parent.link} and {child.link} are parts of one body",
            "name the links that it joins, or remove it",
        )


def _carrier(subject: Subject, frame: str) -> int:
    """Number of the moving body that carries a frame; negative for the ground."""
    model = subject.mechanism.model
    return int(model.ancestry.carriers[model.frame_index(frame)])
