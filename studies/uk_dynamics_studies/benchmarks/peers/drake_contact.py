# Copyright 2026 the contributors of uk_dynamics; Apache-2.0

"""A machine that touches the ground in Drake: spheres on half spaces, SAP, default stiffness."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from uk_dynamics.mechanism.files import ContactSpec, FrameSpec, JointSpec
from uk_dynamics.mechanism.resolution import Array, State
from uk_dynamics.mechanism_class import Mechanism
from uk_dynamics_studies.benchmarks.peers.drake import add_bodies, add_loops, body_of, pose
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
        for name, spec in mechanism.spec.joints:
            _passive(self._plant, at[model.velocity_index(name)], spec)
        kinds = {one.name: one.kind for one in mechanism.spec.constraints}
        for constraint in mechanism.constraints.constraints:
            kind = kinds.get(constraint.name)
            if kind is not None and kind.name == "joint_coupling":
                terms: Any = kind
                coupled = [(at[model.velocity_index(name)], k) for name, k in terms.joints]
                _coupling(self._plant, coupled, terms.offset)
            elif not constraint.name.startswith(tuple(c.name for c in mechanism.spec.contacts)):
                add_loops(self._plant, mechanism, [closure(mechanism, constraint)])
        for contact in mechanism.spec.contacts:
            _touching(self._plant, mechanism, contact, smallest)
        self._plant.Finalize()
        self._mechanism = mechanism
        self._positions = np.array([joint.position_start() for joint in joints])
        self._velocities = np.array([joint.velocity_start() for joint in joints])
        self._ours_q = np.array([b.position for b in mechanism.model.bodies])
        self._ours_v = np.array([b.velocity for b in mechanism.model.bodies])
        self._diagram = builder.Build()
        self._analysis = analysis

    def run(self, duration: float, samples: int, see: Callable[[State], object]) -> float:
        """Seconds that the motion takes, of which ``see`` gets the samples."""
        context = self._diagram.CreateDefaultContext()
        own = self._plant.GetMyMutableContextFromRoot(context)
        start = self._mechanism.start()
        self._plant.SetPositions(own, self._placed(self._positions, start.q[self._ours_q]))
        self._plant.SetVelocities(own, self._placed(self._velocities, start.v[self._ours_v]))
        simulator = self._analysis.Simulator(self._diagram, context)
        simulator.Initialize()
        spent = 0.0
        for k in range(1, samples + 1):
            begin = time.process_time()
            simulator.AdvanceTo(k * duration / samples)
            spent += time.process_time() - begin
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


def _passive(plant: Any, joint: Any, spec: JointSpec) -> None:
    """Damping and a spring."""
    tree: Any = importlib.import_module("pydrake.multibody.tree")
    if spec.friction or spec.stiction or spec.stop_stiffness:
        raise PeerError("dry friction and stops differ in Drake")
    if spec.damping:
        joint.set_default_damping(spec.damping)
    if spec.spring_stiffness:
        revolute = isinstance(joint, tree.RevoluteJoint)
        kind = tree.RevoluteSpring if revolute else tree.PrismaticSpring
        plant.AddForceElement(kind(joint, spec.spring_rest, spec.spring_stiffness))


def _coupling(plant: Any, joints: list[tuple[Any, float]], offset: float) -> None:
    if len(joints) != 2:
        raise PeerError("Drake couples two joints")
    (first, a), (second, b) = joints
    plant.AddCouplerConstraint(first, second, -b / a, offset / a)


def _touching(plant: Any, mechanism: Mechanism, contact: ContactSpec, smallest: float) -> None:
    """A sphere and a half space."""
    geometry: Any = importlib.import_module("pydrake.geometry")
    plants: Any = importlib.import_module("pydrake.multibody.plant")
    if contact.surface is not None or contact.length:
        raise PeerError(f"{contact.name} is not of a sphere with a plane")
    sphere = geometry.Sphere(max(contact.radius, smallest))
    friction = plants.CoulombFriction(contact.friction, contact.friction)
    shapes = {"parent": geometry.HalfSpace(), "child": sphere}
    for role, frame in contact.frames:
        body, place = _placed_on(plant, mechanism, frame)
        plant.RegisterCollisionGeometry(
            body, place, shapes[role], f"{contact.name}_{role}", friction
        )


def _placed_on(plant: Any, mechanism: Mechanism, frame: FrameSpec) -> tuple[Any, Any]:
    """Drake's body, and the pose on it."""
    link = mechanism.model.body_frames[mechanism.model.frame_index(frame.link)]
    rotation = link.rotation @ Rotation.from_quat(frame.quaternion).as_matrix()
    translation = link.translation + link.rotation @ np.asarray(frame.xyz)
    return body_of(plant, link.body), pose(rotation, translation)
