# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Contacts of a mechanism as pairs of MuJoCo's geoms."""

from collections.abc import Mapping
from typing import NamedTuple
from xml.etree import ElementTree as ET

import numpy as np

import uk_dynamics.model.urdf as urdf
from uk_dynamics.conversion.export.machine import Machine, pose_of
from uk_dynamics.conversion.export.mjcf_pose import set_pose
from uk_dynamics.conversion.robot.imported_robot import named
from uk_dynamics.conversion.robot.urdf_text import numbers
from uk_dynamics.mechanism.files import ContactSpec

LEAST = 1e-4  # m: MuJoCo has no points and no lines
_FAR = 10.0  # times the size of the machine: what has no ends, or depth
_TURNING = (0.005, 1e-4, 1e-4)  # friction of turning and rolling, which MuJoCo itself has


class Geom(NamedTuple):
    """One of the two bodies of a contact."""

    type: str  # MuJoCo's
    size: tuple[float, ...]  # in m, as MuJoCo counts it
    pose: urdf.Pose  # in its link


def add_contacts(machine: Machine, bodies: Mapping[str, ET.Element], pairs: ET.Element) -> None:
    """Add pairs of geoms, which no masks and no exclusions keep apart, and remarks for the rest."""
    mechanism = machine.mechanism
    parents = {one.name: one.parent for one in mechanism.constraints.constraints}
    thin, bouncing, sticking = list[str](), list[str](), list[str]()
    for contact in mechanism.spec.contacts:
        moves = bool(mechanism.model.ancestor_mask[parents[contact.name]].any())
        found = _geoms(contact, mechanism.spec.model.length, moves=moves)
        if found is None:
            reason = "MuJoCo has no such surface, or not as one pair"
            machine.lost(f"contact {contact.name}", reason, structural=True)
            continue
        ends = {}
        for (role, frame), geom in zip(contact.frames, found, strict=True):
            ends["geom1" if role == "parent" else "geom2"] = name = f"{contact.name} {role}"
            look = {"type": geom.type, "size": numbers(geom.size), "group": "3"}
            set_pose(ET.SubElement(bodies[frame.link], "geom", look, name=name), geom.pose)
        node = ET.SubElement(pairs, "pair", ends, name=contact.name, condim="1")
        if contact.friction:
            node.set("condim", "3")
            node.set("friction", numbers([contact.friction] * 2 + [*_TURNING]))
        if (contact.static_friction or 0.0) > contact.friction:
            sticking.append(contact.name)
        if contact.restitution:
            bouncing.append(contact.name)
        if not contact.radius:
            thin.append(contact.name)
    if len(pairs):
        machine.changed("contacts", "are soft in MuJoCo; solref and solimp say how much")
    if thin:
        machine.changed(named("contact", thin), f"a point has a radius of {LEAST:g} m")
    if bouncing:
        machine.lost(named("contact", bouncing), "restitution")
    if sticking:
        machine.lost(named("contact", sticking), "static friction; that of sliding is written")


def _geoms(contact: ContactSpec, length: float, *, moves: bool) -> tuple[Geom, Geom] | None:
    """The bodies of parent and child of a contact; None: MuJoCo has no such shape.

    length: the size of the machine, in m; moves: whether the parent does, which cannot be a plane.
    """
    far, surface = _FAR * length, contact.surface
    origin = pose_of(contact.parent)
    if contact.hulls is not None or contact.heights is not None:
        return None
    if surface is not None and surface.hollow:
        return None
    if contact.box is not None:
        assert surface is not None
        edges = np.minimum(np.add(contact.box, surface.radius), far)
        parent = Geom("box", tuple(edges.tolist()), origin)
    elif surface is not None:
        parent = _round(surface.radius, min(surface.half_length, far), origin)
    elif moves:
        depth = urdf.Pose(np.array([0.0, 0.0, -far]))
        parent = Geom("box", (far, far, far), urdf.compose(origin, depth))
    else:
        parent = Geom("plane", (far, far, length), origin)
    return parent, _round(contact.radius, 0.5 * contact.length, pose_of(contact.child))


def _round(radius: float, half_length: float, pose: urdf.Pose) -> Geom:
    radius = max(radius, LEAST)
    if half_length:
        return Geom("capsule", (radius, half_length), pose)
    return Geom("sphere", (radius,), pose)
