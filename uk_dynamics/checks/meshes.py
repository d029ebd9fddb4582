# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Meshes that touch as their convex hulls, and are not convex."""

from collections.abc import Iterator

from uk_dynamics.checks.subject import Finding, Subject
from uk_dynamics.mechanism.resolution import hollow_part
from uk_dynamics.model.urdf import MeshFile

_HOLLOW = 0.02  # of the hull: less is a facetted round, or a chamfer


def meshes(subject: Subject) -> Iterator[Finding]:
    """Contacts from meshes with hollows, which have no convex parts that leave them open."""
    touching: dict[MeshFile, dict[str, None]] = {}
    for contact in subject.mechanism.spec.contacts:
        for mesh in contact.meshes:
            touching.setdefault(mesh, {})[contact.name.rpartition(".")[0] or contact.name] = None
    for mesh, entries in touching.items():
        if (part := hollow_part(mesh)) > _HOLLOW:
            yield Finding(
                "mesh",
                "warning",
                tuple(entries),
                f"{'touches' if len(entries) == 1 else 'touch'} with the convex hull of"
                f" {mesh.path.name}, {part:.0%} of which are not in the mesh",
                "divide it into convex parts, each with a <collision> of its own, or give points",
            )
