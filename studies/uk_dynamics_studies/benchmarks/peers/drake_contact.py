# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A machine that touches the ground in Drake: spheres on half spaces, SAP, default stiffness."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics_studies.benchmarks.peers.drake import add_bodies, add_loops, body_of, pose
from uk_dynamics_studies.benchmarks.peers.ground import (
    ground_of,
    passive_joints,
    placed_on,
    without_contacts,
)
from uk_dynamics_studies.benchmarks.peers.peer import PeerError, closure, load


class DrakeSteps:
    """One mechanism in a diagram of Drake, from its start on without motors."""

    def __init__(self, mechanism: Mechanism, step: float, smallest: float) -> None:
        """Convert the mechanism; ``smallest`` is the radius of what is a point, in m.

        Raises:
            PeerError: Drake is not installed, or has no counterpart of something.
        """
        load("pydrake.multibody.plant", "Drake")
        plants: Any = importlib.import_module("pydrake.multibody.plant")
        framework: Any = importlib.import_module("pydrake.systems.framework")
        analysis: Any = importlib.import_module("pydrake.systems.analysis")
        builder = framework.DiagramBuilder()
        self._plant, _ = plants.AddMultibodyPlantSceneGraph(builder, step)
        self._plant.set_discrete_contact_approximation(plants.DiscreteContactApproximation.kSap)
        self._plant.mutable_gravity_field().set_gravity_vector(mechanism.model.gravity)
        joints = add_bodies(self._plant, mechanism)
        model = mechanism.model
        at = {body.velocity: joint for body, joint in zip(model.bodies, joints, strict=True)}
        for velocity, passive in enumerate(passive_joints(mechanism, "Drake")):
            _passive(self._plant, at[velocity], *map(float, passive))
        kinds = {one.name: one.kind for one in mechanism.spec.constraints}
        for constraint in without_contacts(mechanism):
            kind = kinds.get(constraint.name)
            if kind is not None and kind.name == "joint_coupling":
                terms: Any = kind
                coupled = [(at[model.velocity_index(name)], k) for name, k in terms.joints]
                _coupling(self._plant, coupled, terms.offset)
            else:
                add_loops(self._plant, mechanism, [closure(mechanism, constraint)])
        _touching(self._plant, mechanism, smallest)
        self._plant.Finalize()
        self._mechanism = mechanism
        self._positions = np.array([joint.position_start() for joint in joints])
        self._velocities = np.array([joint.velocity_start() for joint in joints])
        self._ours_q = np.array([b.position for b in mechanism.model.bodies])
        self._ours_v = np.array([b.velocity for b in mechanism.model.bodies])
        self._diagram = builder.Build()
        self._analysis = analysis

    def run(self, duration: float, samples: int, see: Callable[[State], object]) -> list[float]:
        """Seconds that the motion takes to each of the samples, which ``see`` gets."""
        context = self._diagram.CreateDefaultContext()
        own = self._plant.GetMyMutableContextFromRoot(context)
        start = self._mechanism.start()
        self._plant.SetPositions(own, self._placed(self._positions, start.q[self._ours_q]))
        self._plant.SetVelocities(own, self._placed(self._velocities, start.v[self._ours_v]))
        simulator = self._analysis.Simulator(self._diagram, context)
        simulator.Initialize()
        spent = []
        for k in range(1, samples + 1):
            begin = time.process_time()
            simulator.AdvanceTo(k * duration / samples)
            spent.append(time.process_time() - begin)
            q, v = start.q.copy(), start.v.copy()
            q[self._ours_q] = self._plant.GetPositions(own)[self._positions]
            v[self._ours_v] = self._plant.GetVelocities(own)[self._velocities]
            see(State(start.t + k * duration / samples, q, v))
        return spent

    @staticmethod
    def _placed(places: Array, values: Array) -> Array:
        found = np.empty_like(values)
        found[places] = values
        return found


def _passive(plant: Any, joint: Any, damping: float, stiffness: float, rest: float) -> None:
    """Damping and a spring."""
    tree: Any = importlib.import_module("pydrake.multibody.tree")
    if damping:
        joint.set_default_damping(damping)
    if stiffness:
        revolute = isinstance(joint, tree.RevoluteJoint)
        kind = tree.RevoluteSpring if revolute else tree.PrismaticSpring
        plant.AddForceElement(kind(joint, rest, stiffness))


def _coupling(plant: Any, joints: list[tuple[Any, float]], offset: float) -> None:
    if len(joints) != 2:
        raise PeerError("Drake couples two joints")
    (first, a), (second, b) = joints
    plant.AddCouplerConstraint(first, second, -b / a, offset / a)


def _touching(plant: Any, mechanism: Mechanism, smallest: float) -> None:
    """Spheres and a half space."""
    geometry: Any = importlib.import_module("pydrake.geometry")
    plants: Any = importlib.import_module("pydrake.multibody.plant")
    ground, friction = ground_of(mechanism, "Drake")
    shapes = [("ground", ground, geometry.HalfSpace())]
    for contact in mechanism.spec.contacts:
        sphere = geometry.Sphere(max(contact.radius, smallest))
        shapes.append((contact.name, contact.child, sphere))
    for name, frame, shape in shapes:
        body, rotation, translation = placed_on(mechanism, frame)
        place, of = pose(rotation, translation), plants.CoulombFriction(friction, friction)
        plant.RegisterCollisionGeometry(body_of(plant, body), place, shape, name, of)
