# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""Recursions over a kinematic tree on symbols: placements, Jacobians, mass matrix, bias forces.

Composite rigid bodies and Newton–Euler in body frames (Featherstone, *Rigid Body Dynamics
Algorithms*, tables 5.1 and 6.2); Jacobians in world axes at the world's origin, as
:class:`uk_dynamics.model.kinematics.workspace.Workspace` has them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from uk_dynamics.compilation.trace.symbolic_joints import (
    Placement,
    constant,
    cross,
    motions,
    placements,
    skew,
    zeros,
)
from uk_dynamics.compilation.trace.symbols import Objects, as_objects
from uk_dynamics.model.kinematics import Body, BodyFrame


@dataclass(frozen=True)
class Inertia:
    """Inertia of one or several bodies in a frame: mass, first moment m c, and about the origin."""

    mass: float
    moment: Objects
    matrix: Objects

    def __add__(self, other: "Inertia") -> "Inertia":
        return Inertia(
            self.mass + other.mass, self.moment + other.moment, self.matrix + other.matrix
        )

    def times(self, linear: Objects, angular: Objects) -> tuple[Objects, Objects]:
        """Momentum (linear, angular) of a motion."""
        return (
            linear * self.mass - cross(self.moment, angular),
            self.matrix @ angular + cross(self.moment, linear),
        )

    def seen_from(self, place: Placement) -> "Inertia":
        """The inertia in the parent's frame."""
        R, p = place.local, place.offset
        moment = R @ self.moment
        matrix = R @ self.matrix @ R.T
        # about another origin: −m[p]² − [p][mc] − [mc][p]
        matrix = matrix - skew(p) @ skew(moment) - skew(moment + p * self.mass) @ skew(p)
        return Inertia(self.mass, moment + p * self.mass, matrix)


