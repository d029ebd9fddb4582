# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Constraints, springs and contacts between two frames of one body, which do nothing."""

from collections.abc import Iterator

from uk_dynamics.checks.subject import Finding, Subject


def idle_entries(subject: Subject) -> Iterator[Finding]:
    """Entries whose two frames never move relative to each other: a forgotten or wrong link."""
    mechanism, model = subject.mechanism, subject.mechanism.model
    carriers = model.ancestry.carriers
    entries = [(x.name, x.frames) for x in mechanism.spec.constraints]
    entries += [(x.name, list(x.frames)) for x in mechanism.spec.forces]
    found = [
        (
            name,
            [x.link for _, x in frames],
            {carriers[model.frame_index(x.link)] for _, x in frames},
        )
        for name, frames in entries
    ]
    resolved = {x.name: x for x in mechanism.constraints.constraints}
    for contact in mechanism.spec.contacts:  # the world is no link where the root floats
        ends = resolved[contact.name]
        links = [x.link for _, x in contact.frames]
        found.append((contact.name, links, {carriers[ends.parent], carriers[ends.child]}))
    for name, links, bodies in found:
        if len(links) < 2 or len(bodies) > 1:
            continue
        yield Finding(
            "idle",
            "warning",
            (name,),
            f"does nothing: {' and '.join(links)} are parts of one body",
            "name the links that it joins, or remove it",
        )
