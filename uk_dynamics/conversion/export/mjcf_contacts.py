# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts of a mechanism as pairs of MuJoCo's geoms."""

from typing import NamedTuple

import numpy as np

import uk_dynamics.model.urdf as urdf
from uk_dynamics.conversion.export.machine import pose_of
from uk_dynamics.mechanism.files import ContactSpec

LEAST = 1e-4  # m: MuJoCo has no points and no lines
_FAR = 10.0  # times the size of the machine: what has no ends, or depth


class Geom(NamedTuple):
    """One of the two bodies of a contact."""

    type: str  # MuJoCo's
    size: tuple[float, ...]  # in m, as MuJoCo counts it
    pose: urdf.Pose  # in its link


def geoms(contact: ContactSpec, length: float, *, moves: bool) -> tuple[Geom, Geom] | None:
    """The bodies of parent and child of a contact; None: MuJoCo has no such shape.

    length: the size of the machine, in m; moves: whether the parent does, which cannot be a plane.
    """
    far, surface = _FAR * length, contact.surface
    place = pose_of(contact.parent)
    if contact.hulls is not None or contact.heights is not None:
        return None
    if surface is not None and surface.hollow:
        return None
    if contact.box is not None:
        assert surface is not None
        edges = np.minimum(np.add(contact.box, surface.radius), far)
        parent = Geom("box", tuple(edges.tolist()), place)
    elif surface is not None:
        parent = _round(surface.radius, min(surface.half_length, far), place)
    elif moves:
        depth = urdf.Pose(np.array([0.0, 0.0, -far]))
        parent = Geom("box", (far, far, far), urdf.compose(place, depth))
    else:
        parent = Geom("plane", (far, far, length), place)
    return parent, _round(contact.radius, 0.5 * contact.length, pose_of(contact.child))


def _round(radius: float, half_length: float, pose: urdf.Pose) -> Geom:
    radius = max(radius, LEAST)
    if half_length:
        return Geom("capsule", (radius, half_length), pose)
    return Geom("sphere", (radius,), pose)
