# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts of one link with one surface together, as the sole of a foot: where they press."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress

import numpy as np

from uk_dynamics.core.linalg import null_basis
from uk_dynamics.mechanism.contact.contact import Contact
from uk_dynamics.mechanism.contact.contact_points import ContactPoints
from uk_dynamics.mechanism.contact.contact_reactions import TOUCHES
from uk_dynamics.mechanism.resolution.resolved_mechanism import ResolvedMechanism
from uk_dynamics.mechanism.resolution.state import Array

_FLAT = 1e-9  # of the patch: points that are nearer to a line are on it


@dataclass(frozen=True, eq=False)
class Patch:
    """Points of one link that touch one surface.

    Attributes:
        contacts: Those that touch, by name.
        force: Normal force of all of them, in N.
        center: Centre of pressure in world axes, (3,), in m; of several patches that share a load
            it is that of the forces told.
        tipping_margin: Distance from there to the nearest edge of the polygon of all points, or to
            the nearer end of their line, in m; it is 0 where the patch tips. None where there is
            one point, about which it turns.
        tips_over: The contacts on that edge.
    """

    contacts: tuple[str, ...]
    force: float
    center: Array
    tipping_margin: float | None
    tips_over: tuple[str, ...]


def contact_patches(
    mechanism: ResolvedMechanism, q: Array, contacts: Mapping[str, Contact]
) -> dict[str, Patch]:
    """Patches that press, by the entries of the mechanism file that they are of.

    Args:
        mechanism: With contacts.
        q: Configuration, (nq,).
        contacts: There, by name, with their forces.
    """
    places = ContactPoints(mechanism)
    points, axes = places.at(q)
    declared = {one.name: one for one in mechanism.spec.contacts}
    groups: dict[object, list[int]] = {}
    for k, name in enumerate(places.names):
        if contacts[name].gap <= TOUCHES:
            spec = declared[name]
            surface = spec.parent, spec.surface, spec.box
            groups.setdefault((repr(surface), spec.child.link), []).append(k)
    found = {}
    for group in groups.values():
        names = [places.names[k] for k in group]
        forces = np.array([max(contacts[name].force[0], 0.0) for name in names])
        if (total := float(forces.sum())) > 0.0:
            center = forces @ points[group] / total
            margin, over = _margin(points[group] - center, forces @ axes[group, 0])
            entries = dict.fromkeys(name.rpartition(".")[0] or name for name in names)
            own = " + ".join(entries) if len(names) > 1 else names[0]
            tips_over = tuple(compress(names, over))
            found[own] = Patch(tuple(names), total, center, margin, tips_over)
    return found


def _margin(points: Array, normal: Array) -> tuple[float | None, list[bool]]:
    """How far the origin is from the edge of the hull of points (n, 3), and which are on that."""
    from scipy.spatial import ConvexHull  # takes long to import

    flat = points @ null_basis(normal[None] / np.linalg.norm(normal), 0.5)
    size = float(np.abs(flat - flat[0]).max())
    if not size > 0.0:
        return None, []
    _, spread, along = np.linalg.svd(flat - flat.mean(axis=0))
    line = spread[1] <= _FLAT * size
    out = np.stack((along[0], -along[0])) if line else ConvexHull(flat).equations[:, :2]
    reach = flat @ out.T
    edge = reach[:, int(np.argmin(reach.max(axis=0)))]
    return max(float(edge.max()), 0.0), (edge >= edge.max() - _FLAT * size).tolist()
