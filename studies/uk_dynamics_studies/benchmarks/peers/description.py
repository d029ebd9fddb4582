# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A mechanism as other engines in processes of their own read it."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Mapping, Sequence

import numpy as np

from uk_dynamics.constraints.rows import Constraint
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.kinematics import Body, BodyFrame
from uk_dynamics.model.urdf import to_rpy
from uk_dynamics_studies.benchmarks.peers.peer import PeerError

_LIMIT = 1e6  # of joints and their speeds, which the law does not ask for


def driven(mechanism: Mechanism) -> list[str]:
    """The joint of each motor.

    Raises:
        PeerError: A motor drives several, or through a gear.
    """
    matrix = mechanism.actuators.matrix[6 if mechanism.model.bases else 0 :]
    joints = [np.flatnonzero(column) for column in matrix.T]
    for found, column in zip(joints, matrix.T, strict=True):
        if len(found) != 1 or column[found[0]] != 1.0:
            raise PeerError(f"{mechanism.name}: motors of PlaCo drive one joint each")
    return [mechanism.joint_names[found[0]] for found in joints]


def urdf(
    mechanism: Mechanism,
    bodies: Sequence[Body],
    loops: Sequence[tuple[str, Constraint]],
    more: Mapping[str, BodyFrame] | None = None,
    slide: float = 0.0,
) -> str:
    """The bodies with their joints, a frame at each end of each loop, and more frames by name.

    A first body that floats is the root; else that is a link ``body_-1``. Where the row of a point
    across the plane of a planar linkage would be zero, the end of the loop may have a mass
    ``slide`` in kg that slides across it, and that the loop holds.
    """
    robot = ET.Element("robot", name=mechanism.name)
    floats = bodies[0].kind == "floating"
    names = ("", *mechanism.joint_names) if floats else mechanism.joint_names
    if not floats:
        ET.SubElement(robot, "link", name="body_-1")
    for number, body in enumerate(bodies):
        link = ET.SubElement(robot, "link", name=f"body_{number}")
        _inertial(link, body.center, body.mass, body.inertia)
        if body.kind == "floating":
            continue
        place = BodyFrame(body.parent, body.rotation, body.translation)
        joint = _joined(robot, place, names[number], f"body_{number}")
        _moving(joint, body.kind, body.axis)
    frames, ends = mechanism.model.body_frames, dict(more or {})
    for number, (_, constraint) in enumerate(loops):
        for role in ("parent", "child"):
            frame = getattr(constraint, role)
            end = BodyFrame(-1, np.eye(3), np.zeros(3)) if frame is None else frames[frame]
            ends[f"{role}_{number}"] = end
    planar = {f"child_{n}" for n, (_, one) in enumerate(loops) if slide and one.kind == "frame"}
    for name, end in ends.items():
        link = ET.SubElement(robot, "link", name=name)
        joint = _joined(robot, end, f"{name}_joint", name)
        if name in planar:
            _inertial(link, np.zeros(3), slide, 1e-3 * slide * np.eye(3))
            _moving(joint, "prismatic", np.array([0.0, 1.0, 0.0]))
    return ET.tostring(robot, encoding="unicode")


def _inertial(link: ET.Element, center: Array, mass: float, inertia: Array) -> None:
    inertial = ET.SubElement(link, "inertial")
    ET.SubElement(inertial, "origin", xyz=_text(center))
    ET.SubElement(inertial, "mass", value=repr(float(mass)))
    entries = {
        f"i{'xyz'[i]}{'xyz'[j]}": repr(float(inertia[i, j])) for i in range(3) for j in range(i, 3)
    }
    ET.SubElement(inertial, "inertia", entries)


def _moving(joint: ET.Element, kind: str, axis: Array) -> None:
    joint.set("type", kind)
    ET.SubElement(joint, "axis", xyz=_text(axis))
    limit = dict.fromkeys(("effort", "velocity", "upper"), repr(_LIMIT))
    ET.SubElement(joint, "limit", {"lower": repr(-_LIMIT), **limit})


def _joined(robot: ET.Element, place: BodyFrame, name: str, child: str) -> ET.Element:
    """A joint, fixed until it is told otherwise, at a place of a body."""
    joint = ET.SubElement(robot, "joint", name=name, type="fixed")
    ET.SubElement(joint, "parent", link=f"body_{place.body}")
    ET.SubElement(joint, "child", link=child)
    ET.SubElement(joint, "origin", xyz=_text(place.translation), rpy=_text(to_rpy(place.rotation)))
    return joint


def _text(numbers: Array) -> str:
    return " ".join(repr(float(number)) for number in numbers)
