# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A robot some of whose numbers are symbols: parameters that stay inputs of compiled code."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple, cast

import numpy as np

from uk_dynamics.compilation.trace.symbolic_joints import constant, skew, zeros
from uk_dynamics.compilation.trace.symbolic_tree import Inertia, inertia_of
from uk_dynamics.compilation.trace.symbols import Objects, Symbol, as_objects
from uk_dynamics.forces import ForceElements
from uk_dynamics.mechanism.resolution import (
    Array,
    ResolvedMechanism,
    Source,
    frame_origins,
    resolve_forces,
)
from uk_dynamics.model import PassiveForces, RobotModel
from uk_dynamics.model.kinematics import Body, BodyFrame
from uk_dynamics.model.urdf import WORLD

_MOVES = ("revolute", "prismatic", "floating", "planar")


class SymbolicRobot(NamedTuple):
    """What a tree is made from, with symbols in it."""

    bodies: tuple[Body, ...]
    frames: tuple[BodyFrame, ...]
    inertias: list[Inertia]
    gravity: Objects
    armature: Objects


class _Carrier(NamedTuple):
    """Where a link is."""

    body: int  # number of the body that it belongs to, -1 for the world
    translation: Objects  # in that body


def symbolic_robot(model: RobotModel, source: Source) -> SymbolicRobot:
    """The robot of a model with what a source with symbols says.

    Rotations and whatever does not depend on a symbol are those of the model.
    """
    bodies, frames = list(model.bodies), list(model.body_frames)
    carriers = {WORLD: _Carrier(-1, zeros(3))}
    rooted = model.bodies[0].kind in ("floating", "planar") if bodies else False
    carriers[source.description.root] = _Carrier(0 if rooted else -1, zeros(3))
    following = int(rooted)

    def behind(link: str, offset: Any) -> _Carrier:
        carrier = carriers[link]
        at = model.frame_index(link) if link in model.frame_names else None
        turn = np.eye(3) if at is None else frames[at].rotation
        return carrier._replace(
            translation=carrier.translation + constant(turn) @ as_objects(list(offset))
        )

    for joint in source.description.joints:
        placed = behind(joint.parent, joint.pose.translation.tolist())
        if joint.type in _MOVES:
            if _symbolic(placed.translation):
                bodies[following] = replace(
                    bodies[following], translation=cast(Array, placed.translation)
                )
            placed = _Carrier(following, zeros(3))
            following += 1
        carriers[joint.child] = placed
    moved = frame_origins(source)
    for frame in model.attached:
        carriers[frame.name] = behind(frame.link, moved.get(frame.name, frame.xyz))
    for name, carrier in carriers.items():
        if _symbolic(carrier.translation):
            at = model.frame_index(name)
            frames[at] = replace(frames[at], translation=cast(Array, carrier.translation))
    armature = model.armature.astype(object)
    for name, spec in source.spec.joints:
        if _symbolic(spec.armature):
            armature[model.velocity_index(name)] = spec.armature
    gravity = as_objects(list(source.spec.model.gravity))
    inertias = [_inertia(k, body, model, source, carriers) for k, body in enumerate(model.bodies)]
    return SymbolicRobot(tuple(bodies), tuple(frames), inertias, gravity, armature)


def symbolic_passive(mechanism: ResolvedMechanism, source: Source) -> PassiveForces:
    """Damping, friction and springs of joints with symbols in them."""
    urdf = {joint.name: joint for joint in source.description.joints}
    numbers: dict[tuple[str, int], Any] = {}
    for name, spec in source.spec.joints:
        joint = urdf[name]
        found = {
            "damping": joint.damping if spec.damping is None else spec.damping,
            "friction": joint.friction if spec.friction is None else spec.friction,
            "spring": spec.spring_stiffness,
            "rest": spec.spring_rest,
        }
        at = mechanism.model.velocity_index(name)
        numbers |= {(key, at): x for key, x in found.items() if _symbolic(x)}
    return mechanism.passive.replaced(numbers) if numbers else mechanism.passive


def symbolic_forces(mechanism: ResolvedMechanism, source: Source) -> ForceElements:
    """The declared forces with symbols in them."""
    return resolve_forces(source.spec.forces, mechanism.model, source.spec.file)


def _inertia(
    number: int, body: Body, model: RobotModel, source: Source, carriers: Mapping[str, _Carrier]
) -> Inertia:
    """Inertia of all links of a body in its frame; of the model where no symbol is in it."""
    links = [link for link in source.description.links if carriers[link.name].body == number]
    parts = [(link.mass, link.center_of_mass, link.inertia) for link in links]
    places = [carriers[link.name].translation for link in links]
    if not any(_symbolic(part) for group in (*parts, places) for part in group):
        return inertia_of(body)
    whole = Inertia(0.0, zeros(3), zeros(3, 3))
    for link, place in zip(links, places, strict=True):
        turn = constant(model.body_frames[model.frame_index(link.name)].rotation)
        center = place + turn @ as_objects(link.center_of_mass.tolist())
        about_center = turn @ as_objects(link.inertia.tolist()) @ turn.T
        offset = skew(center)
        matrix = about_center - offset @ offset * link.mass
        whole = whole + Inertia(link.mass, center * link.mass, matrix)
    return whole


def _symbolic(value: Any) -> bool:
    return any(isinstance(x, Symbol) for x in np.ravel(np.asarray(value, dtype=object)))