class SymbolicTree:
    """Fulfils ``FrameKinematics`` of the constraints on symbols."""

    def __init__(
        self,
        bodies: tuple[Body, ...],
        frames: tuple[BodyFrame, ...],
        q: Objects,
        v: Objects,
        gravity: np.ndarray,
        armature: np.ndarray,
        inertias: Sequence[Inertia] | None = None,
    ) -> None:
        self.bodies = bodies
        self.inertias = inertias or [inertia_of(body) for body in bodies]
        self.places = placements(bodies, q)
        self.body_of_frame = [frame.body for frame in frames]
        self.gravity, self.armature = gravity, armature
        self._motions = [motions(body) for body in bodies]
        self.jacobian, self.jacobian_rate = self._jacobians(v)
        self.mass = self._mass(armature)  # M(q) with armature, (nv, nv)
        self.kinetic = 0.5 * (armature @ (v * v))  # the energy, with that of bodies:
        self.bias = self._bias(v, gravity)  # h(q, v), (nv,)
        self.rotation, self.translation = self._frames(frames)
        # of gravity, zero with all masses at the world's origin
        self.potential = -sum(
            gravity @ (place.rotation @ body.moment + place.translation * body.mass)
            for place, body in zip(self.places, self.inertias, strict=True)
        )

    def _jacobians(self, v: Objects) -> tuple[Objects, Objects]:
        J, rate = zeros(6, len(v)), zeros(6, len(v))
        spins: list[Objects] = []
        flows: list[Objects] = []
        for body, place, allowed in zip(self.bodies, self.places, self._motions, strict=True):
            spin = spins[body.parent] if body.parent >= 0 else zeros(3)
            flow = flows[body.parent] if body.parent >= 0 else zeros(3)
            columns = []
            for k, (linear, angular) in enumerate(allowed, start=body.velocity):
                turned = place.rotation @ angular
                moved = place.rotation @ linear + cross(place.translation, turned)
                columns.append((k, moved, turned))
                spin, flow = spin + turned * v[k], flow + moved * v[k]
            for k, moved, turned in columns:
                J[:3, k], J[3:, k] = moved, turned
                rate[:3, k] = cross(spin, moved) + cross(flow, turned)
                rate[3:, k] = cross(spin, turned)
            spins.append(spin)
            flows.append(flow)
        return J, rate

    def _mass(self, armature: np.ndarray) -> Objects:
        bodies, places = self.bodies, self.places
        composite = list(self.inertias)
        for i in reversed(range(len(bodies))):
            parent = bodies[i].parent
            if parent >= 0:
                composite[parent] = composite[parent] + composite[i].seen_from(places[i])
        M = zeros(len(armature), len(armature))
        for i, body in enumerate(bodies):
            for k, motion in enumerate(self._motions[i], start=body.velocity):
                force, couple = composite[i].times(*motion)
                at = i
                while True:
                    for j, other in enumerate(self._motions[at], start=bodies[at].velocity):
                        if j <= k:
                            M[k, j] = M[j, k] = other[0] @ force + other[1] @ couple
                    if bodies[at].parent < 0:
                        break
                    force, couple = _to_parent(places[at], force, couple)
                    at = bodies[at].parent
        for k, rotor in enumerate(armature.tolist()):
            M[k, k] = M[k, k] + rotor
        return M

    def _bias(self, v: Objects, gravity: np.ndarray) -> Objects:
        bodies, places = self.bodies, self.places
        velocities: list[tuple[Objects, Objects]] = []
        accelerations: list[tuple[Objects, Objects]] = []
        forces: list[tuple[Objects, Objects]] = []
        for i, body in enumerate(bodies):
            before = velocities[body.parent] if body.parent >= 0 else (zeros(3), zeros(3))
            falling = (as_objects((-gravity).tolist()), zeros(3))
            pushed = accelerations[body.parent] if body.parent >= 0 else falling
            flow, spin = _to_child(places[i], *before)
            linear, angular = _to_child(places[i], *pushed)
            own_flow, own_spin = zeros(3), zeros(3)
            for k, (along, about) in enumerate(self._motions[i], start=body.velocity):
                own_flow, own_spin = own_flow + along * v[k], own_spin + about * v[k]
            linear = linear + cross(spin, own_flow) + cross(flow, own_spin)
            angular = angular + cross(spin, own_spin)
            flow, spin = flow + own_flow, spin + own_spin
            inertia = self.inertias[i]
            momentum, angular_momentum = inertia.times(flow, spin)
            self.kinetic += 0.5 * (flow @ momentum + spin @ angular_momentum)
            force, couple = inertia.times(linear, angular)
            force = force + cross(spin, momentum)
            couple = couple + cross(spin, angular_momentum) + cross(flow, momentum)
            velocities.append((flow, spin))
            accelerations.append((linear, angular))
            forces.append((force, couple))
        h = zeros(len(v))
        for i in reversed(range(len(bodies))):
            body, (force, couple) = bodies[i], forces[i]
            for k, (along, about) in enumerate(self._motions[i], start=body.velocity):
                h[k] = along @ force + about @ couple
            if body.parent >= 0:
                carried = _to_parent(places[i], force, couple)
                base = forces[body.parent]
                forces[body.parent] = (base[0] + carried[0], base[1] + carried[1])
        return h

    def _frames(self, frames: tuple[BodyFrame, ...]) -> tuple[Objects, Objects]:
        rotation, translation = zeros(len(frames), 3, 3), zeros(len(frames), 3)
        for index, frame in enumerate(frames):
            R, p = constant(frame.rotation), as_objects(frame.translation.tolist())
            if frame.body >= 0:
                place = self.places[frame.body]
                R, p = place.rotation @ R, place.rotation @ p + place.translation
            rotation[index], translation[index] = R, p
        return rotation, translation


def inertia_of(body: Body) -> Inertia:
    """The inertia of a body in its own frame."""
    c = body.center
    about_origin = body.inertia + body.mass * (np.dot(c, c) * np.eye(3) - np.outer(c, c))
    return Inertia(
        body.mass, as_objects((body.mass * c).tolist()), as_objects(about_origin.tolist())
    )


def _to_child(place: Placement, linear: Objects, angular: Objects) -> tuple[Objects, Objects]:
    """A motion of the parent in the child's frame."""
    R = place.local.T
    return R @ (linear - cross(place.offset, angular)), R @ angular


def _to_parent(place: Placement, force: Objects, couple: Objects) -> tuple[Objects, Objects]:
    """A force on the child in the parent's frame."""
    turned = place.local @ force
    return turned, place.local @ couple + cross(place.offset, turned)
