# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""What other engines can have of machines on the ground: spheres on a plane, springs, loops."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy.spatial.transform import Rotation

from uk_dynamics.constraints.rows import Constraint
from uk_dynamics.mechanism.files import FrameSpec
from uk_dynamics.mechanism.resolution import Array
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics.model.kinematics import BodyFrame
from uk_dynamics.model.urdf import WORLD
from uk_dynamics_studies.benchmarks.peers.peer import PeerError


def ground_of(mechanism: Mechanism, engine: str) -> tuple[FrameSpec, float]:
    """The plane and the friction that all contacts share.

    Raises:
        PeerError: They share none; there every sphere would touch every plane.
    """
    contacts = mechanism.spec.contacts
    for contact in contacts:
        if contact.surface is not None or contact.heights is not None or contact.length:
            raise PeerError(f"{contact.name} is not of a sphere with a plane")
    if len(grounds := {(contact.parent, contact.friction) for contact in contacts}) != 1:
        raise PeerError(f"every sphere touches every plane in {engine}; give one of one friction")
    return grounds.pop()


def placed_on(mechanism: Mechanism, frame: FrameSpec) -> tuple[int, Array, Array]:
    """Number of the body, and rotation (3, 3) and place (3,), in m, of a frame on it."""
    model, link = mechanism.model, BodyFrame(-1, np.eye(3), np.zeros(3))
    if frame.link != WORLD or WORLD in model.frame_names:
        link = model.body_frames[model.frame_index(frame.link)]
    rotation = link.rotation @ Rotation.from_quat(frame.quaternion).as_matrix()
    return link.body, rotation, link.translation + link.rotation @ np.asarray(frame.xyz)


def without_contacts(mechanism: Mechanism) -> Iterator[Constraint]:
    """Constraints that are not those of contacts."""
    contacts = tuple(contact.name for contact in mechanism.spec.contacts)
    for constraint in mechanism.constraints.constraints:
        if not constraint.name.startswith(contacts):
            yield constraint


def passive_joints(mechanism: Mechanism, engine: str) -> Array:
    """Damping, stiffness and rest of the joint at each velocity, (nv, 3), in SI units.

    Raises:
        PeerError: There is more than that, which differs in the engine.
    """
    model = mechanism.model
    if mechanism.spec.forces:
        raise PeerError(f"forces of the file are not taken to {engine}")
    found, friction = np.zeros((model.nv, 3)), model.friction.copy()
    found[:, 0] = model.damping
    for name, spec in mechanism.spec.joints:
        at = model.velocity_index(name)
        found[at, 1:] = spec.spring_stiffness, spec.spring_rest
        found[at, 0] = found[at, 0] if spec.damping is None else spec.damping
        friction[at] = friction[at] if spec.friction is None else spec.friction
        if spec.stiction or spec.stop_stiffness or spec.stop_damping or spec.stop_hard:
            raise PeerError(f"stiction and stops differ in {engine}")
    if friction.any():
        raise PeerError(f"dry friction differs in {engine}")
    return found
